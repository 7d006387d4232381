import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import type { JobRun } from '../calendar/index.js'
import {
  type LiveGate,
  maxRetried,
  type RetriedLanes,
  type StreamKey,
} from '../deliveries/index.js'
import type { Overview } from '../doctor/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { Calendar } from './calendar.js'
import type { Crew } from './crew.js'
import { controlSocket, isSocketPath } from './files.js'

/** What a command asks or tells the running appliance; a line of JSON, answered with one. */
export type ControlQuestion =
  | { gateOf: StreamKey }
  | { retry: RetriedLanes }
  /** `wait`: the answer comes when the run has ended. */
  | { runJob: string; wait: boolean }
  /** How the appliance stands. */
  | { overview: true }
  /** Which plans it has read. */
  | { plans: true }

/** The gate is null too where none was asked for. */
export interface ControlAnswer {
  gate: LiveGate | null
  job?: JobAnswer
  overview?: Overview
  /** Their ids. */
  plans?: readonly string[]
}

export type JobAnswer =
  | { kind: 'unknown' }
  | { kind: 'under way'; since: number }
  | { kind: 'started'; behind?: string }
  | { kind: 'ended'; run: JobRun }
  | { kind: 'not begun'; cause: string }

export interface Control {
  close(): Promise<void>
}

// The longest question is a retry: each of its lanes is a domain name of at most 253 characters (RFC 1035 §2.3.4),
// with its quotes and a comma.
const maxQuestion = 300 * maxRetried
// A command asks at once and waits for one answer; a program that hangs must not hold a socket for good.
const idleMs = 10_000

/**
 * Answers the CLI over a socket in the data directory, which only its owner may enter: what is known
 * in memory alone. Without it (a path too long for a socket) commands say what the database knows.
 */
export async function openControl(
  dataDir: string,
  log: Log,
  crew: Pick<Crew, 'gateOf' | 'retry'>,
  calendar: Pick<Calendar, 'runNow'>,
  { overview, planIds }: { overview: () => Promise<Overview>; planIds: readonly string[] },
): Promise<Control> {
  const path = controlSocket(dataDir)
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket)).on('error', () => {})
    socket.setTimeout(idleMs, () => socket.destroy())
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const end = text.indexOf('\n')
      if (end < 0) return text.length > maxQuestion ? void socket.destroy() : undefined
      const question = read(text.slice(0, end))
      text = ''
      if (question === undefined) return void socket.destroy()
      const answer = (gate: LiveGate | null, more: Omit<ControlAnswer, 'gate'> = {}) =>
        socket.end(`${JSON.stringify({ gate, ...more } satisfies ControlAnswer)}\n`)
      if ('retry' in question) {
        crew.retry(question.retry)
        answer(null)
      } else if ('runJob' in question) {
        // It may take hours.
        socket.setTimeout(0)
        void runJob(calendar, question).then((job) => answer(null, { job }))
      } else if ('plans' in question) answer(null, { plans: planIds })
      else if ('overview' in question) {
        overview().then(
          (told) => answer(null, { overview: told }),
          (error: unknown) => {
            log.error({ error }, 'The figures for posthorn top could not be collected')
            socket.destroy()
          },
        )
      } else void crew.gateOf(question.gateOf).then((gate) => answer(gate ?? null))
    })
  })
  // Left over from a process that was killed; the lock says that no other one runs.
  rmSync(path, { force: true })
  const listens = await new Promise<boolean>((resolve) => {
    const fail = (cause: string) => {
      log.warn({ path, cause }, 'No control socket: commands know less')
      resolve(false)
    }
    if (!isSocketPath(path)) return fail('The name of the data directory is too long')
    server.once('error', ({ message }) => fail(message))
    server.listen(path, () => resolve(true))
  })
  return {
    async close() {
      for (const socket of open) socket.destroy()
      if (listens) await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Waits for the end only where asked to, since jobs may take hours. */
async function runJob(
  calendar: Pick<Calendar, 'runNow'>,
  { runJob: name, wait }: { runJob: string; wait: boolean },
): Promise<JobAnswer> {
  const started = calendar.runNow(name)
  if (started === undefined) return { kind: 'unknown' }
  if (started.kind === 'under way') return started
  const { behind, ended } = started
  if (!wait) return { kind: 'started', ...(behind !== undefined && { behind }) }
  return await ended.then(
    (run) => ({ kind: 'ended', run }),
    (error) => ({ kind: 'not begun', cause: messageOf(error) }),
  )
}

/**
 * The socket is in the data directory, so only who may read the database can ask; what comes is
 * judged all the same.
 */
function read(line: string): ControlQuestion | undefined {
  try {
    const question = JSON.parse(line) as ControlQuestion
    if ('retry' in question) {
      const { retry } = question
      const fits = retry === 'all' || retry.every((lane) => typeof lane === 'string')
      return fits ? { retry } : undefined
    }
    if ('runJob' in question) {
      const { runJob, wait } = question
      return typeof runJob === 'string' ? { runJob, wait: wait === true } : undefined
    }
    if ('overview' in question) return { overview: true }
    if ('plans' in question) return { plans: true }
    const { gateOf } = question
    const fits =
      typeof gateOf.lane === 'string' &&
      typeof gateOf.accountId === 'string' &&
      [0, 1, 2].includes(gateOf.class)
    return fits ? { gateOf } : undefined
  } catch {
    return undefined
  }
}
