import {
  erasedWords,
  happeningWords,
  type MailCause,
  type MailStanding,
  type NoMailReason,
  noMailReason,
  noMailWords,
} from '../../contacts/index.js'
import { type Moment, moment } from '../format.js'
import type { Tone } from '../shell/parts.js'
import { sayers } from '../suppression/view.js'

/** What stands of somebody in a list: whether marketing mail goes to them, and why not. */
export function mailChip(standing: MailStanding): { text: string; tone: Tone } {
  const reason = noMailReason(standing)
  return reason === undefined
    ? { text: 'Gets marketing mail', tone: 'good' }
    : { text: `Gets none: ${noMailWords[reason]}`, tone: tones[reason] }
}

const tones: Readonly<Record<NoMailReason, Tone>> = {
  unsubscribed: 'doubt',
  bounced: 'bad',
  complained: 'bad',
  suppressed: 'doubt',
  erased: 'doubt',
}

/** First and last name, as far as they are known. */
export const fullName = (of: { firstName: string | null; lastName: string | null }): string =>
  [of.firstName, of.lastName].filter((name) => name !== null).join(' ')

/** Why mail of a kind goes to somebody or does not, in words, with when and by which mail. */
export interface CauseView {
  text: string
  at: Moment
  mail: { href: string; subject: string } | undefined
  note: string | undefined
}

export const causeView = (cause: MailCause, base: string, now: number): CauseView => {
  const { kind, at, by, email, note, file } = cause
  const who = by === null ? '' : ` by ${sayers[by] ?? by}`
  // Whom an erasure has suppressed nobody has suppressed by hand; the note says more.
  const happened = by === 'erasure' ? erasedWords : `${happeningWords[kind]}${who}`
  const words = `${happened}${file === null ? '' : ` from the file ${file}`}`
  return {
    text: words.charAt(0).toUpperCase() + words.slice(1),
    at: moment(at, now),
    mail:
      email === null
        ? undefined
        : { href: `${base}/emails/${email.id}`, subject: email.subject ?? 'the mail' },
    note: note?.slice(0, longestNote),
  }
}

// How much of a note or a reply a row shows: the whole of it stands with the suppression.
const longestNote = 200
