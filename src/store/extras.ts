import { storedJson } from './stored-json.js'

/**
 * What few mails have beside the columns of `emails`: JSON in `emails.extras`, null for all others, and
 * in `broadcasts.extras` for all mails of a campaign.
 */
export interface MailExtras {
  /** Addresses as given, each mailbox once. */
  cc?: readonly string[]
  bcc?: readonly string[]
  /** Where there are several; one alone is in `reply_to`. */
  replyTo?: readonly string[]
  /** By name, in the order given. */
  headers?: Readonly<Record<string, string>>
  tags?: readonly MailTag[]
}

export interface MailTag {
  name: string
  value: string
}

const none: MailExtras = {}

/** What the column has; undefined where it is damaged. */
export function readExtras(json: string | null): MailExtras | undefined {
  if (json === null) return none
  const value = storedJson(json)
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as MailExtras) : undefined
}

/** Null where nothing is in them. */
export function writeExtras(extras: MailExtras): string | null {
  const given = Object.entries(extras).filter(([, value]) => Object.keys(value ?? {}).length > 0)
  return given.length === 0 ? null : JSON.stringify(Object.fromEntries(given))
}
