import { createHash, randomBytes } from 'node:crypto'
import { dayMs, hourMs, isRecent } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import { ApiError } from '../errors/index.js'
import type { Read, SessionRow, Tx } from '../store/index.js'
import type { PeopleDeps } from './deps.js'
import { type Person, personOf } from './person.js'

/** A person who is logged in at one browser. */
export interface Session {
  /** The id that pages use for the session; it is not the cookie's token. */
  id: string
  person: Person
  createdAt: number
  /** Until then delicate actions need no new proof. */
  sudoUntil: number
  /** An operator who needs a second factor and has none: may do nothing but add one. */
  mustAddFactor: boolean
}

/** A browser and its address, as sessions remember them. */
export interface Visitor {
  clientAddressKey: string
  agent: string
}

// Whoever finds an open browser the next day cannot use it.
const idleMs = 12 * hourMs
// The longest life, even in use, so that an unnoticed copy of the cookie ends too.
const longestMs = 14 * dayMs
// How long the cookie alone may change keys, passwords, factors and rights.
const sudoMs = 15 * 60_000
// The time from the right password to the second factor's code.
const forCodeMs = 10 * 60_000
// How often at most a request notes that the session is in use.
const seenEveryMs = 60_000

/**
 * The session of a cookie; undefined if it has ended. Notes from time to time that it is in use, but not for a
 * page's own requests: an open tab does not mean that somebody is there.
 */
export async function sessionOf(
  deps: Pick<PeopleDeps, 'store' | 'clock' | 'asksFactorOfOperators'>,
  token: string | undefined,
  { byItself = false } = {},
): Promise<Session | undefined> {
  const { store, clock } = deps
  const now = clock.now()
  const row = await liveSession(store.read, token, 'open', now)
  if (row === undefined) return undefined
  const { session, user, hasFactor } = row
  if (!byItself && !isRecent(session.seen_at, now, seenEveryMs)) {
    await store.write(async (tx) => {
      await tx
        .updateTable('sessions')
        .set({ seen_at: now })
        .where('hash', '=', session.hash)
        .execute()
    })
  }
  return {
    id: session.id,
    person: personOf(user),
    createdAt: session.created_at,
    sudoUntil: session.sudo_until,
    mustAddFactor:
      deps.asksFactorOfOperators &&
      user.operator === 1 &&
      !hasFactor &&
      session.came_by !== 'provider with factor',
  }
}

/** The person and the row of a live session. */
export async function liveSession(
  read: Read,
  token: string | undefined,
  state: SessionRow['state'],
  now: number,
) {
  if (token === undefined || !looksLikeToken(token)) return undefined
  // Looked up by its hash: the time of the look-up may tell something about a hash, but nothing about the guessed
  // token.
  const session = await read
    .selectFrom('sessions')
    .selectAll()
    .where('hash', '=', hashOf(token))
    .executeTakeFirst()
  if (session === undefined || session.state !== state || !lasts(session, now)) return undefined
  const user = await read
    .selectFrom('users')
    .selectAll()
    .where('id', '=', session.user_id)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  if (user === undefined) return undefined
  const passkey = await read
    .selectFrom('passkeys')
    .select('id')
    .where('user_id', '=', user.id)
    .limit(1)
    .executeTakeFirst()
  return { session, user, hasFactor: user.totp_secret !== null || passkey !== undefined }
}

const lasts = ({ expires_at, seen_at }: SessionRow, now: number) =>
  expires_at > now && seen_at + idleMs > now

/** Whether delicate actions are allowed without a new proof. */
export const hasSudo = ({ sudoUntil }: Pick<Session, 'sudoUntil'>, now: number): boolean =>
  sudoUntil > now

/**
 * Begins a session with a new value, and ends the browser's previous one, so that a planted cookie is
 * useless. Returns the cookie's value.
 */
export async function beginSession(
  tx: Tx,
  { id, userId, state, visitor, cameBy = null, replaces, now }: NewSession,
): Promise<string> {
  if (replaces !== undefined) await endSession(tx, replaces)
  const { token, hash } = newToken()
  const isOpen = state === 'open'
  await tx
    .insertInto('sessions')
    .values({
      hash,
      id,
      user_id: userId,
      state,
      created_at: now,
      seen_at: now,
      expires_at: now + (isOpen ? longestMs : forCodeMs),
      sudo_until: isOpen ? now + sudoMs : 0,
      address_key: visitor.clientAddressKey,
      agent: visitor.agent.slice(0, 300),
      came_by: cameBy,
    })
    .execute()
  return token
}

interface NewSession {
  id: string
  userId: string
  state: SessionRow['state']
  visitor: Visitor
  /** Null if it is not given. */
  cameBy?: SessionRow['came_by']
  /** The cookie's former value. */
  replaces: string | undefined
  now: number
}

/**
 * Gives a session another value and 15 minutes for delicate actions. The old value ends, so that a copy of the
 * cookie does not get the rights of the new proof. Throws a 403 if the session has ended since the request was let
 * in, which rolls back the whole write.
 */
export async function renewSession(tx: Tx, token: string, now: number): Promise<string> {
  const renewed = newToken()
  const { numUpdatedRows } = await tx
    .updateTable('sessions')
    .set({ hash: renewed.hash, sudo_until: now + sudoMs, seen_at: now })
    .where('hash', '=', hashOf(token))
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw hasEnded()
  return renewed.token
}

/**
 * Called in a write that a session allows: throws a 403 if the session has ended since the request was let in, for
 * example by a reset of the password, which a pending request must not undo.
 */
export async function requireSession(tx: Tx, token: string, now: number): Promise<void> {
  if ((await liveSession(tx, token, 'open', now)) === undefined) throw hasEnded()
}

const hasEnded = () =>
  new ApiError(
    'forbidden',
    'Your session was ended meanwhile, and nothing was changed: log in again',
  )

/** Ends a session by its cookie's value. */
export async function endSession(tx: Tx, token: string): Promise<void> {
  await tx.deleteFrom('sessions').where('hash', '=', hashOf(token)).execute()
}

/** Ends the sessions of a person, all or one, or all but one. */
export async function endSessions(
  tx: Tx,
  userId: string,
  which: { id?: string; but?: string } = {},
): Promise<number> {
  const { id, but } = which
  const { numDeletedRows } = await tx
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .$if(but !== undefined, (query) => query.where('id', '<>', but ?? ''))
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** The live sessions of a person, the newest first. */
export async function sessionsOf(read: Read, userId: string, now: number): Promise<SessionRow[]> {
  const rows = await read
    .selectFrom('sessions')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('id', 'desc')
    .limit(200)
    .execute()
  return rows.filter((row) => row.state === 'open' && lasts(row, now))
}

/** The part of a request that cookies need. */
interface WithCookies {
  /** It came by TLS, so the answer goes by TLS too. */
  isSecure: boolean
  cookie(name: string): string | undefined
}

export interface SessionCookie {
  read(request: WithCookies): string | undefined
  /** A Set-Cookie header. */
  set(request: WithCookies, token: string): string
  clear(request: WithCookies): string
}

/**
 * The cookie of a session. RFC 6265bis §4.1.3.2: by `__Host-` no other host and no page without TLS can plant
 * one. Cookies ignore ports (RFC 6265 §8.5), so the name has a part that is the installation's own: otherwise
 * two appliances on one host would log each other out.
 */
export function sessionCookie(key: ApplianceKey): SessionCookie {
  // After a rotation of the key it has another name; old names are still read, so nobody is logged
  // out.
  const [own = '', ...older] = key.checks.map((one) =>
    one.replaceAll(/[^a-zA-Z0-9]/g, '').slice(0, 6),
  )
  const name = ({ isSecure }: WithCookies, of = own) => `${isSecure ? '__Host-' : ''}posthorn-${of}`
  // With Strict, people who follow a link from a mail would seem logged out.
  const rest = ({ isSecure }: WithCookies) =>
    `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  return {
    read: (request) =>
      [own, ...older]
        .map((one) => request.cookie(name(request, one)))
        .find((one) => one !== undefined),
    set: (request, token) =>
      `${name(request)}=${token}; ${rest(request)}; Max-Age=${longestMs / 1_000}`,
    clear: (request) => `${name(request)}=; ${rest(request)}; Max-Age=0`,
  }
}

/**
 * 256 random bits for a cookie or a link; the database has only the hash, which gives no access.
 */
export function newToken(): { token: string; hash: Buffer } {
  const token = randomBytes(32).toString('base64url')
  return { token, hash: hashOf(token) }
}

/**
 * A quick hash without salt is enough: nobody can try out 2^256 tokens, unlike passwords, which
 * people choose.
 */
export const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

/**
 * Whether a text has the form of a token, 32 bytes in base64url: anything else is refused without a look-up.
 */
export const looksLikeToken = (text: string): boolean => /^[\w-]{43}$/.test(text)
