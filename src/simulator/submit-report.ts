import { connectSmtp } from '../smtp/index.js'

/** An SMTP listener, by its IP address. */
export interface Target {
  host: string
  port: number
}

/** Where a listener of this machine is reached from itself: `0.0.0.0` is no address to connect to. */
export function ownListener(host: string, port: number): Target {
  const anyOf: Readonly<Record<string, string>> = {
    '0.0.0.0': '127.0.0.1',
    '::': '::1',
    localhost: '127.0.0.1',
  }
  return { host: anyOf[host] ?? host, port }
}

export interface Submitted {
  kind: 'accepted' | 'refused' | 'unreachable'
  /** The listener's answer, or why there was none. */
  words: string
}

const usualStepMs = 10_000

/** Brings a report to a listener as another mail server would, from the null sender. */
export async function submitReport(
  target: Target,
  report: { to: string; raw: Buffer; heloName: string; stepMs?: number },
  signal?: AbortSignal,
): Promise<Submitted> {
  const opened = await connectSmtp({
    ...target,
    heloName: report.heloName,
    tls: { mode: 'opportunistic' },
    deadlines: stepsOf(report.stepMs ?? usualStepMs),
    ...(signal === undefined ? {} : { signal }),
  })
  if (opened.kind !== 'ready') return { kind: 'unreachable', words: opened.cause }
  const { connection } = opened
  const result = await connection.send({ from: '', to: report.to }, [report.raw])
  connection.quit()
  if (result.kind === 'lost') return { kind: 'unreachable', words: result.cause }
  const kind = result.kind === 'accepted' ? 'accepted' : 'refused'
  return { kind, words: `${result.reply.code} ${result.reply.text}` }
}

const stepsOf = (ms: number) => ({
  ...{ connectMs: ms, bannerMs: ms, ehloMs: ms, startTlsMs: ms, mailMs: ms, rcptMs: ms },
  ...{ dataMs: ms, blockMs: ms, dotMs: ms, resetMs: ms, quitMs: 500 },
})
