import { randomBytes } from 'node:crypto'
import { makeApplianceKey } from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import { databaseClock, type Read, type Tx } from '../store/index.js'

/** The path at which an invited machine asks. */
export const joinPath = '/node/join'

/** How long a code is valid. */
export const inviteMs = 3_600_000

/**
 * A code by which one machine joins. It tells where to ask, and is the key of the answer; neither the database nor an
 * eavesdropper has that key. The look-up value in the request is derived from it by a one-way function.
 */
export interface InviteCode {
  code: string
  /** The address of an appliance, without a path. */
  at: string
  lookup: string
  seal(text: string): Buffer
  /** Throws if the bytes were altered, or belong to another code. */
  unseal(sealed: Buffer): string
}

const secretBytes = 32
const purpose = 'node invite'

export function makeInviteCode(at: string): InviteCode {
  const secret = randomBytes(secretBytes)
  // A code that begins with '-' would be taken for an option by the command that it is pasted into.
  secret.writeUInt8(secret.readUInt8(0) & 0x7f, 0)
  return codeOf(secret, at)
}

/** Throws an OperatorError for a text that is no code. */
export function readInviteCode(code: string): InviteCode {
  const [, secret = '', at = ''] = /^([\w-]{43})@(https?:\/\/[^\s/?#@]+)$/.exec(code.trim()) ?? []
  if (at === '')
    throw new OperatorError(
      "This is no code of 'posthorn node invite': 43 characters, @ and an address. Copy all of it",
    )
  return codeOf(Buffer.from(secret, 'base64url'), at)
}

function codeOf(secret: Buffer, at: string): InviteCode {
  const key = makeApplianceKey(secret)
  return {
    code: `${secret.toString('base64url')}@${at}`,
    at,
    lookup: key.derive(purpose).toString('base64url'),
    seal: (text) => key.seal(text, purpose),
    unseal: (sealed) => key.unseal(sealed, purpose),
  }
}

/** Keeps what the machine with the code will get. */
export async function keepInvite(
  tx: Tx,
  { lookup, seal }: Pick<InviteCode, 'lookup' | 'seal'>,
  text: string,
): Promise<void> {
  await forgetPast(tx)
  await tx
    .insertInto('node_invites')
    .values((eb) => ({ lookup, sealed: seal(text), until: eb(databaseClock, '+', inviteMs) }))
    .execute()
}

/** Whether anything was kept for the code with this value, in time or not. */
export const isInvited = async (read: Read, lookup: string): Promise<boolean> =>
  (await read
    .selectFrom('node_invites')
    .select('lookup')
    .where('lookup', '=', lookup)
    .executeTakeFirst()) !== undefined

/** Returns what was kept, and deletes it; undefined if there is nothing, for whatever reason. */
export async function takeInvite(tx: Tx, lookup: string): Promise<Buffer | undefined> {
  await forgetPast(tx)
  const row = await tx
    .deleteFrom('node_invites')
    .where('lookup', '=', lookup)
    .returning('sealed')
    .executeTakeFirst()
  return row?.sealed
}

/** Deletes codes that nobody used in time. They are few rows, as an operator asked for each. */
export const forgetPast = (tx: Tx) =>
  tx.deleteFrom('node_invites').where('until', '<', databaseClock).execute()
