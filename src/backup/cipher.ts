import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, scrypt } from 'node:crypto'
import { array, type Infer, integer, is, literal, max, min, string, type } from 'superstruct'
import { messageOf, OperatorError } from '../errors/index.js'

/*
 * An encrypted backup: `PHBACKUP`, the length of the head (4 bytes), the head (JSON, readable by anybody), then chunks,
 * each sealed with AES-256-GCM. The key is made of the passphrase by scrypt and bound to the head; no other file has
 * it, as the salt is random. The nonce is the chunk's number and whether it is the last: chunks that are swapped, left
 * out, repeated or cut off at the end do not open (the STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizár,
 * as age uses it).
 */
const magic = Buffer.from('PHBACKUP')
const saltBytes = 16
const tagBytes = 16
const chunkBytes = 262_144
const maxHeadBytes = 65_536

// 128 MiB and a third of a second for each guess at the passphrase (RFC 7914 §2: N = 2^17, r = 8).
const cost = { logN: 17, r: 8, p: 1 } as const

const Head = type({
  format: literal(1),
  madeAt: string(),
  posthorn: string(),
  schema: string(),
  salt: string(),
  // A file of others must not make us spend gigabytes on it.
  logN: max(min(integer(), 10), 18),
  chunkBytes: max(min(integer(), 1_024), 16 * 1_048_576),
  words: array(string()),
})
export type EncryptedHead = Infer<typeof Head>

/** What anybody may know of an encrypted backup. */
export type PublicHead = Pick<EncryptedHead, 'madeAt' | 'posthorn' | 'schema'>

/**
 * `bytes` encrypted, behind a head in clear that says when and by which version. The nonce of each chunk has its number
 * and whether it is the last: none can be left out, moved or cut off.
 */
export async function* encrypt(
  bytes: AsyncIterable<Buffer>,
  passphrase: string,
  known: PublicHead,
): AsyncGenerator<Buffer> {
  const salt = randomBytes(saltBytes).toString('base64')
  const head: EncryptedHead = {
    format: 1,
    ...known,
    salt,
    logN: cost.logN,
    chunkBytes,
    words: ['posthorn backup, encrypted: scrypt, AES-256-GCM', "open it by 'posthorn restore'"],
  }
  const headBytes = Buffer.from(JSON.stringify(head))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(headBytes.length)
  yield Buffer.concat([magic, length, headBytes])
  const key = await keyOf(passphrase, head, headBytes)
  let number = 0
  for await (const { chunk, isLast } of chunksOf(bytes, chunkBytes)) {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number++, isLast))
    yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()])
  }
}

/** What the head of an encrypted backup says; undefined where the file is not an encrypted backup. */
export function readEncryptedHead(start: Buffer): { head: EncryptedHead; end: number } | undefined {
  if (!start.subarray(0, magic.length).equals(magic)) return undefined
  const length = start.length < 12 ? 0 : start.readUInt32BE(8)
  const bytes = start.subarray(12, 12 + length)
  let head: unknown
  try {
    head = JSON.parse(bytes.toString())
  } catch (cause) {
    throw new OperatorError('The backup is damaged: its head cannot be read', { cause })
  }
  if (!is(head, Head)) {
    throw new OperatorError(
      'The backup is damaged, or was made by a newer version of Posthorn: its head cannot be read',
    )
  }
  return { head, end: 12 + length }
}

/** How many bytes of a file's beginning are enough for `readEncryptedHead`. */
export const headRoom = 12 + maxHeadBytes

/** The plain bytes of an encrypted backup that begins with `start`; OperatorError where anything was changed. */
export async function* decrypt(
  bytes: AsyncIterable<Buffer>,
  start: Buffer,
  passphrase: string,
): AsyncGenerator<Buffer> {
  const found = readEncryptedHead(start)
  if (found === undefined) throw new Error('The backup is not encrypted')
  const { head, end } = found
  const key = await keyOf(passphrase, head, start.subarray(12, end))
  let number = 0
  for await (const { chunk, isLast } of chunksOf(bytes, head.chunkBytes + tagBytes)) {
    const tag = chunk.subarray(-tagBytes)
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number, isLast), {
        authTagLength: tagBytes,
      }).setAuthTag(tag)
      const plain = decipher.update(chunk.subarray(0, -tagBytes))
      decipher.final()
      yield plain
    } catch (error) {
      if (!/authenticate|tag/i.test(messageOf(error))) throw error
      throw new OperatorError(
        number === 0
          ? 'The passphrase is wrong, or the beginning of the backup was changed'
          : `The backup is damaged: part ${number + 1} of it was changed, moved or cut off`,
      )
    }
    number++
  }
}

const nonceOf = (number: number, isLast: boolean): Buffer => {
  const nonce = Buffer.alloc(12)
  nonce.writeBigUInt64BE(BigInt(number), 3)
  nonce.writeUInt8(isLast ? 1 : 0, 11)
  return nonce
}

async function keyOf(passphrase: string, head: EncryptedHead, bytes: Buffer): Promise<Buffer> {
  const salt = Buffer.from(head.salt, 'base64')
  const N = 2 ** head.logN
  const { r, p } = cost
  const secret = await new Promise<Buffer>((resolve, reject) => {
    // NFC: the same passphrase may be typed as other code points on another machine.
    scrypt(passphrase.normalize('NFC'), salt, 32, { N, r, p, maxmem: 256 * N * r }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    )
  })
  // The key is bound to the head: a head that was changed opens nothing.
  return Buffer.from(hkdfSync('sha256', secret, salt, bytes, 32))
}

/** The bytes in chunks of one size, of which the last may be shorter; one chunk even where there are no bytes. */
async function* chunksOf(bytes: AsyncIterable<Buffer>, size: number) {
  let parts: Buffer[] = []
  let length = 0
  for await (const part of bytes) {
    parts.push(part)
    length += part.length
    if (length <= size) continue
    const all = Buffer.concat(parts)
    let at = 0
    // The last chunk is known only when nothing follows.
    for (; all.length - at > size; at += size) {
      yield { chunk: all.subarray(at, at + size), isLast: false }
    }
    parts = [all.subarray(at)]
    length = all.length - at
  }
  yield { chunk: Buffer.concat(parts), isLast: true }
}
