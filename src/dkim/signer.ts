import { Worker } from 'node:worker_threads'
import { ApiError } from '../errors/index.js'
import type { DkimKey } from './key.js'
import { signDigest } from './sign.js'
import type { SigningKey, SigningOrder, SigningReport } from './signing.js'

/** Makes signatures in the order of the calls, with the RSA work in a thread of its own. */
export interface Signer {
  /**
   * The signature of octets (as Latin-1 characters), in base64. Rejects when the key does not sign or
   * the thread has died; the next call starts another.
   */
  sign(text: string, key: DkimKey): Promise<string>
  /** Ends the thread; what is not signed yet is rejected. */
  close(): Promise<void>
}

interface Waiting {
  text: string
  key: SigningKey
  resolve: (signature: string) => void
  reject: (error: Error) => void
}

const threadEntry = new URL('../threads/signing.js', import.meta.url)
// Strings of a kilobyte: nothing that a heap grows by.
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 }
// The thread has its next order when it ends one.
const maxOrders = 2
// Some ms of signing: that long one more mail waits at most.
const maxTexts = 8

// Of no mail: the next attempt has another thread.
const ended = (why: string) =>
  new ApiError('service_unavailable', `The thread that signs has ended: ${why}`)

/**
 * Node's thread pool would do too, but it wakes a thread for each signature, which takes the core from
 * whoever asked for it, and syncs to disk wait in its line behind them. Here some go over at once
 * (to one domain on 2 cores 5 % more mails a second, Nov 2026).
 */
export function openSigner(): Signer {
  let thread: Worker | undefined
  let lastKey: SigningKey | undefined
  let planned = false
  const waiting: Waiting[] = []
  const underWay: Waiting[][] = []

  const end = (cause: Error) => {
    thread = undefined
    lastKey = undefined
    for (const { reject } of [...underWay.splice(0).flat(), ...waiting.splice(0)]) reject(cause)
  }
  const start = (): Worker => {
    const started = new Worker(threadEntry, { name: 'signing', resourceLimits })
    started.unref()
    started.on('message', (report: SigningReport) => {
      const order = underWay.shift() ?? []
      for (const [i, { resolve, reject }] of order.entries()) {
        if ('fault' in report) reject(new Error(`DKIM key: ${report.fault}`))
        else resolve(report.signatures[i] ?? '')
      }
      give()
    })
    started.once('error', (error: Error) => {
      if (thread === started) end(ended(error.message))
    })
    started.once('exit', () => {
      if (thread === started) end(ended('it has stopped'))
    })
    return started
  }
  const give = () => {
    while (underWay.length < maxOrders) {
      const key = waiting[0]?.key
      if (key === undefined) return
      const other = waiting.findIndex((one, at) => at === maxTexts || one.key !== key)
      const order = waiting.splice(0, other < 0 ? waiting.length : other)
      underWay.push(order)
      thread ??= start()
      const texts = order.map(({ text }) => text)
      const sent = key === lastKey ? undefined : key
      thread.postMessage({ texts, key: sent } satisfies SigningOrder)
      lastKey = key
    }
  }

  return {
    async sign(text, key) {
      // An Ed25519 signature costs little more than the way there and back.
      if (key.algorithm === 'ed25519-sha256') return signDigest(text, key).toString('base64')
      return await new Promise((resolve, reject) => {
        waiting.push({ text, key, resolve, reject })
        if (planned) return
        planned = true
        // Those that are ready in one turn of the event loop go over together.
        setImmediate(() => {
          planned = false
          give()
        })
      })
    },
    async close() {
      await thread?.terminate()
    },
  }
}
