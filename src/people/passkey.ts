import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { noteAudit } from '../audit/index.js'
import { ApiError } from '../errors/index.js'
import type { PasskeyRow, Read, Tx, UserRow } from '../store/index.js'
import type { PeopleDeps } from './deps.js'
import { actorOf, type Entered, noteLogIn, refuseOften } from './login.js'
import { findPerson, isAsChecked } from './person.js'
import { beginSession, endSessions, renewSession, type Visitor } from './session.js'
import type { OwnSession } from './totp.js'

/** The origin by which a browser reached us, which it signs too: `https://mail.example.com`. */
export interface PasskeySite {
  origin: string
  /** Without its port. */
  host: string
}

/** Loaded with the first passkey, as loading takes half a second. */
const webauthn = () => import('@simplewebauthn/server')

const mostEach = 20

/** What a browser is asked to sign for a log-in (`of`: null) or for a proof by a known person. */
export async function askForPasskey(
  { challenges }: Pick<PeopleDeps, 'challenges'>,
  { host }: PasskeySite,
  of: string | null,
): Promise<object> {
  const { generateAuthenticationOptions } = await webauthn()
  return await generateAuthenticationOptions({
    // With a finger or a PIN, which makes two factors: otherwise whoever holds the phone could log in.
    rpID: host,
    userVerification: 'required',
    challenge: bytesOf(challenges.make(of)),
  })
}

/** Logs somebody in by a passkey alone, which is two factors: having it, and a finger or a PIN. Throws a 422, a 429. */
export async function enterByPasskey(
  deps: PeopleDeps,
  given: { answer: string; site: PasskeySite; visitor: Visitor; cookie: string | undefined },
): Promise<Entered> {
  const { store, clock } = deps
  const { visitor, cookie } = given
  const { passkey, user, counter } = await proved(deps, given, null)
  const now = clock.now()
  const id = store.ids.uuid()
  const token = await store.write(async (tx) => {
    if (!(await isAsChecked(tx, user))) throw notKnown()
    await noteUse(tx, passkey, counter, now)
    await noteLogIn(tx, user, visitor, `passkey ${passkey.name}`, now)
    const begun = { id, userId: user.id, state: 'open', visitor, replaces: cookie, now } as const
    return await beginSession(tx, begun)
  })
  return { state: 'open', token }
}

/** Proves again who is there. Returns the session's new value. Throws a 422, a 429. */
export async function proveByPasskey(
  deps: PeopleDeps,
  given: { answer: string; site: PasskeySite; visitor: Visitor; userId: string; token: string },
): Promise<string> {
  const { passkey, user, counter } = await proved(deps, given, given.userId)
  if (user.id !== given.userId) throw notKnown()
  const now = deps.clock.now()
  return await deps.store.write(async (tx) => {
    if (!(await isAsChecked(tx, user))) throw notKnown()
    await noteUse(tx, passkey, counter, now)
    return await renewSession(tx, given.token, now)
  })
}

async function proved(
  deps: PeopleDeps,
  { answer, site, visitor }: { answer: string; site: PasskeySite; visitor: Visitor },
  of: string | null,
): Promise<{ passkey: PasskeyRow; user: UserRow; counter: number }> {
  const { store, limits, challenges } = deps
  const { clientAddressKey } = visitor
  // Attempts of somebody who is logged in are counted by person, so that strangers at the same address cannot use
  // them up.
  const from =
    of === null ? { clientAddressKey, who: `passkey ${clientAddressKey}` } : { who: `proof ${of}` }
  refuseOften(await limits.take(from))
  const response = parsed<AuthenticationResponseJSON>(answer)
  // WebAuthn §7.2 step 6: the id determines whose key it must be, before anything is verified.
  const passkey = await store.read
    .selectFrom('passkeys')
    .selectAll()
    .where('credential_id', '=', response.id)
    .executeTakeFirst()
  if (passkey === undefined) throw notKnown()
  const { verifyAuthenticationResponse } = await webauthn()
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge: (challenge) => challenges.take(challenge, of),
    expectedOrigin: site.origin,
    expectedRPID: site.host,
    requireUserVerification: true,
    // The counter is checked too (WebAuthn §6.1.1): if it does not rise, the authenticator may be a copy, and is
    // refused.
    credential: {
      id: passkey.credential_id,
      publicKey: new Uint8Array(passkey.public_key),
      counter: passkey.counter,
      transports: JSON.parse(passkey.transports) as string[],
    },
  }).catch(() => undefined)
  if (verified?.verified !== true) throw notKnown()
  const user = await findPerson(store.read, passkey.user_id)
  if (user.disabled_at !== null) throw notKnown()
  await limits.forgive(from)
  return { passkey, user, counter: verified.authenticationInfo.newCounter }
}

/** Throws if the passkey was removed during the check, or if another answer has changed its counter. */
async function noteUse(tx: Tx, passkey: PasskeyRow, counter: number, now: number): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('passkeys')
    .set({ counter, used_at: now })
    .where('credential_id', '=', passkey.credential_id)
    .where('counter', '=', passkey.counter)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw notKnown()
}

/** What a browser is asked for to make a passkey. */
export async function askForNewPasskey(
  { store, challenges }: Pick<PeopleDeps, 'store' | 'challenges'>,
  { host }: PasskeySite,
  user: UserRow,
): Promise<object> {
  const { generateRegistrationOptions } = await webauthn()
  const there = await listPasskeys(store.read, user.id)
  return await generateRegistrationOptions({
    challenge: bytesOf(challenges.make(user.id)),
    rpName: 'Posthorn',
    rpID: host,
    userName: user.email,
    userDisplayName: user.name,
    userID: new TextEncoder().encode(user.id),
    // The same authenticator must not be added twice: with two names, one might be thought lost.
    excludeCredentials: there.map(({ credential_id }) => ({ id: credential_id })),
    // The authenticator stores the person too, as at the log-in nobody has said yet who they are.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
}

const bytesOf = (buffer: Buffer) => new Uint8Array(buffer)

/** Keeps a passkey that was made, and ends the other sessions. Returns the session's new value. Throws a 409, a 422. */
export async function addPasskey(
  { store, clock, challenges }: PeopleDeps,
  given: { user: UserRow; answer: string; name: string; site: PasskeySite; session: OwnSession },
): Promise<string> {
  const { user, site, session } = given
  const { verifyRegistrationResponse } = await webauthn()
  const response = parsed<RegistrationResponseJSON>(given.answer)
  const { registrationInfo } = await verifyRegistrationResponse({
    response,
    expectedChallenge: (challenge) => challenges.take(challenge, user.id),
    expectedOrigin: site.origin,
    expectedRPID: site.host,
    requireUserVerification: true,
  }).catch(() => ({ registrationInfo: undefined }))
  if (registrationInfo === undefined) throw notKnown()
  const { credential, credentialBackedUp } = registrationInfo
  const now = clock.now()
  const id = store.ids.uuid()
  const name = given.name.trim().slice(0, 100) || 'Passkey'
  return await store.write(async (tx) => {
    if ((await listPasskeys(tx, user.id)).length >= mostEach) {
      throw new ApiError('conflict', `You have ${mostEach} passkeys: remove one first`)
    }
    await tx
      .insertInto('passkeys')
      .values({
        credential_id: credential.id,
        id,
        user_id: user.id,
        name,
        public_key: Buffer.from(credential.publicKey),
        counter: credential.counter,
        transports: JSON.stringify(credential.transports ?? []),
        backed_up: credentialBackedUp ? 1 : 0,
        created_at: now,
        used_at: null,
      })
      .execute()
    await endSessions(tx, user.id, { but: session.id })
    const actor = actorOf(user, session.visitor.clientAddressKey)
    await noteAudit(tx, { actor, accountId: null, action: 'passkey.add', target: name, at: now })
    return await renewSession(tx, session.token, now)
  })
}

/** Throws a 404. */
export async function removePasskey(
  { store, clock }: Pick<PeopleDeps, 'store' | 'clock'>,
  user: UserRow,
  id: string,
  { clientAddressKey }: Visitor,
): Promise<void> {
  await store.write(async (tx) => {
    const found = (await listPasskeys(tx, user.id)).find((one) => one.id === id)
    if (found === undefined) throw new ApiError('not_found', 'There is no such passkey')
    await tx.deleteFrom('passkeys').where('credential_id', '=', found.credential_id).execute()
    const change = { actor: actorOf(user, clientAddressKey), accountId: null, target: found.name }
    await noteAudit(tx, { ...change, action: 'passkey.remove', at: clock.now() })
  })
}

export const listPasskeys = (read: Read, userId: string): Promise<PasskeyRow[]> =>
  read
    .selectFrom('passkeys')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('id')
    .limit(mostEach)
    .execute()

function parsed<T extends { id: string }>(answer: string): T {
  try {
    const value: unknown = JSON.parse(answer)
    if (
      typeof value === 'object' &&
      value !== null &&
      'id' in value &&
      typeof value.id === 'string'
    ) {
      // The library checks everything else.
      return value as T
    }
  } catch {
    // Refused below, like anything else that is no browser's answer.
  }
  throw notKnown()
}

const notKnown = () =>
  new ApiError(
    'validation_error',
    'This passkey is not one that you added here, or it took too long: try again',
    {
      status: 422,
    },
  )
