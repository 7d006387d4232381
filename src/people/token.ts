import { createHash, randomBytes } from 'node:crypto'

/** 256 random bits for a cookie or a link; the database has only its hash, which is no way in. */
export function newToken(): { token: string; hash: Buffer } {
  const token = randomBytes(32).toString('base64url')
  return { token, hash: hashOf(token) }
}

export const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

/** Whether a text could be one at all: anything else is refused without a look-up. */
export const looksLikeToken = (text: string): boolean => /^[\w-]{43}$/.test(text)
