import { sql } from 'kysely'
import type { Log } from '../log/index.js'
import { eachApart, type Store, type Tx } from '../store/index.js'

/** Tells the operator, in the log and by `post`, of endpoints that were disabled; each once. */
export async function announceDisabled(
  {
    store,
    log,
    post,
  }: {
    store: Store
    log: Log
    post: (tx: Tx, notice: { subject: string; text: string }) => Promise<void>
  },
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
    const { id, url, account, account_id, disabled_because, disabled_at } = row
    const subject = `Posthorn: a webhook of "${account ?? account_id}" is disabled`
    const text = [
      `The webhook to ${new URL(url).host} gets nothing any more: ${disabled_because}.`,
      '',
      `Account:      ${account ?? ''} (${account_id})`,
      `URL:          ${url}`,
      `When:         ${new Date(disabled_at ?? 0).toISOString()}`,
      '',
      `What failed:  posthorn webhook deliveries ${id} --account ${account_id} --failed`,
      `Try it:       posthorn webhook test ${id} --account ${account_id}`,
      `Switch it on: posthorn webhook enable ${id} --account ${account_id}`,
      `Send it all:  posthorn webhook replay ${id} --account ${account_id} --failed`,
      '',
    ].join('\n')
    await store.write(async (tx) => {
      await setAnnounced(tx, id)
      await post(tx, { subject, text })
    })
    log.warn({ endpoint: id, accountId: account_id, url, because: disabled_because }, subject)
  }
  await eachApart(rows, tell, async ({ id, account_id, disabled_because: because }, error) => {
    const fields = { error, endpoint: id, accountId: account_id, because }
    log.error(fields, 'A webhook is disabled, and no mail about it can be written')
    await store.write((tx) => setAnnounced(tx, id))
  })
}
