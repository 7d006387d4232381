import type { Clock } from '../clock/index.js'
import type { Log } from '../log/index.js'
import { connectSmtp } from '../smtp/index.js'
import { type Accepted, openReceiver, type Receiver } from './receiver.js'
import { simulatorDomain } from './recipients.js'
import { writeBounce, writeComplaint } from './write-report.js'

/** Recipients that never leave the appliance. */
export interface Simulator {
  /** The address of its server, which listens from the first mail on. */
  address(): Promise<{ host: string; port: number }>
  close(): Promise<void>
}

/** What the simulator needs. */
export interface SimulatorDeps {
  clock: Clock
  log: Log
  /** The appliance's own listener, to which reports go; undefined: there is none. */
  inbound: Target | undefined
}

// By then the mail is recorded as delivered; a real server takes no less time.
const reportAfterMs = 1_000

/** The server behind the simulator's domain; it opens with the first mail that goes there. */
export function makeSimulator({ clock, log, inbound }: SimulatorDeps): Simulator {
  let receiver: Promise<Receiver> | undefined
  const stopping = new AbortController()
  const reports = new Set<() => void>()

  const report = async ({ mailFrom, recipient, header, report: kind }: Accepted) => {
    if (inbound === undefined) {
      log.warn({ recipient }, 'No report comes back: the inbound listener is off')
      return
    }
    const reported = { mailFrom, recipient, header, reporter: simulatorDomain, at: clock.now() }
    const feedback = `feedback@${mailFrom.slice(mailFrom.lastIndexOf('@') + 1)}`
    const [to, raw] =
      kind === 'bounce'
        ? [mailFrom, writeBounce(reported)]
        : [feedback, writeComplaint({ ...reported, feedback })]
    const result = await submitReport(
      inbound,
      { to, raw, heloName: simulatorDomain },
      stopping.signal,
    )
    if (result.kind !== 'accepted' && !stopping.signal.aborted) {
      log.warn({ recipient, cause: result.words }, 'A simulated report was not taken')
    }
  }

  const onAccepted = (mail: Accepted) => {
    if (mail.report === undefined || mail.mailFrom === '') return
    const cancel = clock.after(reportAfterMs, () => {
      reports.delete(cancel)
      void report(mail)
    })
    reports.add(cancel)
  }

  return {
    async address() {
      receiver ??= openReceiver({ clock, log, onAccepted })
      // If the server could not be opened, the next mail tries again.
      receiver.catch(() => {
        receiver = undefined
      })
      return { host: '127.0.0.1', port: (await receiver).port }
    },
    async close() {
      stopping.abort()
      for (const cancel of reports) cancel()
      await (await receiver)?.close()
    },
  }
}

/** An SMTP listener, by its IP address. */
export interface Target {
  host: string
  port: number
}

/** How this machine reaches its own listener: `0.0.0.0` is not an address to connect to. */
export function ownListener(host: string, port: number): Target {
  const anyOf: Readonly<Record<string, string>> = {
    '0.0.0.0': '127.0.0.1',
    '::': '::1',
    localhost: '127.0.0.1',
  }
  return { host: anyOf[host] ?? host, port }
}

/** What a listener answered to a report. */
export interface Submitted {
  kind: 'accepted' | 'refused' | 'unreachable'
  /** The listener's answer, or why there was none. */
  words: string
}

// The time for each command; a listener of our own answers at once.
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

/** One deadline for every command. */
const stepsOf = (ms: number) => ({
  connectMs: ms,
  bannerMs: ms,
  ehloMs: ms,
  startTlsMs: ms,
  mailMs: ms,
  rcptMs: ms,
  dataMs: ms,
  blockMs: ms,
  dotMs: ms,
  resetMs: ms,
  quitMs: 500,
})
