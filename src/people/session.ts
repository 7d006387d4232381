import { createHash, randomBytes } from 'node:crypto'
import { dayMs, hourMs, isRecent } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import { ApiError } from '../errors/index.js'
import type { Read, SessionRow, Tx } from '../store/index.js'
import type { PeopleDeps } from './deps.js'
import { type Person, personOf } from './person.js'

/** Somebody who is logged in, at one browser. */
export interface Session {
  /** The id that pages use for the session; it is not the cookie's token. */
  id: string
  person: Person
  createdAt: number
  /** Until then the factors need not be shown again for what is delicate. */
  sudoUntil: number
  /** An operator without a second factor, where one is asked for: may do nothing but add one. */
  mustAddFactor: boolean
}

/** Where a browser is, as sessions remember it. */
export interface Visitor {
  clientAddressKey: string
  agent: string
}

// A browser that somebody left open is of no use to whoever finds it the next day.
const idleMs = 12 * hourMs
// Whatever is done with it: a copy of the cookie that nobody noticed ends too.
const longestMs = 14 * dayMs
// Keys, passwords, factors and rights: the cookie alone does not change them for longer than this.
const sudoMs = 15 * 60_000
// From the right password to the code of the second factor.
const forCodeMs = 10 * 60_000
// So often at most a request writes that somebody is there.
const seenEveryMs = 60_000

/**
 * Whose the cookie is; undefined: nobody's any more. Notes now and then that it is in use, unless the page asks by
 * itself: a tab that is left open is not somebody who is there.
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

/** The person and the row of a session that lasts. */
export async function liveSession(
  read: Read,
  token: string | undefined,
  state: SessionRow['state'],
  now: number,
) {
  if (token === undefined || !looksLikeToken(token)) return undefined
  // By its hash: how long the look-up takes says something about a hash, and nothing about the token that somebody
  // guesses at.
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

/** Whether what is delicate may be done without showing the factors again. */
export const hasSudo = ({ sudoUntil }: Pick<Session, 'sudoUntil'>, now: number): boolean =>
  sudoUntil > now

/**
 * Begins a session with a value that nobody knew before, and ends the one that the browser had: what somebody
 * planted there leads nowhere. Returns what the cookie gets.
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
  /** Null if nothing is said. */
  cameBy?: SessionRow['came_by']
  /** What the cookie had. */
  replaces: string | undefined
  now: number
}

/**
 * Gives a session another value and 15 minutes for what is delicate. The value of before ends: who had a copy of the
 * cookie does not get the right that was just proved. Throws a 403 where it was ended since the request was let in:
 * then nothing of the same write holds.
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
 * In a write that somebody's session allows: throws a 403 where it was ended since the request was let in, such as by
 * a reset of the password, which must not be undone by what was under way.
 */
export async function requireSession(tx: Tx, token: string, now: number): Promise<void> {
  if ((await liveSession(tx, token, 'open', now)) === undefined) throw hasEnded()
}

const hasEnded = () =>
  new ApiError(
    'forbidden',
    'Your session was ended meanwhile, and nothing was changed: log in again',
  )

/** By what the cookie has. */
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

/** The sessions of a person that last, the newest first. */
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

/** A request as far as cookies go. */
interface WithCookies {
  /** It came by TLS, so that what is answered goes by TLS too. */
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
 * one. Cookies know no ports (RFC 6265 §8.5), so its name has a part of the installation's own: two appliances
 * on one host would log each other out.
 */
export function sessionCookie(key: ApplianceKey): SessionCookie {
  // After a rotation of the key it has another name; nobody is logged out by that.
  const [own = '', ...older] = key.checks.map((one) =>
    one.replaceAll(/[^a-zA-Z0-9]/g, '').slice(0, 6),
  )
  const name = ({ isSecure }: WithCookies, of = own) => `${isSecure ? '__Host-' : ''}posthorn-${of}`
  // Strict would log out whoever follows a link from a mail.
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

/** 256 random bits for a cookie or a link; the database has only its hash, which is no way in. */
export function newToken(): { token: string; hash: Buffer } {
  const token = randomBytes(32).toString('base64url')
  return { token, hash: hashOf(token) }
}

/** Without salt and quick: nobody can try out 2^256 tokens, unlike passwords, which people choose. */
export const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

/** Whether a text could be one at all, 32 bytes in base64url: anything else is refused without a look-up. */
export const looksLikeToken = (text: string): boolean => /^[\w-]{43}$/.test(text)
