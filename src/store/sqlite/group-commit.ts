import { nextTurn } from '../../bounded/index.js'
import { type Clock, pause, systemClock } from '../../clock/index.js'
import { isPassing, reportFault, unwritable } from '../fault.js'
import type { OnFault } from '../trouble.js'
import type { WriteTurns } from '../turns.js'
import { type Gather, makeWriters, type Tx, type Write, type Writing } from '../writing.js'
import type { RawDatabase } from './connection.js'
import { isBusy, troubleOf } from './errors.js'

export interface GroupCommitOptions {
  raw: RawDatabase
  tx: Tx
  turns: WriteTurns
  clock: Clock
  /** Brings what was committed to the disk. */
  flush: () => Promise<void>
  /** How many transactions share a sync under load; writers wait for all of them; 4 if not given. */
  maxCommitsPerFlush?: number
  /** Called at each commit, before anybody is answered. */
  afterCommit?: () => void
  /** Called after every commit with its duration from the begin on; for metrics. */
  onCommit?: ((writes: number, seconds: number) => void) | undefined
  /** Called with how long the thread waited for its turn; for metrics. */
  onTurn?: ((seconds: number) => void) | undefined
  onFault?: OnFault | undefined
}

// Enough that an fsync costs each write little, and few enough that the turn is soon passed on.
const maxWritesPerCommit = 200
// Others wait meanwhile, clients among them.
const maxTurnMs = 5
// The CLI may hold the database for a moment; a longer wait than this is a fault.
const busyRetries = 400
const busyPauseMs = 25

/**
 * The one way to write. Works that arrive while a commit is on its way to the disk run one after another in the next
 * transaction, each in its own savepoint (one that throws undoes only itself), and each answers only when it is on
 * disk. The thread goes on with other things meanwhile, and so do the writers of other threads. Gathered items are
 * one of these works; when it throws it becomes two of half the size.
 */
export function makeGroupCommit(options: GroupCommitOptions): {
  write: Write
  gather: Gather
  /** Resolves when nothing is pending. */
  idle: () => Promise<void>
} {
  const pending: Writing[] = []
  const statements = prepareStatements(options.raw)
  let running: Promise<void> | undefined

  const run = async () => {
    // One turn of the event loop, so that requests that were read together share the commit.
    await nextTurn()
    while (pending.length > 0) await commitAndFlush(options, statements, pending)
    running = undefined
  }

  const writers = makeWriters(pending, (writing) => {
    pending.push(writing)
    running ??= run()
  })
  return {
    ...writers,
    idle: async () => {
      while (running !== undefined) await running
    },
  }
}

type Statements = ReturnType<typeof prepareStatements>

/** These run several times for every write, so they are prepared once. */
const prepareStatements = (raw: RawDatabase) => ({
  begin: raw.prepare('begin immediate'),
  savepoint: raw.prepare('savepoint work'),
  release: raw.prepare('release work'),
  commit: raw.prepare('commit'),
})

/**
 * Several commits share one fsync: work that came while the first was running is committed too, and only then the log
 * is synced and everybody answered. The bound keeps the first from waiting for ever.
 */
async function commitAndFlush(
  options: GroupCommitOptions,
  statements: Statements,
  pending: Writing[],
): Promise<void> {
  const answers: Answer[] = []
  const began = performance.now()
  const { maxCommitsPerFlush = 4 } = options
  for (let commits = 0; commits < maxCommitsPerFlush && pending.length > 0; commits++) {
    if (commits > 0) await nextTurn()
    answers.push(...(await commitSome(options, statements, pending)))
  }
  if (answers.length === 0) return
  try {
    await options.flush()
  } catch (error) {
    const fault = unwritable(error)
    for (const { writing } of answers) writing.fail(fault)
    return
  }
  const writes = answers.reduce((sum, { writing }) => sum + writing.size(), 0)
  options.onCommit?.(writes, (performance.now() - began) / 1_000)
  for (const { tells } of answers) for (const tell of tells) tell()
}

/** What callers are told once it is on disk. */
interface Answer {
  writing: Writing
  tells: (() => void)[]
}

/** One transaction; what it returns is committed, but perhaps not on disk. */
async function commitSome(
  options: GroupCommitOptions,
  statements: Statements,
  pending: Writing[],
): Promise<Answer[]> {
  const { raw, turns } = options
  const answers: Answer[] = []
  const begun: Writing[] = []
  let writes = 0
  const asked = performance.now()
  await turns.take()
  options.onTurn?.((performance.now() - asked) / 1_000)
  try {
    await begin(statements)
    const endAt = options.clock.now() + maxTurnMs
    while (pending.length > 0 && writes < maxWritesPerCommit) {
      if (begun.length > 0 && (turns.isWanted() || options.clock.now() >= endAt)) break
      const writing = pending.shift()
      if (writing === undefined) break
      begun.push(writing)
      writes += writing.size()
      answers.push({ writing, tells: await runOne(options, statements, writing) })
    }
    statements.commit.run()
    options.afterCommit?.()
    for (const { writing } of answers) writing.committed()
    return answers
  } catch (error) {
    reportFault(error, options.onFault)
    if (raw.inTransaction) raw.exec('rollback')
    // `begin` itself failed: no work has run yet, but all wait for the same database.
    if (begun.length === 0) begun.push(...pending.splice(0))
    // A single work has undone the whole transaction: the others run again without it.
    const culprit = isPassing(error) ? undefined : begun.pop()
    if (culprit !== undefined) {
      const halves = culprit.halves()
      if (halves.length === 0) culprit.fail(error)
      pending.unshift(...begun, ...halves)
      return []
    }
    const fault = unavailable(error)
    for (const writing of begun) writing.fail(fault)
    return []
  } finally {
    turns.release()
  }
}

/** Each writing is a savepoint within the shared transaction, so that one that throws undoes only its own rows. */
async function runOne(
  options: GroupCommitOptions,
  statements: Statements,
  writing: Writing,
): Promise<(() => void)[]> {
  const { raw, tx } = options
  statements.savepoint.run()
  try {
    const tells = await writing.run(tx)
    statements.release.run()
    return tells
  } catch (error) {
    // A full disk or an I/O error makes SQLite roll back the whole transaction by itself.
    const isStorages = troubleOf(error)?.passes === true
    if (!raw.inTransaction || isStorages) throw error
    raw.exec('rollback to work')
    statements.release.run()
    const halves = writing.halves()
    // An error is also answered after the commit: what the work saw may be another write's, and not yet on disk.
    if (halves.length === 0) return [() => writing.fail(error)]
    const tells: (() => void)[] = []
    for (const half of halves) tells.push(...(await runOne(options, statements, half)))
    return tells
  }
}

/**
 * `begin immediate` takes the write lock at once: a transaction that read first and wrote later
 * would fail with SQLITE_BUSY_SNAPSHOT.
 */
async function begin(statements: Statements): Promise<void> {
  for (let left = busyRetries; ; left--) {
    try {
      statements.begin.run()
      return
    } catch (error) {
      if (left === 0 || !isBusy(error)) throw error
    }
    // Another process holds the lock, so the pause goes by the system's time.
    await pause(systemClock, busyPauseMs)
  }
}

function unavailable(cause: unknown): unknown {
  return troubleOf(cause) === undefined ? cause : unwritable(cause)
}
