import { isJsonObject } from '../json/index.js'

export interface MailTag {
  name: string
  value: string
}

/** What a mail has that has none of it, and the form of every other value. */
interface Extra<T> {
  none: T
  holds: (value: unknown) => boolean
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isListOf = (value: unknown, holds: (item: unknown) => boolean) =>
  Array.isArray(value) && value.every(holds)

const texts: Extra<readonly string[]> = { none: [], holds: (value) => isListOf(value, isText) }
const textsByName: Extra<Readonly<Record<string, string>>> = {
  none: {},
  holds: (value) => isJsonObject(value) && Object.values(value).every(isText),
}
const tags: Extra<readonly MailTag[]> = {
  none: [],
  holds: (value) =>
    isListOf(value, (tag) => isJsonObject(tag) && isText(tag.name) && isText(tag.value)),
}

/** What a send gives, under the same name, and a mail keeps as it was given. */
const asGiven = {
  /** By name, in the order given. */
  headers: textsByName,
  tags,
}

/**
 * What few mails have beside the columns of `emails`: JSON in `emails.extras`, null for all others, and in
 * `broadcasts.extras` for all mails of a campaign.
 */
const extras = {
  /** Addresses as given, each mailbox once. */
  cc: texts,
  bcc: texts,
  /** Only where there are several; a single one is in `reply_to`. */
  replyTo: texts,
  /** What the sender should know about the mail, though it was accepted. */
  warnings: texts,
  ...asGiven,
}

/** All of it, with the value of none where a mail has none. */
export type WholeExtras = { [K in keyof typeof extras]: (typeof extras)[K]['none'] }
/** What the column has. */
export type MailExtras = { [K in keyof WholeExtras]?: NonNullable<WholeExtras[K]> }
/** What a send gives of it. */
export type GivenExtras = { [K in keyof typeof asGiven]?: MailExtras[K] | undefined }

const none: MailExtras = {}

/** The content of the column; undefined where it is damaged. */
export function readExtras(json: string | null): MailExtras | undefined {
  if (json === null) return none
  const value = storedJson(json)
  if (!isJsonObject(value)) return undefined
  const isWhole = Object.entries(extras).every(
    ([name, { holds }]) => value[name] === undefined || holds(value[name]),
  )
  return isWhole ? (value as MailExtras) : undefined
}

const wholeNone = filled(none)

/** The same with the value of none for what is not there, or damaged. */
export const wholeExtras = (found: MailExtras = none): WholeExtras =>
  found === none ? wholeNone : filled(found)

function filled(found: MailExtras): WholeExtras {
  const whole = Object.entries(extras).map(([name, { none }]) => [
    name,
    found[name as keyof MailExtras] ?? none,
  ])
  return Object.fromEntries(whole) as WholeExtras
}

const namesAsGiven = Object.keys(asGiven) as (keyof GivenExtras)[]

/** What a mail keeps of a send; undefined where it gives none of it, as most do. */
export function keptOf(given: GivenExtras): GivenExtras | undefined {
  const names = namesAsGiven.filter((name) => given[name] !== undefined)
  if (names.length === 0) return undefined
  return Object.fromEntries(names.map((name) => [name, given[name]])) as GivenExtras
}

/** The column's text; null where there are no extras. */
export function writeExtras(
  found: { [K in keyof MailExtras]: MailExtras[K] | undefined },
): string | null {
  const given = Object.entries(found).filter(([, value]) => Object.keys(value ?? {}).length > 0)
  return given.length === 0 ? null : JSON.stringify(Object.fromEntries(given))
}

/**
 * The value in a column of JSON, and null where there is none. Undefined where it is broken (by a bug, a hand in the
 * database, a damaged page), so that a list of many rows can still show the others.
 */
export function storedJson(text: string | null): unknown {
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The object in such a column; empty where there is none, or where it is broken. */
export function storedObject<Value>(text: string | null): Record<string, Value> {
  const value = storedJson(text)
  return isJsonObject(value) ? (value as Record<string, Value>) : {}
}

/** The texts of the list in such a column; undefined where it is no list of texts. */
export function storedTexts(text: string): string[] | undefined {
  const value = storedJson(text)
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined
}
