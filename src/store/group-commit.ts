import type { Kysely } from 'kysely'
import { type Clock, pause } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { RawDatabase } from './dialect.js'
import type { Tables } from './schema.js'
import type { Turns } from './turns.js'

/** Inside a write: awaits nothing but queries on `tx`, and may run again after a busy database. */
export type Tx = Kysely<Tables>
export type Write = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>

export interface GroupCommitOptions {
  raw: RawDatabase
  tx: Tx
  turns: Turns
  clock: Clock
  /** Called after every commit with what it took from its begin on; for metrics. */
  onCommit?: ((writes: number, seconds: number) => void) | undefined
}

interface Job {
  work: (tx: Tx) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

// Enough that an fsync costs little a write, few enough that the turn is soon passed on.
const maxWritesPerCommit = 200
// Others wait meanwhile, clients among them.
const maxTurnMs = 5
// The CLI may hold the database for a moment; a longer wait than this is a fault.
const busyRetries = 400
const busyPauseMs = 25

/**
 * The one way to write. Works that arrive while a commit is under way run one after another in the
 * next transaction, each in its own savepoint (one that throws undoes itself alone), and every one
 * of them answers only after the commit: a resolved write is on disk.
 */
export function makeGroupCommit(options: GroupCommitOptions): {
  write: Write
  /** Resolves when nothing is pending. */
  idle: () => Promise<void>
} {
  const pending: Job[] = []
  const statements = prepareStatements(options.raw)
  let running: Promise<void> | undefined

  const run = async () => {
    // One turn of the event loop, so that requests that were read together share the commit.
    await new Promise((resolve) => setImmediate(resolve))
    while (pending.length > 0) await commitSome(options, statements, pending)
    running = undefined
  }

  return {
    write: <T>(work: (tx: Tx) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        pending.push({ work, resolve: resolve as (value: unknown) => void, reject })
        running ??= run()
      }),
    idle: async () => {
      while (running !== undefined) await running
    },
  }
}

type Statements = ReturnType<typeof prepareStatements>

/** Run some times for every write, so prepared once. */
const prepareStatements = (raw: RawDatabase) => ({
  begin: raw.prepare('begin immediate'),
  savepoint: raw.prepare('savepoint work'),
  release: raw.prepare('release work'),
  commit: raw.prepare('commit'),
})

async function commitSome(
  options: GroupCommitOptions,
  statements: Statements,
  pending: Job[],
): Promise<void> {
  const { raw, turns } = options
  const answers: (() => void)[] = []
  const jobs: Job[] = []
  await turns.take()
  try {
    await begin(options, statements)
    const began = performance.now()
    const endAt = options.clock.now() + maxTurnMs
    while (pending.length > 0 && jobs.length < maxWritesPerCommit) {
      if (jobs.length > 0 && options.clock.now() >= endAt) break
      const job = pending.shift()
      if (job === undefined) break
      jobs.push(job)
      answers.push(await runOne(options, statements, job))
    }
    statements.commit.run()
    options.onCommit?.(jobs.length, (performance.now() - began) / 1_000)
  } catch (error) {
    if (raw.inTransaction) raw.exec('rollback')
    // begin itself failed: nobody has run yet, but everybody waits for the same database.
    if (jobs.length === 0) jobs.push(...pending.splice(0))
    const fault = unavailable(error)
    for (const job of jobs) job.reject(fault)
    return
  } finally {
    turns.release()
  }
  for (const answer of answers) answer()
}

async function runOne(
  { raw, tx }: GroupCommitOptions,
  { savepoint, release }: Statements,
  job: Job,
): Promise<() => void> {
  savepoint.run()
  try {
    const value = await job.work(tx)
    release.run()
    return () => job.resolve(value)
  } catch (error) {
    // A full disk or an I/O error makes SQLite roll back the whole transaction by itself.
    if (!raw.inTransaction || isStorageFault(error)) throw error
    raw.exec('rollback to work')
    release.run()
    // Answered after the commit too: what it saw may be another write's, not yet on disk.
    return () => job.reject(error)
  }
}

async function begin({ clock }: GroupCommitOptions, statements: Statements): Promise<void> {
  for (let left = busyRetries; ; left--) {
    try {
      statements.begin.run()
      return
    } catch (error) {
      if (left === 0 || sqliteCode(error) !== 'SQLITE_BUSY') throw error
    }
    await pause(clock, busyPauseMs)
  }
}

function unavailable(cause: unknown): unknown {
  if (sqliteCode(cause) === undefined) return cause
  const fault = new ApiError('service_unavailable', 'The database cannot be written just now', {
    headers: { 'retry-after': '5' },
  })
  fault.cause = cause
  return fault
}

function isStorageFault(error: unknown): boolean {
  return /^SQLITE_(FULL|IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|NOMEM)/.test(sqliteCode(error) ?? '')
}

/** `SQLITE_…`, or undefined for an error that is not the database's. */
function sqliteCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined
}
