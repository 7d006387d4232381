import { sql } from 'kysely'
import { type Clock, utcTime } from '../clock/index.js'
import type { Log } from '../log/index.js'
import { notice, oneLine } from '../notices/index.js'
import { ownerAddresses } from '../people/index.js'
import type { Store, Tx } from '../store/index.js'
import { findAnySurge, type Surge } from './surge.js'

/** A mail to an owner of the account. */
export interface SurgeMail {
  to: string
  subject: string
  text: string
}

// Accounts have at most one open surge, so more wait only after an incident.
const perRun = 20

/**
 * Tells the operator of new surges by a notice that is mailed at once, and each owner by a mail. The same transaction
 * remembers that they were told.
 */
export async function announceSurges(
  deps: {
    store: Store
    clock: Clock
    log: Log
    /** Writes a mail of the appliance itself. */
    mail: (tx: Tx, mail: SurgeMail) => Promise<void>
  },
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, log, mail } = deps
  const rows = await store.read
    .selectFrom('surges')
    .select('id')
    // A literal: with a parameter SQLite does not see that the index covers this.
    .where('announced', '=', sql.lit(0))
    .orderBy('id')
    .limit(perRun)
    .execute()
  for (const { id } of rows) {
    if (signal.aborted) return
    const surge = await findAnySurge(store.read, id)
    const { accountId, held, decision } = surge
    const lines = linesOf(surge)
    const [headline = ''] = lines
    await store.write(async (tx) => {
      const now = clock.now()
      await tx.updateTable('surges').set({ announced: 1 }).where('id', '=', id).execute()
      // Somebody who looked at the page may have been faster.
      if (decision !== null) return
      await notice(tx, {
        kind: 'surge',
        key: accountId,
        severity: 'burning',
        stage: id,
        text: lines,
        fix: [`posthorn surge release ${id}`, `posthorn surge fail ${id}`],
        now,
      })
      for (const to of await ownerAddresses(tx, accountId)) {
        await mail(tx, { to, subject: headline, text: textForOwner(lines) })
      }
    })
    log.warn({ accountId, surgeId: id, held, sources: surge.sources }, headline)
  }
}

/** What happened: who, which key, from where. */
function linesOf(surge: Surge): string[] {
  const { usual, most, mails, beganAt, sources } = surge
  const shown = (count: number) => count.toLocaleString('en-GB')
  return [
    `"${oneLine(surge.accountName, 100)}" hands in far more mail to new recipients than usual; the rest is held`,
    `${shown(mails)} mails within the hour of ${utcTime(beganAt)}, usually ${shown(usual)}; more than ${shown(most)} of them to people whom it never mailed.`,
    'Mail to whom it has mailed before goes on. What is held waits until somebody decides.',
    `Account: ${surge.accountId}`,
    ...sources.map(
      ({ keyId, keyName, address, mails: some }) =>
        `From: ${keyOf(keyId, keyName)}, ${address === '' ? 'an unknown address' : address} (${shown(some)} held so far)`,
    ),
  ]
}

const keyOf = (id: string | null, name: string | null) =>
  id === null ? 'an automation, or no key' : `the key "${oneLine(name ?? 'deleted', 100)}" (${id})`

const textForOwner = (lines: readonly string[]) =>
  [
    ...lines,
    '',
    'If this mail is yours, log in to the dashboard and release it under Held mail. If it is not, somebody has your key:',
    'delete the key under API keys first, then give up under Held mail what was held.',
  ].join('\n')
