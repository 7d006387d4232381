import { enums, string, type } from 'superstruct'
import { auditOf } from '../../contract/index.js'
import * as operations from '../../domains/contract.js'
import {
  choiceOf,
  type Domain,
  flagOf,
  setTrackingHost,
  switchChoices,
} from '../../domains/index.js'
import { type OwnSwitches, setSwitches } from '../../tracking/index.js'
import { type PageAnswer, redirect } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { DomainPageDeps } from './deps.js'
import { domainOf } from './domain-of.js'

/** The form as it stands. */
export interface TrackingView {
  host: string
  isReady: boolean
  opens: string
  clicks: string
  choices: { value: string; label: string }[]
}

const choices = [
  { value: 'default', label: 'As the account has it' },
  { value: 'on', label: 'On' },
  { value: 'off', label: 'Off' },
]
const Choice = enums(switchChoices)
const TrackingForm = type({ trackOpens: Choice, trackClicks: Choice, trackingHost: string() })

/** How a domain's mail is tracked: its own switches, where it has any. */
export const trackingView = (domain: Domain, own: OwnSwitches): TrackingView => ({
  host: domain.trackingHost ?? '',
  isReady: domain.trackingHostReady,
  opens: choiceOf(own.opens),
  clicks: choiceOf(own.clicks),
  choices,
})

/** Whether opens and clicks of a domain's mail are recorded, and which host its links use. */
export function switchPages(
  pages: AccountPages,
  deps: DomainPageDeps,
  again: (visit: Visit, faults: Faults) => Promise<PageAnswer>,
): void {
  const { store } = deps
  const options = { action: 'domains.write', form: TrackingForm, again } as const
  pages.post('/domains/:name/tracking', options, async (visit) => {
    const { account, base, form } = visit
    const { id: domainId, name, trackingHost } = await domainOf(deps, visit)
    const host = form.trackingHost.trim()
    // A host that does not change keeps what was found about it.
    if (host !== (trackingHost ?? '')) {
      await setTrackingHost({ store }, account.id, name, host === '' ? null : host)
    }
    const { trackOpens, trackClicks } = form
    const switches = { opens: flagOf(trackOpens), clicks: flagOf(trackClicks) }
    await setSwitches({ store }, { domainId }, switches)
    const audit = auditOf(operations.updateDomain, { target: name, detail: { ...form } })
    return redirect(`${base}/domains/${name}`, { flash: 'Saved', audit })
  })
}
