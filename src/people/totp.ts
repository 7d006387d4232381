import { Secret, TOTP } from 'otpauth'
import { renderSVG } from 'uqr'
import { noteAudit } from '../audit/index.js'
import type { ApplianceKey } from '../config/index.js'
import { ApiError } from '../errors/index.js'
import type { Tx, UserRow } from '../store/index.js'
import type { PeopleDeps } from './deps.js'
import { actorOf } from './login.js'
import { findPerson } from './person.js'
import { makeRecoveryCodes } from './recovery-code.js'
import { endSessions, renewSession, type Visitor } from './session.js'

// RFC 6238 §4 and the defaults of every authenticator app.
const digits = 6
const stepMs = 30_000
const secretBytes = 20
// RFC 6238 §5.2: one step for the delay of a network; a clock that is 90 s off is refused.
const stepsAround = 1

/** Bound to the person: a sealed secret that is copied to another row does not open there. */
export const totpPurpose = (userId: string) => `totp ${userId}`

/** A secret for a new authenticator, in base32; it is shown until a code proves that it arrived. */
export const newTotpSecret = (): string => new Secret({ size: secretBytes }).base32

const generator = (secret: string, label = '', issuer = 'Posthorn') =>
  new TOTP({ issuer, label, digits, period: stepMs / 1_000, secret: Secret.fromBase32(secret) })

/** The secret for apps: an `otpauth:` URI, and its picture (SVG). */
export function totpPicture(secret: string, email: string, issuer: string) {
  const uri = generator(secret, email, issuer).toString()
  return { uri, svg: renderSVG(uri, { border: 2 }) }
}

/** The step after `after` with this code; undefined if no step around `now` has it. */
export function stepOf(
  secret: string,
  code: string,
  { now, after }: { now: number; after: number },
): number | undefined {
  const token = code.replaceAll(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return undefined
  const delta = generator(secret).validate({ token, timestamp: now, window: stepsAround })
  if (delta === null) return undefined
  // RFC 6238 §5.2: a code is valid once. `after` is the last step that was used.
  const step = Math.floor(now / stepMs) + delta
  return step > after ? step : undefined
}

/**
 * Uses up a code and all earlier steps, so that an onlooker cannot use it again. Resolves with whether it
 * was valid.
 */
export async function takeCode(
  tx: Tx,
  key: ApplianceKey,
  userId: string,
  code: string,
  now: number,
): Promise<boolean> {
  const user = await findPerson(tx, userId)
  if (user.totp_secret === null) return false
  const secret = key.unseal(user.totp_secret, totpPurpose(userId))
  const step = stepOf(secret, code, { now, after: user.totp_step })
  if (step === undefined) return false
  await tx.updateTable('users').set({ totp_step: step }).where('id', '=', userId).execute()
  return true
}

/**
 * From now on each log-in asks for a code. Needs a code of the new authenticator, and ends the person's other
 * sessions. Returns ten recovery codes, shown only now, and the session's new value. Throws a 422.
 */
export async function addTotp(
  { store, clock, key }: PeopleDeps,
  given: { user: UserRow; secret: string; code: string; session: OwnSession },
): Promise<{ codes: string[]; token: string }> {
  const { user, secret, code, session } = given
  const now = clock.now()
  const step = /^[A-Z2-7]{32}$/.test(secret) ? stepOf(secret, code, { now, after: 0 }) : undefined
  if (step === undefined) throw wrongNewCode()
  return await store.write(async (tx) => {
    await tx
      .updateTable('users')
      .set({ totp_secret: key.seal(secret, totpPurpose(user.id)), totp_step: step })
      .where('id', '=', user.id)
      .execute()
    await endSessions(tx, user.id, { but: session.id })
    const actor = actorOf(user, session.visitor.clientAddressKey)
    await noteAudit(tx, { actor, accountId: null, action: 'totp.add', at: now })
    const codes = await makeRecoveryCodes(tx, user.id)
    return { codes, token: await renewSession(tx, session.token, now) }
  })
}

/** No code is asked for any more; the recovery codes are deleted too. */
export async function removeTotp(
  { store, clock }: Pick<PeopleDeps, 'store' | 'clock'>,
  user: UserRow,
  visitor: Visitor,
): Promise<void> {
  const now = clock.now()
  await store.write(async (tx) => {
    await clearTotp(tx, user.id)
    const actor = actorOf(user, visitor.clientAddressKey)
    await noteAudit(tx, { actor, accountId: null, action: 'totp.remove', at: now })
  })
}

/** Removes the authenticator, and the recovery codes that stand in for it. */
export async function clearTotp(tx: Tx, userId: string): Promise<void> {
  await tx.updateTable('users').set({ totp_secret: null }).where('id', '=', userId).execute()
  await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
}

/** The session of a person who changes their own settings. */
export interface OwnSession {
  id: string
  /** The cookie's value. */
  token: string
  visitor: Visitor
}

const wrongNewCode = () =>
  new ApiError(
    'validation_error',
    'This is not the code that the app shows now. If it never fits, the clock of the phone or of this server is wrong',
    { status: 422, fields: { field: 'code' } },
  )
