import type { Kysely } from 'kysely'
import { type Clock, pause, systemClock } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { RawDatabase } from './dialect.js'
import { isPassing, type OnFault, reportFault, sqliteCode } from './fault.js'
import type { Tables } from './schema.js'
import type { WriteTurns } from './turns.js'

/** Inside a write: awaits nothing but queries on `tx`, and may run again after a busy database. */
export type Tx = Kysely<Tables>
export type Write = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>

export interface GroupCommitOptions {
  raw: RawDatabase
  tx: Tx
  turns: WriteTurns
  clock: Clock
  /** Brings what was committed to the disk. */
  flush: () => Promise<void>
  /** Under load so many transactions share a sync, and those that write wait for all of them; 4 if not given. */
  maxCommitsPerFlush?: number
  /** Called after every commit with what it took from its begin on; for metrics. */
  onCommit?: ((writes: number, seconds: number) => void) | undefined
  /** Called with how long the thread waited for its turn; for metrics. */
  onTurn?: ((seconds: number) => void) | undefined
  onFault?: OnFault | undefined
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
 * The one way to write. Works that arrive while a commit is on its way to the disk run one after
 * another in the next transaction, each in its own savepoint (one that throws undoes itself alone), and
 * every one of them answers only when it is there: a resolved write is on disk. The thread goes on
 * with other things meanwhile, and so do the writers of other threads.
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
    while (pending.length > 0) await commitAndFlush(options, statements, pending)
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

async function commitAndFlush(
  options: GroupCommitOptions,
  statements: Statements,
  pending: Job[],
): Promise<void> {
  const answers: Answer[] = []
  const began = performance.now()
  const { maxCommitsPerFlush = 4 } = options
  for (let commits = 0; commits < maxCommitsPerFlush && pending.length > 0; commits++) {
    if (commits > 0) await new Promise((resolve) => setImmediate(resolve))
    answers.push(...(await commitSome(options, statements, pending)))
  }
  if (answers.length === 0) return
  try {
    await options.flush()
  } catch (error) {
    const fault = unwritable(error)
    for (const { job } of answers) job.reject(fault)
    return
  }
  options.onCommit?.(answers.length, (performance.now() - began) / 1_000)
  for (const { tell } of answers) tell()
}

/** What a work is told once it is on disk. */
interface Answer {
  job: Job
  tell: () => void
}

/** One transaction; what it returns is committed, but perhaps not on disk. */
async function commitSome(
  options: GroupCommitOptions,
  statements: Statements,
  pending: Job[],
): Promise<Answer[]> {
  const { raw, turns } = options
  const answers: Answer[] = []
  const jobs: Job[] = []
  const asked = performance.now()
  await turns.take()
  options.onTurn?.((performance.now() - asked) / 1_000)
  try {
    await begin(statements)
    const endAt = options.clock.now() + maxTurnMs
    while (pending.length > 0 && jobs.length < maxWritesPerCommit) {
      if (jobs.length > 0 && (turns.isWanted() || options.clock.now() >= endAt)) break
      const job = pending.shift()
      if (job === undefined) break
      jobs.push(job)
      answers.push({ job, tell: await runOne(options, statements, job) })
    }
    statements.commit.run()
    return answers
  } catch (error) {
    reportFault(error, options.onFault)
    if (raw.inTransaction) raw.exec('rollback')
    // begin itself failed: nobody has run yet, but everybody waits for the same database.
    if (jobs.length === 0) jobs.push(...pending.splice(0))
    // One work alone has undone all of it: the others run again without it.
    const culprit = isPassing(error) ? undefined : jobs.pop()
    if (culprit !== undefined) {
      culprit.reject(error)
      pending.unshift(...jobs)
      return []
    }
    const fault = unavailable(error)
    for (const job of jobs) job.reject(fault)
    return []
  } finally {
    turns.release()
  }
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
    const isStorages = sqliteCode(error) !== undefined && isPassing(error)
    if (!raw.inTransaction || isStorages) throw error
    raw.exec('rollback to work')
    release.run()
    // Answered after the commit too: what it saw may be another write's, not yet on disk.
    return () => job.reject(error)
  }
}

async function begin(statements: Statements): Promise<void> {
  for (let left = busyRetries; ; left--) {
    try {
      statements.begin.run()
      return
    } catch (error) {
      if (left === 0 || sqliteCode(error) !== 'SQLITE_BUSY') throw error
    }
    // Another process holds it, whose time is the system's whatever clock this one has.
    await pause(systemClock, busyPauseMs)
  }
}

function unavailable(cause: unknown): unknown {
  return sqliteCode(cause) === undefined ? cause : unwritable(cause)
}

function unwritable(cause: unknown): ApiError {
  const fault = new ApiError('service_unavailable', 'The database cannot be written just now', {
    headers: { 'retry-after': '5' },
  })
  fault.cause = cause
  return fault
}
