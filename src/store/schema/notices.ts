import { integer, type RowOf, table, text } from './table.js'

/** What the operator is told: a row exists from when a notice is raised until long after it is settled. */
const notices = table(
  'notices',
  {
    id: integer().numberedKey(),
    kind: text(),
    key: text(),
    severity: text<'burning' | 'daily'>(),
    /** How far the matter has come, where that counts; it is told again when this changes. */
    stage: text(),
    /** The first line says all; the others are details. */
    text: text(),
    fix: text(),
    /** `settled`: its cause is gone, but that has not been told yet. `past`: nothing is left to tell. */
    state: text<'open' | 'settled' | 'past'>(),
    count: integer(),
    first_at: integer(),
    last_at: integer(),
    /** When it reached its stage and severity. */
    staged_at: integer(),
    settled_at: integer().orNull(),
    /** 1: to be told at once. */
    urgent: integer(),
    /** When one of this kind and key was last told at once. */
    urgent_at: integer().orNull(),
    /** 1: not in any daily mail yet. */
    fresh: integer(),
    told_at: integer().orNull(),
    silenced_until: integer().orNull(),
  },
  {
    indexes: {
      notices_open: {
        on: ['kind', 'key'],
        isUnique: true,
        where: (row) => row('state', '=', 'open'),
      },
      notices_of: ['kind', 'key', 'id'],
      notices_state: ['state', 'id'],
    },
  },
)

export interface NoticeRow extends RowOf<typeof notices> {}

/** A mail to the operator. */
const noticeMails = table('notice_mails', {
  id: integer().numberedKey(),
  at: integer(),
  /** `report`: the weekly one is asked for, and the next daily mail has it. `test`: by `posthorn notice test`. */
  kind: text<'daily' | 'burning' | 'report' | 'test'>(),
  /** The operator's day, `2026-11-21`. */
  day: text(),
  subject: text(),
  /** The mail's id in the queue, if it went there. */
  email_id: text().orNull(),
  state: text<'waiting' | 'sent' | 'failed'>(),
  /** The way it took: `queue`, a relay, the command, `log`. */
  path: text(),
  result: text(),
  text: text(),
  html: text(),
})

export interface NoticeMailRow extends RowOf<typeof noticeMails> {}

export const noticesTables = [notices, noticeMails] as const
