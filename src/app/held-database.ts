import { type Clock, isRecent, pause } from '../clock/index.js'
import { exitStatus, OperatorError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import {
  beat,
  beatEveryMs,
  type Comer,
  type Holding,
  holderOf,
  lastBeatOf,
  markedLoss,
  markLoss,
  type OthersSeen,
  readLastBeat,
  saysBack,
  takeDatabase,
  wentBack,
  writeLastBeat,
} from '../nodes/index.js'
import {
  becomeNode,
  commandSlot,
  type DatabasePlace,
  databaseCalled,
  isFenced,
  isPassing,
  joinTurns,
  monotonicMs,
  noteAlive,
  noteOthersCommit,
  openStore,
  type ServerFacts,
  type Store,
  weakServer,
  wordsOfCause,
} from '../store/index.js'
import { setAlive } from './health.js'
import type { Chore } from './housekeeping.js'

interface Deps {
  database: DatabasePlace
  clock: Clock
  log: Log
  /** Trusted, whatever the server might lose. */
  isTrusted: boolean
  /** What the start has asked the server. */
  facts: ServerFacts | undefined
  turns: SharedArrayBuffer
  comer: Comer
}

// How often it looks whether the node before has let go.
const lookEveryMs = 500
const writeEveryMs = 10_000
// Less than a lease: then others may end this node's epoch.
const lastWordsMs = 5_000
const foreverMs = 3_600_000
// For a start, which goes by it where mail waits for hours.
const sayEveryMs = 15_000
const mainSlot = 0

/**
 * Takes a database that is no file of the data directory, before any thread opens it, since it tells the threads who
 * they are. Waits until the lease of a node that is gone has ended. Throws an `OperatorError` where another appliance
 * is alive that this one may not be beside, or the database went back in time.
 */
export async function takeServer(deps: Deps): Promise<Holding> {
  const { database, clock, turns, comer } = deps
  requireDurable(deps)
  const store = await openStore({ ...database, clock, turns, slot: commandSlot })
  try {
    const own = wentBack(readLastBeat(database.dataDir), await lastBeatOf(store.read, comer.name))
    const ms = own ?? (await markedLoss(store.read))?.ms
    if (ms !== undefined)
      throw new OperatorError(saysBack(database, ms), { status: exitStatus.misplaced })
    const sentAt = monotonicMs()
    const held = await takeInTurn(store, deps)
    becomeNode(turns, held)
    noteAlive(turns, sentAt)
    return held
  } finally {
    await store.close()
  }
}

interface KeepDeps extends Pick<Deps, 'database' | 'clock' | 'log' | 'turns'> {
  store: Store
  meter: Pick<Meter, 'gauge'>
  /** Each sign of life calls it. */
  onHolding: (held: Holding) => void
  /** Writes down what this node knows to have sent, in a database that has forgotten it. */
  settleSent: () => Promise<void>
}

/** Tells at each sign of life whether others have committed since the last one. */
function makeCommitLook(first: OthersSeen): (seen: OthersSeen) => boolean {
  let known = first.commits
  let isDoubtful = false
  return ({ commits, unsure }) => {
    const maybeSame = known <= commits && known >= commits - unsure
    // A commit under way here is counted when it has ended. Where it does not end, one look too many is better than
    // none.
    const wasDoubtful = isDoubtful
    isDoubtful = maybeSame && unsure > 0 && !wasDoubtful
    if (!maybeSame) known = commits
    return !maybeSame || (unsure > 0 && wasDoubtful)
  }
}

/**
 * The chore that keeps the database. Ends the process when others have taken this appliance for dead, or the database
 * went back in time.
 */
export function keepDatabase(
  { store, database, clock, log, meter, turns, onHolding, settleSent }: KeepDeps,
  first: Holding,
): Chore {
  let held = first
  const { transactions } = joinTurns(turns, mainSlot)
  const haveCommitted = makeCommitLook(first.others)
  let writtenAt: number | undefined
  let saidAt: number | undefined
  let isAway = false
  const end = (why: string, status: number): never => {
    log.error({}, why)
    process.exit(status)
  }
  /**
   * Tells why the database is not this appliance's any more. If it knows less than it has acknowledged, it went back in
   * time and nobody else has taken it.
   */
  const endLost = async () => {
    const expected = { beat: held.beat, at: clock.now() }
    const ms = await lastBeatOf(store.read, held.name).then(
      (beat) => wentBack(expected, beat),
      () => undefined,
    )
    if (ms === undefined) return end(saysLost(database), exitStatus.failed)
    writeLastBeat(database.dataDir, expected)
    return end(saysBack(database, ms), exitStatus.misplaced)
  }
  return {
    name: 'sign of life to the database',
    of: 'node',
    everyMs: beatEveryMs,
    async run() {
      let now: Holding | undefined
      const sentAt = monotonicMs()
      try {
        const at = clock.now()
        const isToSay = saidAt === undefined || !isRecent(saidAt, at, sayEveryMs)
        now = await beat(store, held, at, {
          transactions,
          ...(isToSay && { alongside: (tx) => setAlive(tx, at) }),
        })
        if (isToSay) saidAt = at
      } catch (error) {
        if (isFenced(error)) return await endLost()
        if (!isPassing(error)) throw error
        if (!isAway) log.warn({ cause: wordsOfCause(error) }, saysAway)
        isAway = true
        meter.gauge('posthorn_store_connected', {}, 0)
        return
      }
      if (isAway) log.info({}, 'The database is back')
      isAway = false
      if (now === undefined) return await endLost()
      const at = clock.now()
      const expected = { beat: held.beat + 1, at }
      const ms = wentBack(expected, now.beat)
      if (ms !== undefined) {
        // The next start has to see it too: the note in the file is some seconds old.
        writeLastBeat(database.dataDir, expected)
        // From here on nothing is begun.
        noteAlive(turns, sentAt - foreverMs)
        // Whichever node the operator starts first takes over what this one has in the queue again. The mark keeps back
        // those that were away.
        const told = store
          .byRow((tx) => markLoss(tx, { at, ms }))
          .then(settleSent)
          .catch((error) => log.error({ error }, 'Sent mail is not settled'))
        await Promise.race([told, pause(clock, lastWordsMs)])
        return end(saysBack(database, ms), exitStatus.misplaced)
      }
      if (haveCommitted(now.others)) noteOthersCommit(turns)
      held = now
      noteAlive(turns, sentAt)
      onHolding(held)
      meter.gauge('posthorn_store_connected', {}, 1)
      meter.gauge('posthorn_store_beat', {}, held.beat)
      if (writtenAt !== undefined && isRecent(writtenAt, at, writeEveryMs)) return
      writtenAt = at
      writeLastBeat(database.dataDir, { beat: held.beat, at })
    },
  }
}

/** Refuses a server that may lose commits that it has acknowledged, unless the operator accepts that. */
function requireDurable({ database, facts, log, isTrusted }: Deps): void {
  const weak = facts === undefined ? undefined : weakServer(facts)
  if (weak === undefined) return
  const says = `${databaseCalled(database)}: ${weak}`
  if (isTrusted) {
    log.warn({}, says)
    return
  }
  throw new OperatorError(`${says}. Mend it, or set store.trust_durability = true if that may be`, {
    status: exitStatus.misplaced,
  })
}

async function takeInTurn(
  store: Store,
  { database, clock, log, comer }: Pick<Deps, 'database' | 'clock' | 'log' | 'comer'>,
): Promise<Holding> {
  let silentMs = Number.NEGATIVE_INFINITY
  for (;;) {
    const held = await takeDatabase(store, comer)
    if (held !== undefined) return held
    const other = await holderOf(store.read, comer)
    if (other !== undefined) {
      if (silentMs === Number.NEGATIVE_INFINITY) {
        log.info(
          { holder: other.name },
          'Another appliance held the database and did not give it back: waits for up to 10 seconds whether it is alive',
        )
      }
      // It has given a sign of life since the last look.
      if (other.silentMs < silentMs) throw new OperatorError(saysHeld(database, other.name, comer))
      silentMs = other.silentMs
    }
    await pause(clock, lookEveryMs)
  }
}

const saysHeld = (database: DatabasePlace, name: string, comer: Comer) =>
  `${databaseCalled(database)} is held by the appliance on ${name}, which is alive. ${
    name === comer.name && comer.joins
      ? 'Two nodes of one name cannot be: give this one another name (node.name)'
      : 'Stop that one first, or name another database as store.url; several work together where each has node.join = true'
  }`

const saysAway = 'The database is away: nothing is taken, and what waits goes on when it is back'

const saysLost = (database: DatabasePlace) =>
  `${databaseCalled(database)} was taken by another appliance, as this one had given no sign of life for some seconds: it ends`
