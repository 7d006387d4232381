import { makeForgetContactEvents } from '../automations/index.js'
import { type Plans, readBilling } from '../billing/index.js'
import { type Clock, dayMs } from '../clock/index.js'
import { deleteUnused } from '../contents/index.js'
import { makeForgetEvents, type Retentions } from '../events/index.js'
import type { Log } from '../log/index.js'
import { eachApart, type Store } from '../store/index.js'
import type { Chore } from './housekeeping.js'

/** Events go when the plan of their account no longer keeps them, contents when nothing uses them. */
export function retentionChores(deps: {
  store: Store
  clock: Clock
  log: Log
  plans: Plans
}): Chore[] {
  const { store, clock, log, plans } = deps
  const retentions: Retentions = async () => {
    const accounts = await store.read.selectFrom('accounts').select('id').execute()
    const kept = new Map<string, number>()
    const read = async ({ id }: (typeof accounts)[number]) => {
      const { plan } = await readBilling(store.read, plans, id)
      kept.set(id, plan.retentionDays * dayMs)
    }
    await eachApart(accounts, read, ({ id: accountId }, error) =>
      log.error(
        { error, accountId },
        'How long events of an account are kept is unknown: they stay',
      ),
    )
    return kept
  }
  const forget = makeForgetEvents({ store, log }, retentions)
  const forgetContacts = makeForgetContactEvents({ store, log }, retentions)
  return [
    { name: 'old events', everyMs: 60_000, run: (signal) => forget(clock.now(), signal) },
    {
      name: 'old events of contacts',
      everyMs: 60_000,
      run: (signal) => forgetContacts(clock.now(), signal),
    },
    {
      name: 'unused contents',
      everyMs: 600_000,
      run: (signal) => deleteUnused({ store }, signal),
    },
  ]
}
