import { randomBytes } from 'node:crypto'
import { makeApplianceKey } from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import { databaseClock, type Tx } from '../store/index.js'

/** Where a machine asks that was invited. */
export const joinPath = '/node/join'

/** How long a code is good for. */
export const inviteMs = 3_600_000

/**
 * A code by which one machine joins. It says where to ask, and is the key to what is answered; neither the database nor
 * who listens has that key. What it is asked by is derived from it one way.
 */
export interface InviteCode {
  code: string
  /** Address of an appliance, without a path. */
  at: string
  lookup: string
  seal(text: string): Buffer
  /** Throws where the bytes were altered, or are another code's. */
  unseal(sealed: Buffer): string
}

const secretBytes = 32
const purpose = 'node invite'

export const makeInviteCode = (at: string): InviteCode => codeOf(randomBytes(secretBytes), at)

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

/** Keeps what the machine is given that has the code. */
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

/** What was kept, which is gone with that; undefined: nothing, for whatever reason. */
export async function takeInvite(tx: Tx, lookup: string): Promise<Buffer | undefined> {
  await forgetPast(tx)
  const row = await tx
    .deleteFrom('node_invites')
    .where('lookup', '=', lookup)
    .returning('sealed')
    .executeTakeFirst()
  return row?.sealed
}

/** Codes that nobody has used in time. Few rows, as each was asked for by an operator. */
export const forgetPast = (tx: Tx) =>
  tx.deleteFrom('node_invites').where('until', '<', databaseClock).execute()
