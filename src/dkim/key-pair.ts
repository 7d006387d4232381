import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { parentPort, Worker } from 'node:worker_threads'
import { type DkimAlgorithm, newRsaBits } from './key.js'

/** The private key as PKCS#8 PEM, the public one as the record's `p=` value. */
export interface DkimKeyPair {
  privateKeyPem: string
  publicKeyBase64: string
}

const threadEntry = new URL('../threads/key-pair.js', import.meta.url)
// The thread makes one pair and ends.
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 2 }

/**
 * A new key pair. RSA takes tenths of a second, in a thread that lives that long: in Node's pool several pairs at once
 * would take all of its four threads, in which commits are synced to disk too.
 */
export async function generateDkimKeyPair(algorithm: DkimAlgorithm): Promise<DkimKeyPair> {
  if (algorithm === 'ed25519-sha256') {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    // RFC 8463 §4.2: the bare 32 octets, which are the end of the SubjectPublicKeyInfo.
    return pairOf(privateKey, spkiOf(publicKey).subarray(-32))
  }
  const thread = new Worker(threadEntry, { name: 'key-pair', resourceLimits })
  return await new Promise((resolve, reject) => {
    let pair: DkimKeyPair | undefined
    thread.once('message', (made: DkimKeyPair) => {
      pair = made
    })
    thread.once('error', reject)
    thread.once('exit', () => {
      if (pair === undefined) reject(new Error('The thread that makes a key pair ended before'))
      else resolve(pair)
    })
  })
}

/** The life of that thread: one RSA pair. */
export function serveKeyPair(): void {
  if (parentPort === null) throw new Error("key-pair is a worker thread's entry, not a program")
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: newRsaBits })
  parentPort.postMessage(pairOf(privateKey, spkiOf(publicKey)) satisfies DkimKeyPair)
}

const spkiOf = (key: KeyObject) => key.export({ type: 'spki', format: 'der' })

const pairOf = (privateKey: KeyObject, published: Buffer): DkimKeyPair => ({
  privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  publicKeyBase64: published.toString('base64'),
})
