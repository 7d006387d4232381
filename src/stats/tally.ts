import { dayMs } from '../clock/index.js'
import type { FigureRow, MailTag } from '../store/index.js'
import { addTo, type Counts, noCounts } from './add-figures.js'

/** What the figures tell apart, of a mail. */
export interface MailFacts {
  type: FigureRow['type']
  /** The sending domain; empty where the mail is gone. */
  domain: string
  broadcastId: string | null
  tags: readonly MailTag[]
}

/** A row of one of the logs, as the figures count it. */
export interface LoggedRow {
  log: 'event' | 'consent' | 'mail'
  /** Its place in that log. */
  id: number
  accountId: string
  at: number
  mail: MailFacts
  /** Undefined: of the mail as a whole. */
  provider: string | undefined
  counts: Partial<Counts>
}

export const dayOf = (at: number) => Math.floor(at / dayMs)

/** Rows to be added to the figures: a happening is in one by campaign, one by provider and one a tag. */
export function tally(happenings: Iterable<LoggedRow>): FigureRow[] {
  const rows = new Map<string, FigureRow>()
  for (const { accountId, at, mail, provider, counts } of happenings) {
    const add = (breakdown: FigureRow['breakdown'], key: string) => {
      const { domain, type } = mail
      const of = { account_id: accountId, breakdown, day: dayOf(at), domain, type, key }
      const place = JSON.stringify(Object.values(of))
      const row = rows.get(place) ?? { ...of, ...noCounts() }
      addTo(row, counts)
      rows.set(place, row)
    }
    add('broadcast', mail.broadcastId ?? '')
    if (provider !== undefined) add('provider', provider)
    for (const { name, value } of mail.tags) add('tag', `${name}:${value}`)
  }
  return [...rows.values()]
}
