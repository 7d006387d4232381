import { sql } from 'kysely'
import { shownBytes } from '../amounts/index.js'
import { type Clock, isoTime } from '../clock/index.js'
import type { Log } from '../log/index.js'
import { notice, oneLine, openOfKind, settled } from '../notices/index.js'
import { eachApart, idsIn, type Store, type Tx } from '../store/index.js'
import { mostAsideBytes } from './enqueue.js'

/** Tells the operator of disabled endpoints, each once, and settles the notices of those that are enabled again. */
export async function announceDisabled(
  { store, clock, log }: { store: Store; clock: Clock; log: Log },
  signal: AbortSignal,
): Promise<void> {
  const rows = await store.read
    .selectFrom('webhook_endpoints')
    .leftJoin('accounts', 'accounts.id', 'webhook_endpoints.account_id')
    .selectAll('webhook_endpoints')
    .select('accounts.name as account')
    // A literal, or SQLite does not see that the index has all of them.
    .where('announced', '=', sql.lit(0))
    .limit(50)
    .execute()
  const setAnnounced = (tx: Tx, id: string) =>
    tx.updateTable('webhook_endpoints').set({ announced: 1 }).where('id', '=', id).execute()
  const tell = async (row: (typeof rows)[number]) => {
    if (signal.aborted) return
    const { id, url, account, account_id, disabled_because, disabled_at, events_not_kept } = row
    const headline = `A webhook of "${oneLine(account ?? account_id, 100)}" is disabled`
    const text = [
      headline,
      `The webhook to ${new URL(url).host} gets nothing any more: ${disabled_because}`,
      events_not_kept > 0
        ? `What is set aside for it has reached ${shownBytes(mostAsideBytes)}, so further events are not kept`
        : 'What did not arrive is kept, as is what comes now: a replay sends it',
      `Account: ${account_id}`,
      `URL: ${url}`,
      `When: ${isoTime(disabled_at ?? 0)}`,
    ]
    const fix = [
      `posthorn webhook deliveries ${id} --account ${account_id} --failed`,
      `posthorn webhook test ${id} --account ${account_id}`,
      `posthorn webhook enable ${id} --account ${account_id}`,
      `posthorn webhook replay ${id} --account ${account_id} --failed`,
    ]
    await store.write(async (tx) => {
      await setAnnounced(tx, id)
      const now = clock.now()
      const stage = events_not_kept > 0 ? 'full' : ''
      await notice(tx, { kind: 'webhook', key: id, severity: 'daily', text, fix, stage, now })
    })
    log.warn({ endpoint: id, accountId: account_id, url, because: disabled_because }, headline)
  }
  await eachApart(rows, tell, async ({ id, account_id, disabled_because: because }, error) => {
    const fields = { error, endpoint: id, accountId: account_id, because }
    log.error(fields, 'A webhook is disabled, and the operator cannot be told')
    await store.write((tx) => setAnnounced(tx, id))
  })
  await settleEnabled(store, clock)
}

/** Settles the notices of endpoints that were enabled or deleted since, in whichever way. */
async function settleEnabled({ read, write }: Store, clock: Clock): Promise<void> {
  const open = (await openOfKind(read, 'webhook')).map(({ key }) => key)
  if (open.length === 0) return
  const rows = await read
    .selectFrom('webhook_endpoints')
    .select('id')
    .where('id', 'in', idsIn(open, 'text'))
    .where('disabled_at', 'is not', null)
    .execute()
  const disabled = new Set(rows.map(({ id }) => id))
  const gone = open.filter((key) => !disabled.has(key))
  if (gone.length === 0) return
  await write(async (tx) => {
    for (const key of gone) await settled(tx, { kind: 'webhook', key, now: clock.now() })
  })
}
