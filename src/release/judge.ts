import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { type Clock, pause } from '../clock/index.js'
import type { Service } from './run.js'

/** What the running appliance tells of itself. */
export interface RunningRelease {
  /** The name of its release. */
  release: string
  /** Where its API listens. */
  api: string | undefined
}

export interface JudgeDeps {
  service: Service
  clock: Clock
  timeoutMs: number
  /** Asks the appliance; undefined while none answers. */
  appliance(): Promise<RunningRelease | undefined>
}

const lookEveryMs = 500
const answerMs = 5_000
// systemd starts a process that died again; so many looks in a row without one, and it is no accident.
const missedLooks = 4

/**
 * Waits until the appliance of that release says that it is ready, but for the hold where there is one. Returns
 * why it does not, when the time is over or its process ended; undefined: it is healthy.
 */
export async function judge(
  { service, clock, timeoutMs, appliance }: JudgeDeps,
  release: string,
): Promise<string | undefined> {
  const until = clock.now() + timeoutMs
  let missed = 0
  let why = 'it does not answer'
  while (clock.now() < until) {
    const running = await appliance()
    if (running !== undefined) {
      missed = 0
      if (running.release !== release) why = `${running.release} answers in its place`
      else {
        const reasons = await unready(running)
        if (reasons === undefined) return undefined
        why = reasons
      }
    } else if (await service.isActive()) missed = 0
    else if (++missed >= missedLooks) return 'its process ends'
    await pause(clock, lookEveryMs)
  }
  return `within ${timeoutMs / 1_000} s: ${why}`
}

/** Asks as a load balancer does; undefined: it is ready. */
async function unready({ api }: RunningRelease): Promise<string | undefined> {
  if (api === undefined) return 'its API does not listen'
  try {
    const { status, text } = await get(`${api}/readyz`)
    if (status === 200) return undefined
    const { reasons } = JSON.parse(text) as { reasons: { what: string; says: string }[] }
    const others = reasons.filter(({ what }) => what !== 'held')
    return others.length === 0 ? undefined : others.map(({ says }) => says).join('; ')
  } catch (error) {
    return `its API at ${api} does not answer: ${error instanceof Error ? error.message : error}`
  }
}

function get(url: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    // The listener's certificate is for a name and not for this address, over which no secret goes.
    const request = url.startsWith('https:')
      ? tlsRequest(url, { rejectUnauthorized: false })
      : plainRequest(url)
    request.setTimeout(answerMs, () => request.destroy(new Error('it takes too long')))
    request.once('error', reject)
    request.once('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.once('error', reject)
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    request.end()
  })
}
