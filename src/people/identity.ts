import { noteAudit } from '../audit/index.js'
import type { GivenRole } from '../config/index.js'
import { ApiError } from '../errors/index.js'
import type { IdentityRow, Read, Tx, UserRow } from '../store/index.js'
import type { PeopleDeps } from './deps.js'
import { takeOver } from './join.js'
import { actorOf, type Entered, noteLogIn, refuseOften } from './login.js'
import { findByAddress, findPerson, insertPerson } from './person.js'
import type { LogInProvider, ProviderClaims } from './provider.js'
import { giveRoles, wantedRoles } from './provider-roles.js'
import { beginSession, endSessions, liveSession, renewSession, type Visitor } from './session.js'

/** A provider, and what it may do here. */
export interface TrustedProvider {
  provider: LogInProvider
  /** It asks for a second factor itself, so ours is not needed. */
  secondFactor: boolean
  /** The roles that values of its claim give; without any, roles are given only here. */
  roles: readonly GivenRole[]
}

/**
 * Handles a browser that the provider sends back: logs the person in, or proves again who is there. Throws a 403 if the
 * provider does not confirm, or names somebody unknown here, a 429 after too many failures, and a 503 if the provider
 * is away.
 */
export async function comeBack(
  deps: PeopleDeps,
  { provider, ...trust }: TrustedProvider,
  given: Coming & { answer: URL; kept: string | undefined },
): Promise<{ next: string | undefined } & ({ entered: Entered } | { renewed: string })> {
  const { limits } = deps
  const { answer, kept, ...coming } = given
  const { clientAddressKey } = given.visitor
  // A counter of its own, so that a foreign page that sends browsers here keeps nobody from logging
  // in by password.
  const from = { who: `provider ${clientAddressKey}` }
  const ask = async () => refuseOften(await limits.take(from))
  const { next, userId, claimed } = await provider.finish(answer, kept, ask)
  await limits.forgive(from)
  try {
    if (userId !== undefined) {
      return { next, renewed: await proveByProvider(deps, claimed, userId, coming.cookie) }
    }
    return { next, entered: await enterByProvider(deps, claimed, trust, coming) }
  } catch (error) {
    if (error instanceof ApiError) provider.noteRefusal(claimed, error.message)
    throw error
  }
}

/** The person who comes back, and the value of the browser's session cookie. */
interface Coming {
  visitor: Visitor
  cookie: string | undefined
}

/**
 * At the first log-in the provider's subject is bound to the person with that address, or to a new person if a claim
 * gives a role; from then on the subject alone tells who it is (OpenID Connect Core 1.0 §5.7).
 */
async function enterByProvider(
  { store, clock }: PeopleDeps,
  claimed: ProviderClaims,
  { secondFactor, roles: known }: Omit<TrustedProvider, 'provider'>,
  { visitor, cookie }: Coming,
): Promise<Entered> {
  const now = clock.now()
  const [newId, id] = [store.ids.uuid(), store.ids.uuid()]
  return await store.write(async (tx) => {
    const roles = await wantedRoles(tx, known, claimed.values)
    const bound = await boundPerson(tx, claimed)
    const user =
      bound ?? (await bind(tx, claimed, { newId, mayJoin: roles.size > 0, visitor, now }))
    if (user.disabled_at !== null) throw isDisabled(user)
    const actor = actorOf(user, visitor.clientAddressKey)
    const given = await giveRoles(tx, user, { ...claimed, roles, known, actor, now })
    await tx
      .updateTable('identities')
      .set({ used_at: now, roles: JSON.stringify(given) })
      .where('issuer', '=', claimed.issuer)
      .where('subject', '=', claimed.subject)
      .execute()
    const state = user.totp_secret !== null && !secondFactor ? 'code' : 'open'
    if (state === 'open') await noteLogIn(tx, user, visitor, `provider ${claimed.issuer}`, now)
    const cameBy = secondFactor ? 'provider with factor' : 'provider'
    const begun = { id, userId: user.id, state, cameBy, visitor, replaces: cookie, now } as const
    return { state, token: await beginSession(tx, begun) }
  })
}

async function proveByProvider(
  { store, clock }: PeopleDeps,
  claimed: ProviderClaims,
  userId: string,
  cookie: string | undefined,
): Promise<string> {
  const now = clock.now()
  return await store.write(async (tx) => {
    const here = await liveSession(tx, cookie, 'open', now)
    const user = await boundPerson(tx, claimed)
    if (cookie === undefined || user?.id !== userId || here?.user.id !== userId) {
      throw new ApiError('forbidden', 'You have logged in there as somebody else than here')
    }
    return await renewSession(tx, cookie, now)
  })
}

/** The providers by which somebody logs in. */
export async function identitiesOf(read: Read, userId: string): Promise<IdentityRow[]> {
  return await read.selectFrom('identities').selectAll().where('user_id', '=', userId).execute()
}

/**
 * Forgets the provider's subjects of a person, and ends the person's sessions: the next log-in by the provider is a
 * first one. Returns the number of subjects.
 */
export async function unbind(tx: Tx, userId: string): Promise<number> {
  await endSessions(tx, userId)
  const { numDeletedRows } = await tx
    .deleteFrom('identities')
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

async function boundPerson(
  tx: Tx,
  { issuer, subject }: ProviderClaims,
): Promise<UserRow | undefined> {
  const row = await tx
    .selectFrom('identities')
    .select('user_id')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row && (await findPerson(tx, row.user_id))
}

/** Binds a new subject. */
async function bind(
  tx: Tx,
  { issuer, subject, email, name }: ProviderClaims,
  {
    newId,
    mayJoin,
    visitor,
    now,
  }: { newId: string; mayJoin: boolean; visitor: Visitor; now: number },
): Promise<UserRow> {
  if (email === undefined) {
    throw new ApiError(
      'forbidden',
      'The provider names no mail address of yours that it has verified, by which you could be known here',
    )
  }
  const there = await findByAddress(tx, email)
  if (there === undefined && !mayJoin) {
    throw new ApiError(
      'forbidden',
      `Nobody here has the address ${email}: ask an owner of the account for an invitation`,
    )
  }
  if (
    there !== undefined &&
    (await identitiesOf(tx, there.id)).some((one) => one.issuer === issuer)
  ) {
    throw new ApiError(
      'forbidden',
      `${email} belongs here to another person of the provider. An operator can undo that: posthorn user unbind ${email}`,
    )
  }
  if (there?.disabled_at != null) throw isDisabled(there)
  // Somebody who saw the person's link may have made the log-in.
  if (there?.proved_at === null) await takeOver(tx, there, { password: null, now })
  const made = { id: newId, email, name, password: null, isOperator: false, isProved: true, now }
  const userId = there?.id ?? (await insertPerson(tx, made)).id
  const times = { created_at: now, used_at: now }
  const row: IdentityRow = { issuer, subject, user_id: userId, roles: '{}', ...times }
  await tx.insertInto('identities').values(row).execute()
  const user = await findPerson(tx, userId)
  const actor = actorOf(user, visitor.clientAddressKey)
  const detail = { issuer, subject }
  await noteAudit(tx, {
    actor,
    accountId: null,
    action: 'provider.bind',
    target: user.email,
    detail,
    at: now,
  })
  return user
}

const isDisabled = ({ email }: UserRow) =>
  new ApiError('forbidden', `The log-in of ${email} is switched off: ask an operator`)
