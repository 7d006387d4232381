import { dayNumber } from '../clock/index.js'
import type { FigureRow, MailTag } from '../store/index.js'
import { addSome, type Counts, noCounts } from './add-figures.js'

/** What the figures distinguish in a mail. */
export interface MailFacts {
  type: FigureRow['type']
  /** The sending domain; empty where the mail is gone. */
  domain: string
  broadcastId: string | null
  /** When the campaign's dispatch began. */
  broadcastSentAt: number | null
  tags: readonly MailTag[]
}

/** A row of one of the logs, as the figures count it. */
export interface LoggedRow {
  log: 'event' | 'consent' | 'mail'
  /** The row's place in that log. */
  id: number
  accountId: string
  at: number
  mail: MailFacts
  /** The mail came from a test key, whose figures are kept apart. */
  isTest: boolean
  /** Undefined: the row is about the mail as a whole. */
  provider: string | undefined
  counts: Partial<Counts>
}

/** Rows to be added to the figures: a happening is in one row by campaign, one by provider and one for each tag. */
export function tally(happenings: Iterable<LoggedRow>): FigureRow[] {
  const rows = new Map<string, FigureRow>()
  const add = (
    { accountId, at, mail, counts }: LoggedRow,
    breakdown: FigureRow['breakdown'],
    key: string,
  ) => {
    const { domain, type } = mail
    const day = dayNumber(at)
    // Only the last part, the key, may have any character in it.
    const place = `${accountId} ${breakdown} ${day} ${domain} ${type} ${key}`
    let row = rows.get(place)
    if (row === undefined) {
      row = { account_id: accountId, breakdown, day, domain, type, key, ...noCounts() }
      rows.set(place, row)
    }
    addSome(row, counts)
  }
  for (const happening of happenings) {
    const { mail, provider } = happening
    if (happening.isTest) {
      add(happening, 'test', '')
      continue
    }
    add(happening, 'broadcast', mail.broadcastId ?? '')
    if (provider !== undefined) add(happening, 'provider', provider)
    for (const { name, value } of mail.tags) add(happening, 'tag', `${name}:${value}`)
  }
  return [...rows.values()]
}
