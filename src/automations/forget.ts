import { makeForgetOld, type Retentions } from '../events/index.js'
import type { Log } from '../log/index.js'
import { idsIn, type Store } from '../store/index.js'

/**
 * Deletes contacts' events that are older than their account keeps them, but none that a live run of
 * the contact may still ask for: the one that began it and what came since.
 */
export function makeForgetContactEvents(
  deps: { store: Store; log: Log },
  retentions: Retentions,
): (now: number, signal: AbortSignal) => Promise<void> {
  const { read } = deps.store
  return makeForgetOld(
    deps,
    {
      after: (id, limit) =>
        read
          .selectFrom('automation_events')
          .select(['id', 'account_id', 'at'])
          .where('id', '>', id)
          .where('id', '<', (eb) =>
            eb.selectFrom('automation_events').select(({ fn }) => fn.max('id').as('id')),
          )
          .orderBy('id')
          .limit(limit)
          .execute(),
      remove: (tx, ids) =>
        tx
          .deleteFrom('automation_events')
          .where('id', 'in', idsIn(ids))
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom('automation_live as live')
                  .select('live.id')
                  .whereRef('live.contact_id', '=', 'automation_events.contact_id')
                  .whereRef('live.trigger_event', '<=', 'automation_events.id'),
              ),
            ),
          )
          .execute(),
    },
    retentions,
  )
}
