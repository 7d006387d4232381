import { parentPort } from 'node:worker_threads'
import { cpuFileOfThread } from '../clock/index.js'
import type { DnsAnswer, DnsQuestion, Resolver } from '../dns/index.js'
import { messageOf } from '../errors/index.js'
import { type MailOrigin, type ReadMail, readMail } from './read-mail.js'

/** Messages from the reading thread; `mail` is the number with which the mail was handed over. */
export type ReadingReport =
  /** `cpuFile`: where the thread's processor time can be read; null where the kernel does not tell it. */
  | { kind: 'ready'; cpuFile: string | null }
  | { kind: 'read'; mail: number; read: ReadMail }
  | { kind: 'failed'; mail: number; why: string }
  | { kind: 'question'; mail: number; id: number; question: DnsQuestion; name: string }

/** Messages to the thread. */
export type ReadingOrder =
  | { kind: 'mail'; mail: number; raw: Uint8Array; origin: MailOrigin }
  | { kind: 'answer'; id: number; answer: DnsAnswer<unknown> }

/**
 * The whole life of the thread that reads received mails. It reads several at a time, as each waits for DNS answers
 * most of its time.
 */
export function serveReceived(): void {
  const port = parentPort
  if (port === null) throw new Error("This is a worker thread's entry, not a program")
  const post = (report: ReadingReport, moved: ArrayBuffer[] = []) => port.postMessage(report, moved)
  const waiting = new Map<number, (answer: DnsAnswer<unknown>) => void>()
  let asked = 0
  const resolverFor = (mail: number): Resolver => {
    const ask =
      <T>(question: DnsQuestion) =>
      (name: string) =>
        new Promise<DnsAnswer<T>>((resolve) => {
          const id = asked++
          waiting.set(id, resolve as (answer: DnsAnswer<unknown>) => void)
          post({ kind: 'question', mail, id, question, name })
        })
    return {
      txt: ask('txt'),
      a: ask('a'),
      aaaa: ask('aaaa'),
      mx: ask('mx'),
      cname: ask('cname'),
      // RFC 7208 §5.5: this mechanism should not be used.
      ptr: async () => ({ kind: 'none' }),
    }
  }
  const readOne = async (mail: number, raw: Buffer, origin: MailOrigin) => {
    try {
      const read = await readMail(raw, origin, resolverFor(mail))
      post({ kind: 'read', mail, read }, buffersOf(read))
    } catch (error) {
      post({ kind: 'failed', mail, why: messageOf(error).slice(0, 300) })
    }
  }
  port.on('message', (order: ReadingOrder) => {
    if (order.kind === 'answer') {
      waiting.get(order.id)?.(order.answer)
      waiting.delete(order.id)
      return
    }
    const { mail, raw, origin } = order
    void readOne(mail, Buffer.from(raw.buffer, raw.byteOffset, raw.length), origin)
  })
  post({ kind: 'ready', cpuFile: cpuFileOfThread() })
}

/** The memory of a mail's files, each once: it is handed over, not copied. */
const buffersOf = ({ attachments }: ReadMail): ArrayBuffer[] => [
  ...new Set(
    attachments.flatMap(({ bytes: { buffer } }) => (buffer instanceof ArrayBuffer ? [buffer] : [])),
  ),
]
