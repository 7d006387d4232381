import { columnKey, reasonOf, type SuppressionReason } from '../suppression/index.js'

/*
 * What other systems' exports say about people who left. Whoever moves here must not mail those again, so such a column
 * is never only kept: its cell suppresses the address, or the row is refused with a way out.
 */

/**
 * How a column's cells are read. `unsubscribe`, `bounce`, `complaint`: a filled cell, or yes, says that it happened;
 * `consent`: no says that somebody does not want mail; `status`: a word says it.
 */
export type MarkKind = 'unsubscribe' | 'bounce' | 'complaint' | 'consent' | 'status'

/** What a cell says about somebody's leaving. */
export interface LeftMark {
  reason: SuppressionReason
  /** When, in ms since 1970, where the cell says so. */
  at?: number
}

// Names of columns in the form of `columnKey`. These two are no marks: calls and text messages, and what only
// accompanies a mark.
const otherMedia = /sms|phone|whatsapp|push|mobile|postal|call|fax/
const noMark = /(url|link|token|hash|key|page|id|count|rate|ip)$/
const unsubscribed =
  /unsub|optedout|optout|blocklist|blacklist|suppress|donotemail|donotmail|donotcontact|noemails?$|nomail$|abgemeldet|abmeldung|abbestellt|desabonn|desinscri|debaja|^baja$|descadastr|desinscrit|cancelouinscricao|uitgeschreven|afgemeld|disiscri|wypisan|avregistrerad|отписа|退订|配信停止/
const bounced =
  /hardbounce|bounced|^bounces?$|bouncedat|bouncetime|bouncedate|^cleantime$|^cleaned$/
const complained = /complain|markedasspam|^spam|spamreport|abuse/
const consent =
  /^(accepts?|receives?|wants?)?(email)?(marketing)?(consent|optin|optedin|subscribed|optinstatus)$|^acceptse?mail|^acceptsmarketing|^emailmarketing|^marketing(emails?|consent|optin|permission)|^(is|email)subscribed|^newsletter(subscribed|optin|subscription)?$|^einwilligung|^consentement|^consentimiento/
const status =
  /^(e?mail|list|member|membership|subscri\w*|contact|marketing|optin|user|customer|global)*(status|state|statut|estado|stato|situacao)$/

/** Whether a column may say that somebody left, by its `columnKey`. */
export function markKindOf(key: string): MarkKind | undefined {
  if (otherMedia.test(key) || noMark.test(key)) return undefined
  if (unsubscribed.test(key)) return 'unsubscribe'
  if (bounced.test(key)) return 'bounce'
  if (complained.test(key)) return 'complaint'
  if (status.test(key)) return 'status'
  return consent.test(key) ? 'consent' : undefined
}

/**
 * Whether a column only tells more about another mark: `UNSUB_CAMPAIGN_TITLE` and `UNSUB_REASON` beside `UNSUB_TIME`.
 */
export const tellsMore = (key: string): boolean => /(title|reason|other|comment|note)s?$/.test(key)

const wordsOf = (words: string) => new Set(words.split(' ').map(columnKey))
// Words in the form that `columnKey` gives to a cell.
const yes = wordsOf(
  'yes y true t 1 x on ja j wahr oui o vrai si s verdadero sim verdadeiro vero tak da да 是 はい checked ✓ ✔',
)
const no = wordsOf(
  'no n false f 0 off nein falsch non faux falso nao nee nie nej нет 否 いいえ none null nil never na unchecked',
)
/** Whether a cell says yes or no in any of these languages; undefined for neither. */
export function yesOrNo(text: string): boolean | undefined {
  const word = columnKey(text)
  return yes.has(word) ? true : no.has(word) ? false : undefined
}

// Words for somebody who gets mail, whatever the column asks.
const staying = wordsOf(
  'subscribed active enabled confirmed optedin optin doubleoptin singleoptin ok valid normal pending unconfirmed ' +
    'aktiv actif activo ativo attivo abonniert abonne',
)
const leaving = {
  unsubscribe: wordsOf(
    'unsub optout optedout notsubscribed nonsubscribed neversubscribed unsubscribedbyuser globallyunsubscribed ' +
      'notoptedin donotmail donotemail donotcontact blocklisted blacklisted blocked suppressed disabled ' +
      'abgemeldet ausgetragen desabonne desinscrit dadodebaja baja descadastrado uitgeschreven disiscritto wypisany',
  ),
  bounce: wordsOf('hardbounce hardbounced cleaned undeliverable invalid'),
  complaint: wordsOf('spam spamcomplaint markedasspam abuse abusecomplaint spamreport'),
}
const leavingReasons = ['unsubscribe', 'bounce', 'complaint'] as const

/** What a mark's cell says: that somebody left; `stays`; or `unclear`, which nobody may guess. */
export function readMark(kind: MarkKind, text: string): LeftMark | 'stays' | 'unclear' {
  const word = columnKey(text)
  if (text === '') return 'stays'
  const reason = leavingReasons.find((one) => leaving[one].has(word)) ?? reasonOf(word)
  if (reason !== undefined && reason !== 'manual') return { reason }
  if (kind === 'status' || staying.has(word)) return 'stays'
  if (kind === 'consent') return no.has(word) ? { reason: 'unsubscribe' } : 'stays'
  if (no.has(word) || word === '') return 'stays'
  if (yes.has(word) || /^[1-9]\d{0,5}$/.test(text)) return { reason: kind }
  const at = timeOf(text)
  if (at !== undefined) return { reason: kind, ...(at === null ? {} : { at }) }
  return 'unclear'
}

/** When it happened, by a cell; null for a date that can be read in two ways, undefined for no date. */
function timeOf(text: string): number | null | undefined {
  // No time is longer, and searching a long text would take minutes.
  if (text.length > 100) return undefined
  // Seconds, or milliseconds, since 1970.
  if (/^\d{10}(\d{3})?(\.\d+)?$/.test(text)) return Number(text) * (text.length < 13 ? 1_000 : 1)
  if (/^\d{4}-\d\d-\d\d/.test(text)) {
    const at = Date.parse(text.replace(/^(\S+) (\d\S*)( UTC)?$/, '$1T$2Z'))
    return Number.isNaN(at) ? null : at
  }
  const isDate =
    /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b/.test(text) ||
    /\b(jan|feb|ma[ry]|apr|jun|jul|aug|sep|oct|nov|dec)\w*\.? .*\d{4}/i.test(text) ||
    /\b\d{1,2}\.? \p{L}+\.? \d{4}\b/u.test(text)
  return isDate ? null : undefined
}
