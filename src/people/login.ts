import { counted } from '../amounts/index.js'
import { type Actor, noteAudit } from '../audit/index.js'
import { ApiError } from '../errors/index.js'
import type { Tx, UserRow } from '../store/index.js'
import type { PeopleDeps } from './deps.js'
import type { FailureLimits } from './failure-limits.js'
import { isKnownPlace, noteKnownPlace } from './known-place.js'
import { findByAddress, isAsChecked } from './person.js'
import { beginSession, liveSession, type Visitor } from './session.js'

/** The result of a log-in: `code` still needs a code of the second factor. */
export interface Entered {
  state: 'open' | 'code'
  /** The value for the cookie. */
  token: string
}

interface Attempt {
  email: string
  password: string
  visitor: Visitor
  /** The value of the browser's cookie. */
  cookie: string | undefined
}

/**
 * Log-in by password. Throws the same 422 for every failure, a 429 after too many failures, and a 503 if
 * too many log in at once. It costs the same whether the person exists or not.
 */
export async function logIn(deps: PeopleDeps, attempt: Attempt): Promise<Entered> {
  const { store, clock, passwords, limits } = deps
  const { email, password, visitor, cookie } = attempt
  // RFC 5321 §4.5.3.1: the longest address has 64 characters, the @ and 255. Longer texts would fill the limits'
  // memory.
  const who = email.trim().toLowerCase().slice(0, 320)
  const user = await findByAddress(store.read, who)
  const { clientAddressKey } = visitor
  const isKnown = await isKnownPlace(store.read, user?.id ?? '', clientAddressKey)
  // Other people's failures, elsewhere or in the same office, must not keep a person out at a known
  // place.
  const from = isKnown ? { who: `known ${who} ${clientAddressKey}` } : { clientAddressKey, who }
  const stored = user?.password ?? null
  const { isRight, isOld } = await countedCheck(limits, from, () =>
    isKnown ? passwords.checkOwn(password, stored, from.who) : passwords.check(password, stored),
  )
  if (user === undefined || !isRight || user.disabled_at !== null) throw failedLogIn()
  await limits.forgive(from)
  const renewed = isOld ? await passwords.hash(password, user.id) : undefined
  const now = clock.now()
  const state = user.totp_secret === null ? 'open' : 'code'
  const id = store.ids.uuid()
  const token = await store.write(async (tx) => {
    // The check may have waited behind twenty others: a password that was reset meanwhile is no longer
    // valid.
    if (!(await isAsChecked(tx, user))) return undefined
    if (renewed !== undefined) {
      await tx.updateTable('users').set({ password: renewed }).where('id', '=', user.id).execute()
    }
    if (state === 'open') await noteLogIn(tx, user, visitor, 'password', now)
    const begun = { id, userId: user.id, state, visitor, replaces: cookie, now } as const
    return await beginSession(tx, begun)
  })
  if (token === undefined) throw failedLogIn()
  return { state, token }
}

/** One sentence for all failures, so that guessers learn nothing. */
const failedLogIn = () =>
  new ApiError('validation_error', 'The address or the password is wrong', {
    status: 422,
  })

/**
 * Makes an attempt that counts as a failure until it is forgiven. An attempt that could not be made, because too
 * many log in just now, does not count. Throws a 429 if the client has to wait.
 */
export async function countedCheck<T>(
  limits: FailureLimits,
  from: Parameters<FailureLimits['take']>[0],
  check: () => Promise<T>,
): Promise<T> {
  refuseOften(await limits.take(from))
  try {
    return await check()
  } catch (error) {
    await limits.takeBack(from)
    throw error
  }
}

/** Throws if there is a wait. */
export function refuseOften(waitMs: number): void {
  if (waitMs <= 0) return
  const seconds = Math.ceil(waitMs / 1_000)
  const time =
    seconds < 90 ? counted(seconds, 'second') : counted(Math.ceil(seconds / 60), 'minute')
  throw new ApiError('rate_limit_exceeded', `Too many attempts have failed. Try again in ${time}`, {
    headers: { 'Retry-After': String(seconds) },
  })
}

/** Notes every log-in: its time, and a row of the audit log with the browser. */
export async function noteLogIn(
  tx: Tx,
  user: UserRow,
  { clientAddressKey, agent }: Visitor,
  by: string,
  now: number,
): Promise<void> {
  await tx.updateTable('users').set({ last_login_at: now }).where('id', '=', user.id).execute()
  const known = await tx
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', user.id)
    .where('agent', '=', agent.slice(0, 300))
    .limit(1)
    .executeTakeFirst()
  await noteKnownPlace(tx, user.id, clientAddressKey, now)
  const actor = actorOf(user, clientAddressKey)
  const detail = { by, agent: agent.slice(0, 300), newBrowser: known === undefined }
  await noteAudit(tx, { actor, accountId: null, action: 'login', target: null, detail, at: now })
}

/** A person at a page, in the audit log's form. */
export const actorOf = (
  person: { id: string; email: string },
  clientAddressKey: string,
): Actor => ({
  kind: 'user',
  userId: person.id,
  name: person.email,
  clientAddressKey,
})

/** The person who has given the password and must give a code. */
export async function awaitedPerson(
  { store, clock }: PeopleDeps,
  cookie: string | undefined,
): Promise<UserRow | undefined> {
  return (await liveSession(store.read, cookie, 'code', clock.now()))?.user
}
