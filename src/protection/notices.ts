import type { PauseReason } from '../billing/index.js'
import type { Log } from '../log/index.js'
import { eachApart, type Store, type Tx } from '../store/index.js'
import {
  type AuditEntry,
  type AuditRow,
  byItself,
  setAnnounced,
  toEntry,
  unannounced,
} from './audit.js'
import { counterOf, type ProtectionSettings, rateOf, shownRate } from './thresholds.js'

export interface Notice {
  subject: string
  text: string
}

const perRun = 50

/**
 * Tells the operator, in the log and by `post`, of what is new in the audit log. A notice
 * is posted in the transaction that remembers it as told, so it leaves once, whoever dies when.
 */
export async function announceOnce(
  deps: {
    store: Store
    log: Log
    settings: ProtectionSettings
    post: (tx: Tx, notice: Notice) => Promise<void>
  },
  signal: AbortSignal,
): Promise<void> {
  const { store, log, settings, post } = deps
  const tell = async (row: AuditRow) => {
    if (signal.aborted) return
    const entry = toEntry(row)
    const notice = noticeOf(entry, settings)
    await store.write(async (tx) => {
      await setAnnounced(tx, entry.id)
      await post(tx, notice)
    })
    const { accountId, account, action, reason, who, totals } = entry
    log.warn({ accountId, account, action, reason, who, ...totals }, notice.subject)
  }
  await eachApart(await unannounced(store.read, perRun), tell, async (row, error) => {
    const { id, account_id: accountId, account, action, reason, who } = row
    const fields = { error, accountId, account, action, reason, who }
    log.error(fields, 'No mail can be written about what happened to an account')
    await store.write((tx) => setAnnounced(tx, id))
  })
}

const reasonWords: Record<PauseReason, string> = {
  bounce: 'too many bounces',
  complaint: 'too many complaints',
}

function noticeOf(entry: AuditEntry, settings: ProtectionSettings): Notice {
  const { accountId, account: name, action, reason, totals, at, who, note } = entry
  const why = who === byItself ? reasonWords[reason] : `by ${who}`
  const days = settings.window / 86_400_000
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
    cleared: [`"${name}" may send again`, 'What waited leaves, and its counts start anew.'],
  }[action] as [string, string]
  const of = (count: number, mailed: number) =>
    `${count} of ${mailed} (${shownRate(rateOf(count, mailed))})`
  const lines = [
    `${headline}. ${consequence}`,
    '',
    `Account:     ${name} (${accountId})`,
    `When:        ${new Date(at).toISOString()}`,
    `By:          ${who}${note === null ? '' : `: ${note}`}`,
    `Counted:     recipients of the last ${Number(days.toFixed(1))} days, since the last clearing`,
    `Bounces:     ${of(totals.bounces, totals.recipients)}`,
    `Complaints:  ${of(totals.complaints, totals.recipients)}${totals.unproved ? `, and ${totals.unproved} that nothing proves` : ''}`,
    `Marketing:   ${of(totals.marketing_bounces, totals.marketing_recipients)} bounced, ${of(totals.marketing_complaints, totals.marketing_recipients)} complained`,
    `Thresholds:  ${reason}s warn at ${shownRate(warn / 1e6)}, pause at ${shownRate(pause / 1e6)}`,
    '',
    `Look closer:        posthorn account protection ${accountId}`,
    ...(action === 'warned' || action === 'cleared'
      ? []
      : [`Let it send again:  posthorn account unpause ${accountId}`]),
    '',
  ]
  return { subject: `Posthorn: ${headline}`, text: lines.join('\n') }
}
