import { parseMailbox } from '../mime/index.js'
import {
  type NewSuppression,
  type SuppressionReason,
  type SuppressionScope,
  suppressionReasons,
} from './suppress.js'

/** The columns of an export, in their order; an import may have any of them, in any order. */
export const columns = [
  'email',
  'reason',
  'scope',
  'emailId',
  'detail',
  'createdAt',
  'expiresAt',
] as const

/** One line of an import, checked. */
export interface CsvLine extends NewSuppression {
  createdAt: number | undefined
}

// As long as the API takes it. A longer note is cut, because a note is no reason to refuse an address.
const maxDetailLength = 1_000
// What an `emailId` has to look like to be one of ours.
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

// The names in exports of other services, and on the pages of this one.
const otherWords = new Map<string, SuppressionReason>([
  ['bounced', 'bounce'],
  ['bounces', 'bounce'],
  ['complained', 'complaint'],
  ['complaints', 'complaint'],
  ['unsubscribed', 'unsubscribe'],
  ['unsubscribes', 'unsubscribe'],
  ['by hand', 'manual'],
])

/** The reason that a word means; undefined for a word that nobody knows. */
export const reasonOf = (word: string): SuppressionReason | undefined =>
  suppressionReasons.find((known) => known === word) ?? otherWords.get(word)

/**
 * The name of a column as names are compared: only its letters and digits, so that `E-Mail Address`, `email_address`
 * and `emailAddress` are one.
 */
export const columnKey = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

/** What a column of addresses is called in exports of other systems (`columnKey`), the likeliest first. */
export const emailColumns: readonly string[] = (
  'email emailaddress email1value email1 emailaddress1 primaryemail emailprimary subscriberemail contactemail ' +
  'customeremail useremail workemail mail emailadresse mailadresse adresseemail adressemail adressedecourriel ' +
  'courriel correoelectronico correo direcciondecorreoelectronico direcciondecorreo direccionemail ' +
  'enderecodeemail enderecoeletronico correioeletronico emailadres indirizzoemail postaelettronica adresemail ' +
  'eposta epost epostadress электроннаяпочта почта адресэлектроннойпочты 邮箱 电子邮件 电子邮箱 メール メールアドレス'
)
  .split(' ')
  .map(columnKey)

/** The columns' names, when this first line names them: one of them is `email`. */
export function headerOf(cells: readonly string[]): readonly string[] | undefined {
  const named = cells.map(columnKey)
  const email = [...emailColumns, 'address'].find((name) => named.includes(name))
  if (email === undefined) return undefined
  const spellings = new Map([
    [email, 'email'],
    ['emailid', 'emailId'],
    ['createdat', 'createdAt'],
    ['expiresat', 'expiresAt'],
  ])
  return named.map((name) => spellings.get(name) ?? name)
}

/** A line's suppression, or what is wrong with it. */
export function readCells(
  header: readonly string[],
  cells: readonly string[],
  usual: {
    reason: SuppressionReason
    scope?: SuppressionScope | undefined
    detail?: string | undefined
  },
): CsvLine | string {
  const cell = (column: (typeof columns)[number]) =>
    withoutApostrophe(cells[header.indexOf(column)]?.trim() ?? '')
  // The decoder puts this for bytes that it cannot read: the address would be another than was meant.
  if (cell('email').includes('\uFFFD')) return 'the line is not UTF-8'
  const mailbox = parseMailbox(cell('email'))
  if (mailbox === undefined) return `"${cell('email').slice(0, 80)}" is not an email address`
  const reason = reasonOf(cell('reason').toLowerCase())
  if (reason === undefined && cell('reason') !== '') {
    return `"${cell('reason').slice(0, 80)}" is not a reason: expected one of ${suppressionReasons.join(', ')}`
  }
  const scope = (['all', 'marketing'] as const).find((s) => s === cell('scope').toLowerCase())
  if (scope === undefined && cell('scope') !== '') {
    return `"${cell('scope').slice(0, 80)}" is not a scope: expected all or marketing`
  }
  const [createdAt, expiresAt] = (['createdAt', 'expiresAt'] as const).map((column) =>
    cell(column) === '' ? undefined : Date.parse(cell(column)),
  )
  for (const column of ['createdAt', 'expiresAt'] as const) {
    if (Number.isNaN(column === 'createdAt' ? createdAt : expiresAt)) {
      return `"${cell(column).slice(0, 80)}" is not a time: expected ISO 8601`
    }
  }
  return {
    email: mailbox.address,
    reason: reason ?? usual.reason,
    scope: scope ?? usual.scope,
    // Another system's ids mean nothing here.
    emailId: uuid.test(cell('emailId')) ? cell('emailId').toLowerCase() : null,
    detail: (cell('detail') || (usual.detail ?? '')).slice(0, maxDetailLength) || null,
    createdAt,
    expiresAt: expiresAt ?? null,
  }
}

/**
 * A line of an export by RFC 4180: quotes around a cell that needs them, CRLF at the end. Strangers can write into
 * addresses, names and replies, and a spreadsheet runs a text that begins like a formula: an apostrophe before it
 * makes it text (OWASP: CSV injection). An import takes it off again (`withoutApostrophe`).
 */
export const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`

// Includes full-width signs, which mean the same. A text that already has an apostrophe gets another, so that the
// import gives it back.
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/

function csvCell(text: string): string {
  const safe = formula.test(text) ? `'${text}` : text
  return /[",;\t\r\n']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A cell as it was before an export turned it into text. */
export const withoutApostrophe = (cell: string): string =>
  formula.test(cell) ? cell.replace(/^'/, '') : cell
