import type { Clock } from '../../clock/index.js'
import { auditOf } from '../../contract/index.js'
import type { Store } from '../../store/index.js'
import * as operations from '../../surges/contract.js'
import { decideSurge, findSurge, surgesOf } from '../../surges/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { type SurgeView, surgeView } from './view.js'

interface SurgesView {
  base: string
  accountId: string
  /** Deciding is for owners. */
  mayDecide: boolean
  open: SurgeView[]
  past: SurgeView[]
  faults: Faults
}

const mostListed = 50

/** `/surges`: what is held as it was far more than usual; an owner lets it go or gives it up. */
export function surgePages(
  pages: AccountPages,
  { store, clock }: { store: Store; clock: Clock },
): void {
  const show = async (visit: Visit, faults: Faults): Promise<PageAnswer> => {
    const { account, base, now } = visit
    const surges = await surgesOf(store.read, account.id, { limit: mostListed })
    const shown = surges.map((surge) => surgeView(surge, now))
    const view: SurgesView = {
      base,
      accountId: account.id,
      mayDecide: visit.may('keys.write'),
      open: shown.filter(({ decided }) => decided === undefined),
      past: shown.filter(({ decided }) => decided !== undefined),
      faults,
    }
    return page('surges/list', view, { title: 'Held mail' })
  }
  pages.get('/surges', 'keys.read', (visit) => show(visit, noFaults))

  for (const [name, operation, decision] of [
    ['release', operations.releaseSurge, 'released'],
    ['fail', operations.failSurge, 'failed'],
  ] as const) {
    // `sudo`: a release cannot be taken back, and an open browser is enough to find the button.
    const deciding = { action: 'keys.write', sudo: true, again: show } as const
    pages.post(`/surges/:id/${name}`, deciding, async ({ account, base, params, person }) => {
      const { id, held } = await findSurge(store.read, account.id, params.id ?? '')
      const by = `${person.name} (${person.email})`
      await store.write((tx) => decideSurge(tx, id, { decision, by, now: clock.now() }))
      const flash = decision === 'released' ? 'What was held leaves' : 'What was held is given up'
      const audit = auditOf(operation, { target: id, detail: { held } })
      return redirect(`${base}/surges`, { flash, audit })
    })
  }
}
