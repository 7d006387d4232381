import { insertAccount, listAccounts } from '../accounts/index.js'
import { noteAudit } from '../audit/index.js'
import { dayMs } from '../clock/index.js'
import { ApiError, OperatorError } from '../errors/index.js'
import type { EntryLinkRow, Read, Tx } from '../store/index.js'
import type { PeopleDeps } from './deps.js'
import { takeOver } from './join.js'
import { noteKnownPlace } from './known-place.js'
import { actorOf, type Entered, noteLogIn } from './login.js'
import { setRole } from './membership.js'
import { checkPassword } from './password-rules.js'
import {
  checkedEmail,
  checkedPersonName,
  findPerson,
  insertPerson,
  isAnybodyThere,
} from './person.js'
import {
  beginSession,
  endSessions,
  hashOf,
  looksLikeToken,
  newToken,
  type Visitor,
} from './session.js'

// Whoever installs a server may open the link the next morning; a link for a password is handed over and used at
// once.
const setupMs = dayMs
const resetMs = 15 * 60_000

/**
 * A link that makes the first operator, valid once and for a day; it replaces the previous one. Throws
 * an `OperatorError` if there is a person already. Returns the path of its page.
 */
export async function makeSetupLink(tx: Tx, now: number): Promise<string> {
  if (await isAnybodyThere(tx)) {
    throw new OperatorError(
      "Somebody can log in already; 'posthorn user list' shows who, and 'posthorn user reset' makes a link for them",
    )
  }
  await tx.deleteFrom('entry_links').where('kind', '=', 'setup').execute()
  return `/setup/${await insertLink(tx, 'setup', null, now, setupMs)}`
}

/**
 * A link by which somebody chooses a new password, valid once and for 15 minutes. Returns its page's path.
 */
export async function makeResetLink(tx: Tx, userId: string, now: number): Promise<string> {
  await tx.deleteFrom('entry_links').where('user_id', '=', userId).execute()
  return `/reset/${await insertLink(tx, 'reset', userId, now, resetMs)}`
}

async function insertLink(
  tx: Tx,
  kind: EntryLinkRow['kind'],
  userId: string | null,
  now: number,
  lastsMs: number,
): Promise<string> {
  const { token, hash } = newToken()
  await tx
    .insertInto('entry_links')
    .values({ hash, kind, user_id: userId, created_at: now, expires_at: now + lastsMs })
    .execute()
  return token
}

/** The row of a valid link. Throws a 404 that says what to do. */
export async function findLink(
  read: Read,
  kind: EntryLinkRow['kind'],
  token: string,
  now: number,
): Promise<EntryLinkRow> {
  const row = looksLikeToken(token)
    ? await read
        .selectFrom('entry_links')
        .selectAll()
        .where('hash', '=', hashOf(token))
        .executeTakeFirst()
    : undefined
  if (row !== undefined && row.kind === kind && row.expires_at > now) return row
  const again =
    kind === 'setup'
      ? "'posthorn user first' on the server makes another"
      : "'posthorn user reset' on the server makes another"
  throw new ApiError('not_found', `This link was used already, or its time is over: ${again}`)
}

interface SetUp {
  email: string
  name: string
  password: string
  /** The name of the first account, if there is none yet. */
  accountName?: string | undefined
  visitor: Visitor
}

/**
 * Makes the first operator, who also owns the only account, or a first one that is made. Throws a 404 for an
 * expired link, and a 422 for bad values.
 */
export async function setUp(deps: PeopleDeps, token: string, given: SetUp): Promise<Entered> {
  const { store, clock, passwords } = deps
  await findLink(store.read, 'setup', token, clock.now())
  checkedEmail(given.email)
  checkedPersonName(given.name)
  checkPassword(given.password, given)
  const password = await passwords.hash(given.password, 'setup')
  const now = clock.now()
  const id = store.ids.uuid()
  const [sessionId, newAccountId] = [store.ids.uuid(), store.ids.uuid()]
  const { visitor } = given
  const made = await store.write(async (tx) => {
    // Checked again inside the write: if two people open the same link at once, only one becomes the
    // operator.
    await useLink(tx, 'setup', token, now)
    if (await isAnybodyThere(tx))
      throw new ApiError(
        'conflict',
        'Somebody else has become the first operator meanwhile: log in',
      )
    const first = { ...given, id, password, isOperator: true, isProved: true, now }
    const person = await insertPerson(tx, first)
    const account = { id: newAccountId, name: given.accountName ?? '', createdAt: now }
    const accountId = await firstAccount(tx, account)
    if (accountId !== undefined) await setRole(tx, accountId, id, 'owner', now)
    const actor = actorOf(person, visitor.clientAddressKey)
    await noteAudit(tx, { actor, accountId: null, action: 'setup', target: person.email, at: now })
    await noteLogIn(tx, await findPerson(tx, id), visitor, 'setup link', now)
    const begun = {
      id: sessionId,
      userId: id,
      state: 'open',
      visitor,
      replaces: undefined,
    } as const
    return await beginSession(tx, { ...begun, now })
  })
  return { state: 'open', token: made }
}

/**
 * The only account, or a new one of that name if there is none. With several nobody can know which
 * one is meant.
 */
async function firstAccount(
  tx: Tx,
  account: Parameters<typeof insertAccount>[1],
): Promise<string | undefined> {
  const accounts = await listAccounts(tx)
  const [only, ...others] = accounts
  if (only !== undefined) return others.length === 0 ? only.id : undefined
  if (account.name.trim() === '') return undefined
  return (await insertAccount(tx, account)).id
}

/**
 * Chooses a new password by a link, which ends all sessions. The authenticator stays, and so do passkeys if the
 * person knows them all. Nothing stays if the address was not proved before; it now counts as proved, as an operator
 * handed over the link.
 */
export async function resetPassword(
  deps: PeopleDeps,
  token: string,
  given: { password: string; keepsPasskeys: boolean; visitor: Visitor },
): Promise<void> {
  const { store, clock, passwords, limits } = deps
  const link = await findLink(store.read, 'reset', token, clock.now())
  const user = await findPerson(store.read, link.user_id ?? '')
  checkPassword(given.password, user)
  // In a queue place of the link's own, so that somebody who keeps trying the old password does not delay
  // this.
  const password = await passwords.hash(given.password, `reset ${user.id}`)
  const now = clock.now()
  await store.write(async (tx) => {
    await useLink(tx, 'reset', token, now)
    const { proved_at } = await findPerson(tx, user.id)
    if (proved_at === null) await takeOver(tx, user, { password, now })
    await tx.updateTable('users').set({ password }).where('id', '=', user.id).execute()
    if (!given.keepsPasskeys) {
      await tx.deleteFrom('passkeys').where('user_id', '=', user.id).execute()
    }
    await endSessions(tx, user.id)
    // They can log in from this place, whoever fails in their name elsewhere.
    await noteKnownPlace(tx, user.id, given.visitor.clientAddressKey, now)
    const actor = actorOf(user, given.visitor.clientAddressKey)
    const detail = { by: 'link', keepsPasskeys: given.keepsPasskeys }
    await noteAudit(tx, { actor, accountId: null, action: 'password.change', detail, at: now })
  })
  await limits.forget(user.address)
}

async function useLink(
  tx: Tx,
  kind: EntryLinkRow['kind'],
  token: string,
  now: number,
): Promise<void> {
  await findLink(tx, kind, token, now)
  await tx.deleteFrom('entry_links').where('hash', '=', hashOf(token)).execute()
}
