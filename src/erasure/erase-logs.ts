import { idsIn, type Tx } from '../store/index.js'
import { mayHave, type Replaced, without } from './replace.js'

/** Where a walk over a log goes on. */
export interface LogPlace {
  /** For a log in parts: the part where the walk is, e.g. an endpoint. */
  of?: string | number | undefined
  /** The last row that was looked at. */
  after?: string | number | undefined
}

/** What every walk needs. */
export interface ErasureGround {
  /** The erasure's own number. */
  taskId: number
  accountId: string
  replaced: Replaced
  now: number
}

/** Looks at the next rows of a log. Resolves with where to go on; undefined: that was all. */
export type Walk = (tx: Tx, walked: ErasureGround, place: LogPlace) => Promise<LogPlace | undefined>

/** How many rows of a log are looked at in one transaction. */
export const rowsALook = 200

/** Where the next look begins. */
export const behind = <K extends string>(
  rows: readonly Record<K, string | number>[],
  key: K,
): LogPlace | undefined => (rows.length < rowsALook ? undefined : { after: rows.at(-1)?.[key] })

/** An account's audit log. */
export const eraseAudit: Walk = async (tx, { accountId, replaced }, { after = 0 }) => {
  const rows = await tx
    .selectFrom('audit_log')
    .select(['id', 'target', 'detail'])
    .where('account_id', '=', accountId)
    .where('id', '>', Number(after))
    .orderBy('id')
    .limit(rowsALook)
    .execute()
  for (const { id, target, detail } of rows) {
    if (!mayHave(replaced, target, detail)) continue
    const change = { target: without(replaced, target), detail: without(replaced, detail) }
    await tx.updateTable('audit_log').set(change).where('id', '=', id).execute()
  }
  return behind(rows, 'id')
}

/** What SMTP clients said in sessions where something was refused. */
export const eraseSessions: Walk = async (tx, { accountId, replaced }, { after = 0 }) => {
  const rows = await tx
    .selectFrom('submission_sessions')
    .select(['id', 'verdict', 'transcript'])
    .where('account_id', '=', accountId)
    .where('id', '>', Number(after))
    .orderBy('id')
    .limit(rowsALook)
    .execute()
  for (const { id, verdict, transcript } of rows) {
    if (!mayHave(replaced, verdict, transcript)) continue
    const change = {
      verdict: without(replaced, verdict),
      transcript: without(replaced, transcript),
    }
    await tx.updateTable('submission_sessions').set(change).where('id', '=', id).execute()
  }
  return behind(rows, 'id')
}

/** Answers that are given again to whoever repeats a request. */
export const eraseAnswers: Walk = async (tx, { accountId, replaced }, { after = '' }) => {
  const rows = await tx
    .selectFrom('idempotency_keys')
    .select(['key', 'response'])
    .where('account_id', '=', accountId)
    .where('key', '>', String(after))
    .orderBy('key')
    .limit(rowsALook)
    .execute()
  for (const { key, response } of rows) {
    if (!mayHave(replaced, response)) continue
    await tx
      .updateTable('idempotency_keys')
      .set({ response: without(replaced, response) })
      .where('account_id', '=', accountId)
      .where('key', '=', key)
      .execute()
  }
  return behind(rows, 'key')
}

/** Copies of test mail to the address are deleted. */
export const eraseTestInbox: Walk = async (tx, { accountId, replaced }, { after = 0 }) => {
  const rows = await tx
    .selectFrom('sandbox_messages')
    .select(['id', 'rcpt_to', 'subject', 'header_from'])
    .where('account_id', '=', accountId)
    .where('id', '>', Number(after))
    .orderBy('id')
    .limit(rowsALook)
    .execute()
  const ids = rows.flatMap(({ id, ...texts }) =>
    mayHave(replaced, ...Object.values(texts)) ? [id] : [],
  )
  if (ids.length > 0) {
    await tx.deleteFrom('sandbox_messages').where('id', 'in', idsIn(ids, 'integer')).execute()
  }
  return behind(rows, 'id')
}

/**
 * What was sent, or will be sent, to endpoints of webhooks. Endpoints come one after another by their ids, so that one
 * that is added or deleted meanwhile does not move the others.
 */
export const eraseWebhooks =
  (table: 'webhook_deliveries' | 'webhook_jobs'): Walk =>
  async (tx, { accountId, replaced }, { of = '', after = 0 }) => {
    const endpoint = await tx
      .selectFrom('webhook_endpoints')
      .select('id')
      .where('account_id', '=', accountId)
      .where('id', after === 0 ? '>' : '>=', String(of))
      .orderBy('id')
      .limit(1)
      .executeTakeFirst()
    if (endpoint === undefined) return undefined
    // If the walk's endpoint was deleted, with its log, this is the next one.
    const from = endpoint.id === of ? Number(after) : 0
    const rows = await tx
      .selectFrom(table)
      .select(['id', 'body', 'response'])
      .where('endpoint_id', '=', endpoint.id)
      .where('id', '>', from)
      .orderBy('id')
      .limit(rowsALook)
      .execute()
    for (const { id, body, response } of rows) {
      if (!mayHave(replaced, body, response)) continue
      const change = { body: without(replaced, body), response: without(replaced, response) }
      await tx.updateTable(table).set(change).where('id', '=', id).execute()
    }
    return { of: endpoint.id, after: behind(rows, 'id')?.after ?? 0 }
  }
