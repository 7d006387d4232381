import { parentPort } from 'node:worker_threads'
import { messageOf } from '../errors/index.js'
import type { DkimKey } from './key.js'
import { signDigest } from './sign.js'

export type SigningKey = Pick<DkimKey, 'algorithm' | 'privateKey'>

/** Texts (octets as Latin-1 characters) to be signed with one key. */
export interface SigningOrder {
  texts: readonly string[]
  /** Undefined: the one of the order before. */
  key: SigningKey | undefined
}

/** The signatures in base64 in the order of the texts, or why there is none. */
export type SigningReport = { signatures: readonly string[] } | { fault: string }

/** The life of the thread that signs: it ends when it is ended. */
export function serveSigning(): void {
  const port = parentPort
  if (port === null) throw new Error("signing is a worker thread's entry, not a program")
  let key: SigningKey | undefined
  port.on('message', (order: SigningOrder) => {
    key = order.key ?? key
    port.postMessage(signAll(order.texts, key))
  })
}

function signAll(texts: readonly string[], key: SigningKey | undefined): SigningReport {
  if (key === undefined) return { fault: 'An order without a key' }
  try {
    return { signatures: texts.map((text) => signDigest(text, key).toString('base64')) }
  } catch (error) {
    return { fault: messageOf(error) }
  }
}
