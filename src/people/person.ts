import { isZone } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { Read, Tx, UserRow } from '../store/index.js'

/** A person who can log in, as pages and commands show them. */
export interface Person {
  id: string
  email: string
  name: string
  isOperator: boolean
  /** A name of the IANA database; null until the browser or the person sets it. */
  timeZone: string | null
}

const wrong = (field: string, message: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field } })

/** Throws a 422 for text that is no mail address. */
export function checkedEmail(email: string): { email: string; address: string } {
  const trimmed = email.trim()
  // RFC 5321 §4.5.3.1.1 and .2 give the lengths. Quoted local parts are refused, as nobody logs in with
  // one.
  if (!/^[^\s@<>,"]{1,64}@[^\s@<>,"]{1,253}$/.test(trimmed) || /\p{Cc}/u.test(trimmed)) {
    throw wrong('email', 'Enter a mail address such as ada@example.com')
  }
  return { email: trimmed, address: trimmed.toLowerCase() }
}

/** Throws a 422 for a name that cannot be shown. */
export function checkedPersonName(name: string): string {
  const trimmed = name.trim()
  if (trimmed !== '' && trimmed.length <= 100 && !/\p{Cc}/u.test(trimmed)) return trimmed
  throw wrong('name', 'A name must have 1 to 100 characters and no control characters')
}

/** Throws a 422 for a zone that nobody knows. */
export function checkedZone(name: string): string {
  if (isZone(name)) return name
  throw wrong('timeZone', 'Choose a time zone such as Africa/Lagos')
}

/**
 * The row of a new person; `password`: as `Passwords` stores it, null for a person who first gets a
 * link.
 */
export async function insertPerson(
  tx: Tx,
  given: {
    id: string
    email: string
    name: string
    password: string | null
    isOperator: boolean
    /** Whether the address is proved to be theirs. */
    isProved: boolean
    now: number
  },
): Promise<Person> {
  const { email, address } = checkedEmail(given.email)
  const twin = await findByAddress(tx, address)
  if (twin !== undefined) {
    throw new ApiError('conflict', `There is a person with the address ${email} already`)
  }
  const row: UserRow = {
    id: given.id,
    email,
    address,
    name: checkedPersonName(given.name),
    password: given.password,
    operator: given.isOperator ? 1 : 0,
    totp_secret: null,
    totp_step: 0,
    disabled_at: null,
    created_at: given.now,
    last_login_at: null,
    proved_at: given.isProved ? given.now : null,
    time_zone: null,
  }
  await tx.insertInto('users').values(row).execute()
  return personOf(row)
}

/** A person by their address, whatever its case; undefined if there is none. */
export async function findByAddress(read: Read, email: string): Promise<UserRow | undefined> {
  return await read
    .selectFrom('users')
    .selectAll()
    .where('address', '=', email.trim().toLowerCase())
    .executeTakeFirst()
}

/** Throws a 404. */
export async function findPerson(read: Read, id: string): Promise<UserRow> {
  const row = await read.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw new ApiError('not_found', 'There is no such person')
  return row
}

/**
 * Whether a person's password, authenticator and state are still as before a slow check. Called in the write after
 * the check, so that a pending request cannot undo a reset.
 */
export async function isAsChecked(tx: Tx, checked: UserRow): Promise<boolean> {
  const now = await tx
    .selectFrom('users')
    .select(['password', 'totp_secret'])
    .where('id', '=', checked.id)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  if (now === undefined || now.password !== checked.password) return false
  const [secret, before] = [now.totp_secret, checked.totp_secret]
  return secret === null || before === null ? secret === before : secret.equals(before)
}

/** Whether there is any person yet; if not, the first link makes an operator. */
export async function isAnybodyThere(read: Read): Promise<boolean> {
  const one = await read.selectFrom('users').select('id').limit(1).executeTakeFirst()
  return one !== undefined
}

export const personOf = (row: UserRow): Person => ({
  id: row.id,
  email: row.email,
  name: row.name,
  isOperator: row.operator === 1,
  timeZone: row.time_zone,
})
