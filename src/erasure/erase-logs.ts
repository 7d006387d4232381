import { addressKey } from '../mime/index.js'
import { idsIn, type Read, type Tx } from '../store/index.js'
import { type Replaced, without } from './erase-mail.js'

/** How many rows of a log are looked at in one transaction. */
export const rowsALook = 200

const has = ({ address }: Replaced, ...texts: (string | null)[]) =>
  texts.some((text) => text?.toLowerCase().includes(address) === true)

/** Takes an address out of some of an account's audit log; resolves with where to go on, undefined: that was all. */
export async function eraseAudit(
  tx: Tx,
  accountId: string,
  replaced: Replaced,
  after: number,
): Promise<number | undefined> {
  const rows = await tx
    .selectFrom('audit_log')
    .select(['id', 'target', 'detail'])
    .where('account_id', '=', accountId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(rowsALook)
    .execute()
  for (const { id, target, detail } of rows.filter((row) =>
    has(replaced, row.target, row.detail),
  )) {
    const change = { target: without(replaced, target), detail: without(replaced, detail) }
    await tx.updateTable('audit_log').set(change).where('id', '=', id).execute()
  }
  return rows.length < rowsALook ? undefined : rows.at(-1)?.id
}

/** The endpoints whose logs may tell of the address. */
export async function endpointsOf(read: Read, accountId: string): Promise<string[]> {
  const rows = await read
    .selectFrom('webhook_endpoints')
    .select('id')
    .where('account_id', '=', accountId)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** The same of what went, or is to go, to an endpoint of webhooks. */
export async function eraseWebhooks(
  tx: Tx,
  table: 'webhook_deliveries' | 'webhook_jobs',
  endpointId: string,
  replaced: Replaced,
  after: number,
): Promise<number | undefined> {
  const rows = await tx
    .selectFrom(table)
    .select(['id', 'body', 'response'])
    .where('endpoint_id', '=', endpointId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(rowsALook)
    .execute()
  for (const { id, body, response } of rows.filter((row) =>
    has(replaced, row.body, row.response),
  )) {
    const change = { body: without(replaced, body), response: without(replaced, response) }
    await tx.updateTable(table).set(change).where('id', '=', id).execute()
  }
  return rows.length < rowsALook ? undefined : rows.at(-1)?.id
}

/** The consent record stays as a proof, of nobody's address; opt-outs of topics go, as no mail goes there. */
export async function eraseConsent(tx: Tx, accountId: string, replaced: Replaced): Promise<void> {
  const rows = await tx
    .selectFrom('consent')
    .select(['id', 'detail'])
    .where('account_id', '=', accountId)
    .where('address', '=', replaced.address)
    .execute()
  for (const { id, detail } of rows) {
    const change = { address: replaced.name, detail: without(replaced, detail) }
    await tx.updateTable('consent').set(change).where('id', '=', id).execute()
  }
  const left = await tx
    .deleteFrom('topic_opt_outs')
    .where('account_id', '=', accountId)
    .where('address', '=', addressKey(replaced.address))
    .returning('topic_id')
    .execute()
  await tx
    .updateTable('topics')
    .set(({ eb }) => ({ opted_out: eb('opted_out', '-', 1) }))
    .where(
      'id',
      'in',
      idsIn(
        left.map(({ topic_id }) => topic_id),
        'text',
      ),
    )
    .execute()
}
