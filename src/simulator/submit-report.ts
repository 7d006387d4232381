import { connectSmtp } from '../smtp/index.js'

/** An SMTP listener, by its IP address. */
export interface Target {
  host: string
  port: number
}

export interface Submitted {
  accepted: boolean
  /** The listener's answer, or why there was none. */
  words: string
}

const stepMs = 10_000
const deadlines = {
  ...{ connectMs: stepMs, bannerMs: stepMs, ehloMs: stepMs, mailMs: stepMs, rcptMs: stepMs },
  ...{ dataMs: stepMs, blockMs: stepMs, dotMs: stepMs, resetMs: stepMs, quitMs: 500 },
}

/** Brings a report to a listener as another mail server would, from the null sender. */
export async function submitReport(
  target: Target,
  report: { to: string; raw: Buffer; heloName: string },
  signal?: AbortSignal,
): Promise<Submitted> {
  const opened = await connectSmtp({
    ...target,
    heloName: report.heloName,
    tls: { mode: 'opportunistic' },
    deadlines,
    ...(signal === undefined ? {} : { signal }),
  })
  if (opened.kind !== 'ready') return { accepted: false, words: opened.cause }
  const { connection } = opened
  const result = await connection.send({ from: '', to: report.to }, [report.raw])
  connection.quit()
  if (result.kind === 'lost') return { accepted: false, words: result.cause }
  return {
    accepted: result.kind === 'accepted',
    words: `${result.reply.code} ${result.reply.text}`,
  }
}
