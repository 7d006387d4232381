import type { Client } from './client.js'

export type ListenerName = 'starttls' | 'tls' | 'plain'

/** What is known of a session while it lasts, and told of it afterwards. */
export interface Course {
  listener: ListenerName
  beganAt: number
  client: Client | undefined
  /** As given beside the key, which alone counts. */
  user: string | undefined
  tls: string | undefined
  /** Of the mail under way, in the order of RCPT, by the canonical address. */
  recipients: Map<string, string>
  mailFrom: string
  accepted: number
  refused: number
  /** The first ids that were given out. */
  emailIds: string[]
  lastRefusal: string | undefined
  transcript: Transcript
}

interface Transcript {
  add(line: string): void
  text(): string
}

const maxLines = 120
const maxLineLength = 300

/** The lines of a session: its beginning and its end, as a long one repeats itself in between. */
export function makeTranscript(): Transcript {
  const first: string[] = []
  const last: string[] = []
  let left = 0
  return {
    add(text) {
      const line = text.replace(/\p{Cc}/gu, '?').slice(0, maxLineLength)
      if (first.length < maxLines / 2) return void first.push(line)
      last.push(line)
      if (last.length <= maxLines / 2) return
      last.shift()
      left++
    },
    text: () => [...first, ...(left > 0 ? [`… ${left} lines …`] : []), ...last].join('\n'),
  }
}
