import { string, type } from 'superstruct'
import { auditOf } from '../../contract/index.js'
import * as operations from '../../domains/contract.js'
import { setReceivingHost } from '../../domains/index.js'
import { type PageAnswer, redirect } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { DomainPageDeps } from './deps.js'
import { domainOf } from './domain-of.js'

const ReceivingForm = type({ receivingHost: string() })

/** Chooses the name at which a domain receives mail, if it does. */
export function receivingHostPages(
  pages: AccountPages,
  deps: DomainPageDeps,
  again: (visit: Visit, faults: Faults) => Promise<PageAnswer>,
): void {
  const options = { action: 'domains.write', form: ReceivingForm, again } as const
  pages.post('/domains/:name/receiving', options, async (visit) => {
    const { account, base, form } = visit
    const { name } = await domainOf(deps, visit)
    const host = form.receivingHost.trim()
    await setReceivingHost({ ...deps, settings: deps.records }, account.id, name, host || null)
    const audit = auditOf(operations.updateDomain, { target: name, detail: { ...form } })
    return redirect(`${base}/domains/${name}`, { flash: 'Saved', audit })
  })
}
