import type { NoticeMailRow, NoticeRow, Read, Tx } from '../store/index.js'

/** A notice as pages and commands show it. */
export interface Notice {
  id: number
  kind: string
  key: string
  severity: NoticeRow['severity']
  /** How far the fault has come, if that matters. */
  stage: string
  /** The first line says all. */
  text: string
  fix: string
  count: number
  firstAt: number
  lastAt: number
  settledAt: number | null
  silencedUntil: number | null
}

/** Open notices: urgent ones first, then the newest first. */
export async function openNotices(read: Read): Promise<Notice[]> {
  const rows = await read
    .selectFrom('notices')
    .selectAll()
    .where('state', '=', 'open')
    .orderBy('id', 'desc')
    .execute()
  return rows.map(fromRow).sort(worstFirst)
}

/** Settled notices, the newest first. */
export async function pastNotices(read: Read, limit: number): Promise<Notice[]> {
  const of = (state: NoticeRow['state']) =>
    read
      .selectFrom('notices')
      .selectAll()
      .where('state', '=', state)
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
  const rows = [...(await of('settled')), ...(await of('past'))]
  const at = (row: NoticeRowRead) => row.settled_at ?? 0
  return rows
    .sort((a, b) => at(b) - at(a))
    .slice(0, limit)
    .map(fromRow)
}

/** A notice by its number, open or settled. */
export async function findNotice(read: Read, id: number): Promise<Notice | undefined> {
  const row = await read.selectFrom('notices').selectAll().where('id', '=', id).executeTakeFirst()
  return row && fromRow(row)
}

/** Nothing is mailed about it until then, even if it comes again; null ends the silence. */
export async function silenceNotice(tx: Tx, id: number, until: number | null): Promise<void> {
  await tx.updateTable('notices').set({ silenced_until: until }).where('id', '=', id).execute()
}

/** The mails to the operator, the newest first. */
export async function operatorMails(read: Read, limit: number) {
  return await read
    .selectFrom('notice_mails')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** A notice's row as it is read, with ids as numbers. */
export type NoticeRowRead = { [K in keyof NoticeRow]: K extends 'id' ? number : NoticeRow[K] }
/** A mail's row as it is read. */
export type NoticeMailRead = {
  [K in keyof NoticeMailRow]: K extends 'id' ? number : NoticeMailRow[K]
}

/** A row as pages and commands show it. */
export const fromRow = (row: NoticeRowRead): Notice => ({
  id: row.id,
  kind: row.kind,
  key: row.key,
  severity: row.severity,
  stage: row.stage,
  text: row.text,
  fix: row.fix,
  count: row.count,
  firstAt: row.first_at,
  lastAt: row.last_at,
  settledAt: row.settled_at,
  silencedUntil: row.silenced_until,
})

/** The first line, which says all. */
export const titleOf = ({ text }: Pick<Notice, 'text'>): string => text.split('\n')[0] ?? ''

/** For `sort`: urgent notices first, and the newest first within a severity. */
export function worstFirst(a: Notice, b: Notice): number {
  const rank = ({ severity }: Notice) => (severity === 'burning' ? 0 : 1)
  return rank(a) - rank(b) || b.firstAt - a.firstAt
}
