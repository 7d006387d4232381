import type { Tx } from '../../store/index.js'

/** A row of `tls_sessions`, whose counts may be added to a row that is there. */
export interface CountedRow {
  day: number
  domain: string
  type: 'tlsa' | 'sts' | 'no-policy-found'
  /** JSON of the policy's lines and hosts. */
  policy: string
  /** Empty: as the policy wants. */
  result: string
  reason: string
  host: string
  hostName: string
  receiving: string
  sending: string
  sessions: number
}

// How many rows a domain has for a day; further sessions are counted without details.
const maxRowsPerDomain = 200

/** Adds counts to those of the day. */
export async function writeSessions(tx: Tx, rows: readonly CountedRow[]): Promise<void> {
  const full = new Map<string, boolean>()
  for (const row of rows) {
    const of = `${row.day} ${row.domain}`
    // A success has no details, so it needs no look.
    if (row.result !== '' && !full.has(of)) full.set(of, await isFull(tx, row))
    const isUntold = row.result !== '' && full.get(of) === true
    await tx
      .insertInto('tls_sessions')
      .values({
        day: row.day,
        domain: row.domain,
        policy_type: row.type,
        policy: row.policy,
        result: row.result,
        reason: isUntold ? '' : row.reason,
        mx_host: isUntold ? '' : row.host,
        mx_name: isUntold ? '' : row.hostName,
        receiving_address: isUntold ? '' : row.receiving,
        sending_address: isUntold ? '' : row.sending,
        sessions: row.sessions,
      })
      .onConflict((conflict) =>
        conflict.columns(keyColumns).doUpdateSet((eb) => ({
          sessions: eb('tls_sessions.sessions', '+', eb.ref('excluded.sessions')),
        })),
      )
      .execute()
  }
}

// The table's key: two sessions with equal values count in one row.
const keyColumns = [
  ...(['day', 'domain', 'policy_type', 'policy', 'result', 'reason'] as const),
  ...(['mx_host', 'mx_name', 'receiving_address', 'sending_address'] as const),
]

/** Whether a domain has as many rows of a day as it may have. */
async function isFull(tx: Tx, { day, domain }: CountedRow): Promise<boolean> {
  const beyond = await tx
    .selectFrom('tls_sessions')
    .select('day')
    .where('day', '=', day)
    .where('domain', '=', domain)
    .offset(maxRowsPerDomain)
    .limit(1)
    .executeTakeFirst()
  return beyond !== undefined
}
