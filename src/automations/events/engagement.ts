import { idsOf, prepared, type Read } from '../../store/index.js'
import type { Engagement, FrozenVersion } from '../definition/index.js'
import { type LiveRow, readHistory } from '../runs/index.js'

/** What became of the latest mail of a step of a run; undefined if it sent none there. */
export type Engagements = (
  row: LiveRow,
  version: FrozenVersion,
  stepKey: string,
) => Engagement | undefined

/** Reads what became of the mails of those runs whose rules ask for it. */
export async function readEngagement(
  read: Read,
  runs: readonly { row: LiveRow; version: FrozenVersion }[],
): Promise<Engagements> {
  const ids = runs
    .filter(({ version }) => version.asksOfMail)
    .flatMap(({ row }) => readHistory(row.history, row.started_at))
    .flatMap(({ emailId }) => (emailId === undefined ? [] : [emailId]))
  const rows = ids.length === 0 ? [] : await mailsAmong(read, { ids: JSON.stringify(ids) })
  const mails = new Map(rows.map((mail) => [mail.id, engagementOf(mail)]))
  // Read once for each run: its rules may ask some thousand times.
  const sent = new Map<LiveRow, Map<number, string>>()
  const sentBy = (row: LiveRow) => {
    const known = sent.get(row) ?? latestMails(row)
    sent.set(row, known)
    return known
  }
  return (row, { compiled }, stepKey) => {
    const stepId = compiled.byKey.get(stepKey)?.id
    return mails.get(sentBy(row).get(stepId ?? 0) ?? '')
  }
}

/** The id of each step's latest mail. */
const latestMails = (row: LiveRow): Map<number, string> =>
  new Map(
    readHistory(row.history, row.started_at).flatMap(({ stepId, emailId }) =>
      emailId === undefined ? [] : [[stepId, emailId] as const],
    ),
  )

/**
 * Opens by machines are not among these: prefetching would otherwise answer every "has opened" with
 * yes.
 */
const engagementOf = (mail: Mail): Engagement => ({
  opened: mail.openedAt !== null,
  clicked: mail.clickedAt !== null,
  delivered: mail.delivered > 0,
  bounced: mail.bounced > 0,
})

/** What is counted on a mail. */
interface Mail {
  id: string
  openedAt: number | null
  clickedAt: number | null
  delivered: number
  bounced: number
}

// Opens and clicks of machines are not counted there.
const mailsAmong = prepared<{ ids: string }, Mail>((db, { ids }) =>
  db
    .selectFrom('emails')
    .select(['id', 'opened_at as openedAt', 'clicked_at as clickedAt', 'delivered', 'bounced'])
    .where('id', 'in', idsOf(ids, 'text')),
)
