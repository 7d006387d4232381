import { MessageChannel, Worker } from 'node:worker_threads'
import type { Config } from '../config/index.js'
import { ApiError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { forgetTurn } from '../store/index.js'
import type { ContactImportCounts, ContactImportOptions } from './import.js'
import { fromRefusal, type PortableError, toRefusal } from './refusal.js'

/** Imports in a separate thread, so that parsing and writing a million rows hold up no client. */
export interface Importer {
  /** Does the same as `importContacts`. */
  run(
    accountId: string,
    file: AsyncIterable<Uint8Array>,
    options: ContactImportOptions,
  ): Promise<ContactImportCounts>
  /** Resolves when the imports under way have ended; first their files have to end, or fail. */
  close(): Promise<void>
}

/** What the thread gets at its start. */
export interface ImporterOptions {
  /** The settings that the thread's effects need. */
  config: Pick<Config, 'automations' | 'store'>
  dataDir: string
  turns: SharedArrayBuffer
  /** The thread's own number in `turns`. */
  slot: number
  log: Log
}

/** What the thread gets with the port of an import. */
export interface ImportJob {
  accountId: string
  options: ContactImportOptions
}

/** Messages from the thread: it wants the next piece, or is done. */
export type FromThread =
  | { kind: 'more' }
  | { kind: 'done'; counts: ContactImportCounts }
  | { kind: 'refused'; refusal: PortableError }
  | { kind: 'failed'; error: unknown }

/** Messages to the thread: a piece of the file, or its end; `refusal` is for the file's sender. */
export type ToThread =
  | { kind: 'piece'; bytes: Uint8Array }
  | { kind: 'end' }
  | { kind: 'broken'; refusal?: PortableError }

/** A thread and the number of its imports. */
interface Thread {
  worker: Worker
  running: number
  gone: Promise<void>
}

// Little lives longer than a batch; without limits V8 first lets garbage grow to 48 MB.
const resourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 }
const entry = new URL('../threads/import.js', import.meta.url)

/** Errors that were caused by the thread's own end. */
const deaths = new WeakSet<object>()

/** Whether an import was broken off because its thread has ended, perhaps through the import's fault. */
export const isThreadDeath = (error: unknown): boolean =>
  error instanceof Error && deaths.has(error)

/** The thread lives only while there are imports, as its memory serves nothing else. */
export function openImporter({ config, dataDir, turns, slot, log }: ImporterOptions): Importer {
  let thread: Thread | undefined
  // One import at a time has the slot.
  let last: Promise<void> = Promise.resolve()

  const start = (): Thread => {
    const workerData = {
      config: { automations: config.automations, store: config.store },
      dataDir,
      turns,
      slot,
    }
    const worker = new Worker(entry, { workerData, name: 'import', resourceLimits })
    worker.on('error', (error) => log.error({ error }, 'The import thread died'))
    const gone = new Promise<void>((resolve) => {
      worker.once('exit', () => {
        if (thread === started) thread = undefined
        forgetTurn(turns, slot)
        resolve()
      })
    })
    const started = { worker, running: 0, gone }
    last = gone
    return started
  }

  return {
    async run(accountId, file, options) {
      while (thread === undefined) {
        const before = last
        await before
        if (last === before) thread ??= start()
      }
      const used = thread
      used.running++
      try {
        return await runIn(used, { accountId, options }, file)
      } finally {
        used.running--
        if (used.running === 0) {
          if (thread === used) thread = undefined
          used.worker.postMessage('stop')
        }
      }
    },
    close: () => last,
  }
}

/** Runs an import in a thread, which gets pieces of the file as it asks for them. */
function runIn(
  { worker, gone }: Thread,
  job: ImportJob,
  file: AsyncIterable<Uint8Array>,
): Promise<ContactImportCounts> {
  const { port1: port, port2 } = new MessageChannel()
  const pieces = file[Symbol.asyncIterator]()
  let fault: unknown
  const feed = async () => {
    try {
      const { done, value } = await pieces.next()
      if (done) return port.postMessage({ kind: 'end' } satisfies ToThread)
      // A copy that can be handed over: pieces may be views of one shared buffer.
      const bytes = new Uint8Array(value)
      port.postMessage({ kind: 'piece', bytes } satisfies ToThread, [bytes.buffer])
    } catch (error) {
      // The thread adds what is in by now.
      const refusal = error instanceof ApiError ? toRefusal(error) : undefined
      if (refusal === undefined) fault = error
      port.postMessage({ kind: 'broken', ...(refusal && { refusal }) } satisfies ToThread)
    }
  }
  return new Promise<ContactImportCounts>((resolve, reject) => {
    port.on('message', (message: FromThread) => {
      if (message.kind === 'more') void feed()
      else if (message.kind === 'done') resolve(message.counts)
      else if (fault !== undefined) reject(fault)
      else if (message.kind === 'failed') reject(message.error)
      else reject(fromRefusal(message.refusal))
    })
    void gone.then(() => {
      const message =
        'The import was broken off. The rows that were read are imported: send the file again for the others'
      const death = new ApiError('service_unavailable', message, {
        headers: { 'Retry-After': '5' },
      })
      deaths.add(death)
      reject(death)
    })
    worker.postMessage({ port: port2, job }, [port2])
  }).finally(() => port.close())
}
