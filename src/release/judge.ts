import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { type Clock, pause } from '../clock/index.js'
import type { Reason } from '../doctor/index.js'
import { messageOf } from '../errors/index.js'
import type { Service } from './run.js'

/** What the running appliance says about itself. */
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
// systemd restarts a process that died. This many looks in a row without an answer are no accident.
const missedLooks = 4

/** Why an appliance takes no mail, or does not even say so. */
interface Unready {
  what: Reason['what'] | 'silent'
  says: string
}

/**
 * Reasons that no release can help, and that the old release would give too: going back would mend nothing. `held` is
 * what the upgrade itself has asked for.
 */
const ofTheMachine: readonly Unready['what'][] = ['held', 'disk', 'room', 'queue']

/** Whether a release is to be given up for a reason of its `/readyz` or `/healthz`. */
export const speaksAgainst = ({ what }: Unready): boolean => !ofTheMachine.includes(what)

/**
 * Waits until the appliance of that release says that it is ready, apart from reasons that no release can help. Returns
 * why it is not ready when the time is over or its process ended; undefined: it is healthy.
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
        const reasons = (await unready(running)).filter(speaksAgainst)
        if (reasons.length === 0) return undefined
        why = inWords(reasons)
      }
    } else if (await service.isActive()) missed = 0
    else if (++missed >= missedLooks) return 'its process ends'
    await pause(clock, lookEveryMs)
  }
  return `within ${timeoutMs / 1_000} s: ${why}`
}

/** Asks, as a load balancer does, why the appliance takes no mail; empty where it takes mail. */
export async function unready({ api }: RunningRelease): Promise<Unready[]> {
  if (api === undefined) return [{ what: 'silent', says: 'its API does not listen' }]
  try {
    const { status, text } = await get(`${api}/readyz`)
    return status === 200 ? [] : (JSON.parse(text) as { reasons: Reason[] }).reasons
  } catch (error) {
    return [{ what: 'silent', says: `its API at ${api} does not answer: ${messageOf(error)}` }]
  }
}

export const inWords = (reasons: readonly Unready[]): string =>
  reasons.map(({ says }) => says).join('; ')

function get(url: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    // The listener's certificate is for a name and not for this address; no secret is sent here.
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
