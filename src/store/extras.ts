import { isJsonObject } from '../json/index.js'

/**
 * What few mails have beside the columns of `emails`: JSON in `emails.extras`, null for all others, and
 * in `broadcasts.extras` for all mails of a campaign.
 */
export interface MailExtras {
  /** Addresses as given, each mailbox once. */
  cc?: readonly string[]
  bcc?: readonly string[]
  /** Only where there are several; a single one is in `reply_to`. */
  replyTo?: readonly string[]
  /** By name, in the order given. */
  headers?: Readonly<Record<string, string>>
  tags?: readonly MailTag[]
  /** What the sender should know about the mail, though it was accepted. */
  warnings?: readonly string[]
}

export interface MailTag {
  name: string
  value: string
}

const none: MailExtras = {}

/** The content of the column; undefined where it is damaged. */
export function readExtras(json: string | null): MailExtras | undefined {
  if (json === null) return none
  const value = storedJson(json)
  if (!isJsonObject(value)) return undefined
  const { cc = [], bcc = [], replyTo = [], tags = [], headers = {}, warnings = [] } = value
  const isWhole =
    [cc, bcc, replyTo, warnings].every((list) => isListOf(list, isText)) &&
    isListOf(tags, (tag) => isJsonObject(tag) && isText(tag.name) && isText(tag.value)) &&
    isJsonObject(headers) &&
    Object.values(headers).every(isText)
  return isWhole ? (value as MailExtras) : undefined
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isListOf = (value: unknown, holds: (item: unknown) => boolean) =>
  Array.isArray(value) && value.every(holds)

/** The column's text; null where there are no extras. */
export function writeExtras(
  extras: { [K in keyof MailExtras]: MailExtras[K] | undefined },
): string | null {
  const given = Object.entries(extras).filter(([, value]) => Object.keys(value ?? {}).length > 0)
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
