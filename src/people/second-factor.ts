import { noteAudit } from '../audit/index.js'
import { ApiError } from '../errors/index.js'
import type { Tx, UserRow } from '../store/index.js'
import type { PeopleDeps } from './deps.js'
import {
  actorOf,
  awaitedPerson,
  countedCheck,
  type Entered,
  noteLogIn,
  refuseOften,
} from './login.js'
import { isAsChecked } from './person.js'
import { takeRecoveryCode } from './recovery-code.js'
import { beginSession, liveSession, renewSession, type Session, type Visitor } from './session.js'
import { takeCode } from './totp.js'

/** The kind of a valid code; undefined for an invalid one. */
type Taken = 'totp' | 'recovery code' | undefined

/** The second step of a log-in: a code of the app, or a recovery code. Throws a 422, a 429. */
export async function enterCode(
  deps: PeopleDeps,
  given: { code: string; visitor: Visitor; cookie: string | undefined },
): Promise<Entered> {
  const { store, clock, limits } = deps
  const { visitor, cookie } = given
  const user = await awaitedPerson(deps, cookie)
  if (user === undefined) {
    throw new ApiError('forbidden', 'Too much time has passed since the password: log in again')
  }
  // Six digits could be tried out, so attempts for a person are counted across all addresses.
  const from = { clientAddressKey: visitor.clientAddressKey, who: `code ${user.id}` }
  refuseOften(await limits.take(from))
  const now = clock.now()
  const id = store.ids.uuid()
  const token = await store.write(async (tx) => {
    // A change of the password meanwhile ended the log-in that began with the old one.
    const awaited = await liveSession(tx, cookie, 'code', now)
    if (awaited?.user.id !== user.id || !(await isAsChecked(tx, user))) return undefined
    const by = await takeAny(deps, tx, user, given.code, visitor, now)
    if (by === undefined) return undefined
    const cameBy = awaited.session.came_by
    await noteLogIn(tx, user, visitor, `${cameBy ?? 'password'}, ${by}`, now)
    const own = { id, userId: user.id, visitor, cameBy, replaces: cookie }
    const begun = { ...own, state: 'open', now } as const
    return await beginSession(tx, begun)
  })
  if (token === undefined) throw wrongCode()
  await limits.forgive(from)
  return { state: 'open', token }
}

/**
 * Proves again who is there, for delicate actions: by the password, and a code if there is an authenticator.
 * Returns the session's new value. Throws a 422, a 429, a 503.
 */
export async function proveAgain(
  deps: PeopleDeps,
  given: {
    user: UserRow
    session: Pick<Session, 'id'>
    token: string
    password: string
    code: string
    visitor: Visitor
  },
): Promise<string> {
  const { store, clock, passwords, limits } = deps
  const { user, visitor } = given
  // Strangers cannot fill this counter, as it belongs to a logged-in person.
  const from = { who: `proof ${user.id}` }
  const { isRight } = await countedCheck(limits, from, () =>
    passwords.checkOwn(given.password, user.password, user.id),
  )
  const now = clock.now()
  const token = await store.write(async (tx) => {
    // The code is used up only if the password is right.
    if (!isRight || !(await isAsChecked(tx, user))) return undefined
    if (user.totp_secret !== null) {
      const by = await takeAny(deps, tx, user, given.code, visitor, now)
      if (by === undefined) return undefined
    }
    return await renewSession(tx, given.token, now)
  })
  if (token === undefined) throw wrongProof(user.totp_secret !== null)
  await limits.forgive(from)
  return token
}

async function takeAny(
  { key }: PeopleDeps,
  tx: Tx,
  user: UserRow,
  code: string,
  visitor: Visitor,
  now: number,
): Promise<Taken> {
  if (await takeCode(tx, key, user.id, code, now)) return 'totp'
  if (!(await takeRecoveryCode(tx, user.id, code, now))) return undefined
  const actor = actorOf(user, visitor.clientAddressKey)
  await noteAudit(tx, { actor, accountId: null, action: 'recovery-code.use', at: now })
  return 'recovery code'
}

const wrongCode = () =>
  new ApiError('validation_error', 'This code is wrong, was used already, or is too old', {
    status: 422,
    fields: { field: 'code' },
  })

const wrongProof = (withCode: boolean) =>
  new ApiError(
    'validation_error',
    withCode ? 'The password or the code is wrong' : 'The password is wrong',
    { status: 422, fields: { field: 'password' } },
  )
