import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { exitStatus, messageOf, OperatorError } from '../errors/index.js'

/**
 * The one secret outside the database: it seals private keys and webhook secrets at rest and signs
 * the links that recipients get. Whoever has only the database has neither.
 */
export interface ApplianceKey {
  /** AES-256-GCM: nonce (12) ‖ tag (16) ‖ ciphertext. `purpose` is authenticated, not stored. */
  seal(plain: string, purpose: string): Buffer
  /** Throws when the key is another one or the bytes were altered. */
  unseal(sealed: Buffer, purpose: string): string
  /** A 32-byte key for HMACs, a different one for each purpose. */
  derive(purpose: string): Buffer
}

// NIST SP 800-38D §8.2: 96 bits for GCM, here drawn at random.
const nonceBytes = 12
const tagBytes = 16

/** Makes the key file when there is none (mode 0600), whole or not at all; never overwrites one. */
export function createApplianceKeyFile(file: string): void {
  const written = `${file}.new`
  try {
    rmSync(written, { force: true })
    // The database that is made next is synced too, and is nothing without it.
    const options = { flag: 'wx', mode: 0o600, flush: true }
    writeFileSync(written, `${randomBytes(32).toString('base64')}\n`, options)
    // A link and no rename: it fails where a file is there already, and never overwrites a key.
    linkSync(written, file)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return
    throw new OperatorError(`Cannot create the appliance key ${file}: ${messageOf(error)}`)
  } finally {
    rmSync(written, { force: true })
  }
}

/** `named` is what messages call it, where that is not the file itself. */
export function openApplianceKey(file: string, named = file): ApplianceKey {
  let master: Buffer
  try {
    master = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64')
  } catch (error) {
    throw new OperatorError(
      `Cannot read the appliance key ${named}: ${messageOf(error)}. 'posthorn init' makes one; after a restore, put the old one back`,
      { status: exitStatus.misplaced },
    )
  }
  if (master.length !== 32) {
    throw new OperatorError(
      `The appliance key ${named} is damaged: expected 32 bytes in base64. Put it back from a backup`,
      { status: exitStatus.misplaced },
    )
  }
  return makeApplianceKey(master)
}

/** Shows whose a database is; derived one way, and for nothing else: it may be read by who must not have the key. */
export const keyCheckOf = (key: ApplianceKey): string =>
  key.derive('key check').toString('base64url')

/**
 * The key out of its 32 secret bytes. Every use has a key of its own, derived by HKDF (RFC 5869):
 * who learns one learns no other.
 */
export function makeApplianceKey(master: Buffer): ApplianceKey {
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', master, 'posthorn', purpose, 32))
  const sealingKey = derive('seal')
  return {
    derive: (purpose) => derive(`hmac ${purpose}`),
    seal(plain, purpose) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', sealingKey, nonce).setAAD(Buffer.from(purpose))
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
    },
    unseal(sealed, purpose) {
      const decipher = createDecipheriv('aes-256-gcm', sealingKey, sealed.subarray(0, nonceBytes))
        .setAAD(Buffer.from(purpose))
        .setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes))
      const plain = decipher.update(sealed.subarray(nonceBytes + tagBytes))
      return Buffer.concat([plain, decipher.final()]).toString('utf8')
    },
  }
}
