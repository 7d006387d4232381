import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { linkSync, rmSync, writeFileSync } from 'node:fs'
import { messageOf, OperatorError } from '../errors/index.js'
import { keyLine, readKeyFile } from './key-file.js'

/**
 * The one secret outside the database: it seals private keys and webhook secrets at rest and signs the links that
 * recipients get. Whoever has only the database can neither read the secrets nor sign. After a rotation it is a
 * ring: the newest key seals and signs, and what older keys have sealed or signed is still understood.
 */
export interface ApplianceKey {
  /** AES-256-GCM: nonce (12) ‖ tag (16) ‖ ciphertext. `purpose` is authenticated, not stored. */
  seal(plain: string, purpose: string): Buffer
  /** Throws when the key is another one or the bytes were altered. */
  unseal(sealed: Buffer, purpose: string): string
  /** A 32-byte key for HMACs, a different one for each purpose. */
  derive(purpose: string): Buffer
  /** The same for each key of the ring, the newest first: for what was signed before a rotation. */
  deriveAll(purpose: string): Buffer[]
  /** Whether the newest key has sealed it; false for bytes that no key of the ring has sealed. */
  isNewest(sealed: Buffer, purpose: string): boolean
  /** Shows to which key a database belongs: one check for each key of the ring, the newest first. */
  readonly checks: readonly string[]
}

// NIST SP 800-38D §8.2: 96 bits for GCM, here drawn at random.
const nonceBytes = 12
const tagBytes = 16

/** Makes the key file when there is none (mode 0600), whole or not at all; never overwrites one. */
export function createApplianceKeyFile(file: string): void {
  const written = `${file}.new`
  try {
    rmSync(written, { force: true })
    // The database that is made next is synced too, and is worth nothing without the key.
    const options = { flag: 'wx', mode: 0o600, flush: true }
    writeFileSync(written, keyLine(randomBytes(32)), options)
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
  const [newest, ...older] = readKeyFile(file, named).map(({ secret }) => secret)
  return makeApplianceKey(newest ?? Buffer.alloc(0), older)
}

/**
 * Shows to which key a database belongs. It is derived one way, and used for nothing else: people who must not have the
 * key may read it.
 */
export const keyCheckOf = ({ checks: [newest = ''] }: Pick<ApplianceKey, 'checks'>): string =>
  newest

/** The name by which people tell keys apart: the beginning of the key's check. */
export const keyNameOf = (check: string): string => check.slice(0, 8)

/** The key out of its 32 secret bytes, and those of the keys before it, the newest first. */
export function makeApplianceKey(master: Buffer, older: readonly Buffer[] = []): ApplianceKey {
  const newest = makeOneKey(master)
  const ring = [newest, ...older.map(makeOneKey)]
  const opens = (key: OneKey, sealed: Buffer, purpose: string) => {
    try {
      return key.unseal(sealed, purpose)
    } catch {
      return undefined
    }
  }
  return {
    seal: newest.seal,
    unseal(sealed, purpose) {
      for (const key of ring.slice(0, -1)) {
        const plain = opens(key, sealed, purpose)
        if (plain !== undefined) return plain
      }
      // The error is that of a wrong key.
      return (ring.at(-1) ?? newest).unseal(sealed, purpose)
    },
    derive: newest.derive,
    deriveAll: (purpose) => ring.map((key) => key.derive(purpose)),
    isNewest: (sealed, purpose) => opens(newest, sealed, purpose) !== undefined,
    checks: ring.map((key) => key.derive('key check').toString('base64url')),
  }
}

type OneKey = Pick<ApplianceKey, 'seal' | 'unseal' | 'derive'>

/**
 * One key out of its 32 secret bytes. Every use has a key of its own, derived by HKDF (RFC 5869): whoever learns one
 * learns no other.
 */
function makeOneKey(master: Buffer): OneKey {
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
