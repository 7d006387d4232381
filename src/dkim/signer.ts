import { parentPort, Worker } from 'node:worker_threads'
import { onceATurn } from '../bounded/index.js'
import { type Clock, isRecent } from '../clock/index.js'
import { ApiError, messageOf } from '../errors/index.js'
import type { DkimKey } from './key.js'
import { type Signer, signDigest } from './sign.js'

interface Waiting {
  text: string
  key: SigningKey
  resolve: (signature: string) => void
  reject: (error: unknown) => void
}

const threadEntry = new URL('../threads/signing.js', import.meta.url)
// The thread holds only strings of about a kilobyte, so its heap stays small: 1 MB of new objects cost 1 µs a mail.
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 3 }
// So many signatures a second take 15 ms of the caller's thread. That is worth less than the 8 MB of another thread,
// and no mail of a quiet appliance waits for its start.
const mostHere = 50
const hereWithinMs = 1_000
const idleMs = 30_000
// So many orders that the thread has work while its caller is busy for some ms.
const maxOrders = 4
// Eight take some ms to sign; another mail waits for the texts of four orders at most.
const maxTexts = 8

// The mail is not at fault: it is deferred, and its next attempt gets another thread.
const ended = (why: string) =>
  new ApiError('service_unavailable', `The thread that signs has ended: ${why}`)

/**
 * Signs here while there is little to sign. From a burst on it signs in a thread of its own, until nothing came for
 * half a minute. Node's thread pool would do too, but it wakes a thread for each signature, which takes the core from
 * whoever asked for it, and syncs to disk wait behind the signatures. Here several go over at once (to one domain on 2
 * cores 5 % more mails a second, Nov 2026).
 */
export function openSigner(clock: Clock): Signer {
  let thread: Worker | undefined
  let lastKey: SigningKey | undefined
  let usedAt = 0
  let forgetRest = () => {}
  const isLittle = makeLittle(clock)
  const waiting: Waiting[] = []
  const underWay: Waiting[][] = []

  const end = (cause: Error) => {
    forgetRest()
    thread = undefined
    lastKey = undefined
    for (const { reject } of [...underWay.splice(0).flat(), ...waiting.splice(0)]) reject(cause)
  }
  /** Ends a thread that has had nothing to do for long; the next burst starts another. */
  const planRest = (ms: number) => {
    forgetRest = clock.after(ms, () => {
      const now = clock.now()
      const isBusy = underWay.length + waiting.length > 0
      if (isBusy) return planRest(idleMs)
      if (isRecent(usedAt, now, idleMs)) return planRest(idleMs - Math.abs(now - usedAt))
      void thread?.terminate()
      thread = undefined
      lastKey = undefined
    })
  }
  const start = (): Worker => {
    const started = new Worker(threadEntry, { name: 'signing', resourceLimits })
    started.unref()
    started.on('message', (report: SigningReport) => {
      const order = underWay.shift() ?? []
      try {
        const signatures = signaturesIn(report)
        for (const [i, { resolve }] of order.entries()) resolve(signatures[i] ?? '')
      } catch (error) {
        for (const { reject } of order) reject(error)
      }
      give()
    })
    started.once('error', (error: Error) => {
      if (thread === started) end(ended(error.message))
    })
    started.once('exit', () => {
      if (thread === started) end(ended('it has stopped'))
    })
    planRest(idleMs)
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
      usedAt = clock.now()
      const texts = order.map(({ text }) => text)
      const sent = key === lastKey ? undefined : key
      thread.postMessage({ texts, key: sent } satisfies SigningOrder)
      lastKey = key
    }
  }
  const giveSoon = onceATurn(give)

  return {
    async sign(text, key) {
      // An Ed25519 signature costs little more than the way to the thread and back.
      const isCheap = key.algorithm === 'ed25519-sha256'
      if (isCheap || (thread === undefined && isLittle())) {
        const [signature = ''] = signaturesIn(signAll([text], key))
        return signature
      }
      return await new Promise((resolve, reject) => {
        waiting.push({ text, key, resolve, reject })
        // Texts that are ready in one turn of the event loop go over together.
        giveSoon()
      })
    },
    async close() {
      forgetRest()
      await thread?.terminate()
    },
  }
}

/** Counts its calls; answers false once there are too many within a second. */
function makeLittle(clock: Clock): () => boolean {
  let since = 0
  let calls = 0
  return () => {
    const now = clock.now()
    if (!isRecent(since, now, hereWithinMs)) {
      since = now
      calls = 0
    }
    return ++calls <= mostHere
  }
}

type SigningKey = Pick<DkimKey, 'algorithm' | 'privateKey'>

/** Texts (octets as Latin-1 characters) to be signed with one key. */
interface SigningOrder {
  texts: readonly string[]
  /** Undefined: the key of the order before. */
  key: SigningKey | undefined
}

/** The signatures in base64 in the order of the texts, or why there is none. */
type SigningReport = { signatures: readonly string[] } | { fault: string }

function signaturesIn(report: SigningReport): readonly string[] {
  if ('fault' in report) throw new Error(`DKIM key: ${report.fault}`)
  return report.signatures
}

/** The life of the thread that signs, until its owner ends it. */
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
