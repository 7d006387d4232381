import { createHash, randomBytes } from 'node:crypto'
import type { Read, Tx } from '../store/index.js'

const howMany = 10
// RFC 4648 §6 in lower case: 16 letters hold 80 bits, and no 0, 1 or 8 is mistaken for a letter.
const letters = 'abcdefghijklmnopqrstuvwxyz234567'

/** Replaces the codes by ten new ones, which are shown only now. */
export async function makeRecoveryCodes(tx: Tx, userId: string): Promise<string[]> {
  const codes = Array.from({ length: howMany }, newCode)
  await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  await tx
    .insertInto('recovery_codes')
    .values(
      codes.map((code) => ({ user_id: userId, hash: hashOfCode(userId, code), used_at: null })),
    )
    .execute()
  return codes
}

/** Uses up a code, which is valid once. Resolves with whether it was valid. */
export async function takeRecoveryCode(
  tx: Tx,
  userId: string,
  code: string,
  now: number,
): Promise<boolean> {
  // One statement checks and marks, so that two browsers with the same code cannot both get in.
  const { numUpdatedRows } = await tx
    .updateTable('recovery_codes')
    .set({ used_at: now })
    .where('user_id', '=', userId)
    .where('hash', '=', hashOfCode(userId, code))
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** How many codes somebody has not used yet. */
export async function recoveryCodesLeft(read: Read, userId: string): Promise<number> {
  const rows = await read
    .selectFrom('recovery_codes')
    .select('used_at')
    .where('user_id', '=', userId)
    .execute()
  return rows.filter(({ used_at }) => used_at === null).length
}

function newCode(): string {
  // 32 divides 256, so all letters are equally likely: 80 bits.
  const code = [...randomBytes(16)].map((byte) => letters[byte % 32]).join('')
  return code.replaceAll(/.{4}(?=.)/g, '$&-')
}

/**
 * With 80 random bits a quick hash is enough. The person is part of the hash, so that two people's codes cannot be
 * compared; capitals and hyphens are not, as people type codes from paper.
 */
const hashOfCode = (userId: string, code: string) =>
  createHash('sha256')
    .update(`${userId} ${code.toLowerCase().replaceAll(/[^a-z2-7]/g, '')}`)
    .digest()
