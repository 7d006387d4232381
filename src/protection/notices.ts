import type { PauseReason } from '../billing/index.js'
import { type Clock, dayMs, utcTime } from '../clock/index.js'
import type { Log } from '../log/index.js'
import { type NoticeKind, notice, oneLine, type Raised, settled } from '../notices/index.js'
import { eachApart, type Store } from '../store/index.js'
import {
  type AuditEntry,
  type AuditRow,
  byItself,
  setAnnounced,
  toEntry,
  unannounced,
} from './audit.js'
import { counterOf, type ProtectionSettings, rateOf, shownRate } from './thresholds.js'

// It runs every few seconds, so more entries wait only after an incident.
const perRun = 50

/**
 * Tells the operator new entries of the audit log, in the transaction that notes them as told; a clearing
 * settles the account's notices.
 */
export async function announceOnce(
  deps: { store: Store; clock: Clock; log: Log; settings: ProtectionSettings },
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, log, settings } = deps
  const tell = async (row: AuditRow) => {
    if (signal.aborted) return
    const entry = toEntry(row)
    const { accountId, account, action, reason, who, totals } = entry
    const { raised, headline } = noticeOf(entry, settings)
    await store.write(async (tx) => {
      const now = clock.now()
      await setAnnounced(tx, entry.id)
      // A pause replaces the warning before it, and a clearing ends both.
      for (const kind of kinds) {
        if (kind !== raised?.kind) await settled(tx, { kind, key: accountId, now })
      }
      if (raised !== undefined) await notice(tx, { ...raised, now })
    })
    log.warn({ accountId, account, action, reason, who, ...totals }, headline)
  }
  await eachApart(await unannounced(store.read, perRun), tell, async (row, error) => {
    const { id, account_id: accountId, account, action, reason, who } = row
    const fields = { error, accountId, account, action, reason, who }
    log.error(fields, 'The operator cannot be told what happened to an account')
    await store.write((tx) => setAnnounced(tx, id))
  })
}

/** The two kinds that an account can have a notice of. */
const kinds: readonly NoticeKind[] = ['account-paused', 'account-warned']

/** Why, for the operator. */
const reasonWords: Record<PauseReason, string> = {
  bounce: 'too many bounces',
  complaint: 'too many complaints',
}

/** The notice for an entry; a clearing raises none and only settles. */
function noticeOf(
  entry: AuditEntry,
  settings: ProtectionSettings,
): { raised: Raised | undefined; headline: string } {
  const { accountId, action, reason, totals, at, who, note } = entry
  const name = oneLine(entry.account, 100)
  const why = who === byItself ? reasonWords[reason] : `by ${who}`
  const days = settings.window / dayMs
  const { warn, pause } = settings[counterOf[reason]]
  const [headline, consequence] = {
    warned: [`"${name}" nears a pause: ${why}`, 'Its mail goes on.'],
    marketing_paused: [
      `Marketing of "${name}" is paused: ${why}`,
      'Its campaigns, automations and marketing sends are refused (403) and what is queued of them waits. Transactional mail goes on.',
    ],
    paused: [
      `"${name}" is paused: ${why}`,
      'All its sends are refused (503) and what is queued waits.',
    ],
    cleared: [`"${name}" may send again`, 'What waited leaves, and its counts start again at 0.'],
  }[action] as [string, string]
  const of = (count: number, mailed: number) =>
    `${count} of ${mailed} (${shownRate(rateOf(count, mailed))})`
  if (action === 'cleared') return { raised: undefined, headline }
  const text = [
    headline,
    consequence,
    `Account: ${accountId}`,
    `When: ${utcTime(at)}`,
    `By: ${who}${note === null ? '' : `: ${note}`}`,
    `Counted: recipients of the last ${Number(days.toFixed(1))} days, since the last clearing`,
    `Bounces: ${of(totals.bounces, totals.recipients)}`,
    `Complaints: ${of(totals.complaints, totals.recipients)}${totals.unproved ? `, and ${totals.unproved} without proof` : ''}`,
    `Marketing: ${of(totals.marketing_bounces, totals.marketing_recipients)} bounced, ${of(totals.marketing_complaints, totals.marketing_recipients)} complained`,
    `Thresholds: ${reason}s warn at ${shownRate(warn / 1e6)}, pause at ${shownRate(pause / 1e6)}`,
  ]
  const look = `posthorn account protection ${accountId}`
  const isPause = action !== 'warned'
  const raised: Raised = {
    kind: isPause ? 'account-paused' : 'account-warned',
    key: accountId,
    // An operator who paused the account by hand knows of it.
    severity: isPause && who === byItself ? 'burning' : 'daily',
    stage: action,
    text,
    fix: isPause ? [look, `posthorn account unpause ${accountId}`] : look,
  }
  return { raised, headline }
}
