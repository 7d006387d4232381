import type pg from 'pg'
import { nextTurn } from '../../bounded/index.js'
import { pause, systemClock } from '../../clock/index.js'
import { isUnusable, unusable } from '../fault.js'
import type { OwnNode } from '../own-node.js'
import type { Tables } from '../schema/index.js'
import type { WayThere } from '../store.js'
import { type Gather, makeWriters, type Tx, type Write, type Writing } from '../writing.js'
import { waitForTurn } from './alone.js'
import { hangUp } from './connect.js'
import { kyselyOver, type OnRows } from './driver.js'
import { causeOfRetry, FencedError, isRetried, isTaken, troubleOf } from './errors.js'
import type { Server } from './server.js'

export interface WriterOptions {
  server: Server
  /** The node that writes: once its epoch is over, no writing begins. */
  node: OwnNode
  /** Called for each connection; the result is told about the transaction that runs there. */
  watch: () => Watch
  /** Called before each transaction, and again at its end, or when the server began none. */
  noteTransaction: (what: 'asked' | 'none' | 'ended') => void
  /** Called after every commit with its duration from the begin on; for metrics. */
  onCommit?: ((writes: number, seconds: number) => void) | undefined
  wayThere?: WayThere | undefined
}

interface Watch {
  onRows: OnRows
  /** Called at each commit, before anybody is answered. */
  afterCommit: () => void
}

// A transaction that loses against another one wins at one of its next tries, or the database has another trouble.
const mostTries = 10
// Tries after somebody else has inserted a key since the work looked for it: the next try sees the key.
const mostTriesOfTaken = 3
const firstPauseMs = 2
// A server that is there answers the end of a connection at once.
const farewellMs = 1_000
// Connections of a thread for works by row.
const mostRowLines = 4

/**
 * The ways to write over PostgreSQL. `write` and `gather`: a connection, on which the writings of a thread are
 * transactions one after the other, in the order of the calls. A work that reads, decides and writes is SERIALIZABLE,
 * as if nobody else wrote meanwhile, and runs again where somebody did. Gathered items are decided by the conditions
 * of their own statements, so they are READ COMMITTED; `byRow` is the same for works, several of them at once.
 */
export function makeWriter(options: WriterOptions): {
  write: Write
  byRow: Write
  gather: Gather
  /** Resolves when nothing is pending. */
  idle: () => Promise<void>
  close: () => Promise<void>
} {
  const inOrder = makeLines(options, 1, (writing) => (writing.isGathered ? 'gather' : 'write'))
  // On a connection of their own: while they wait for their turn, other writings go on.
  const inTurn = makeLines(options, 1, () => 'write')
  const rows = makeLines(options, mostRowLines, () => 'by_row')
  const { write, gather } = makeWriters(inOrder.pending, inOrder.add)
  const turns = makeWriters(inTurn.pending, inTurn.add)
  const byRow = makeWriters(rows.pending, (writing) => rows.add({ ...writing, isGathered: true }))
  const all = [inOrder, inTurn, rows]
  return {
    write: (work, aloneWith) =>
      aloneWith === undefined ? write(work) : turns.write(work, aloneWith),
    byRow: byRow.write,
    gather,
    idle: async () => {
      while (all.some(({ isBusy }) => isBusy())) for (const { idle } of all) await idle()
    },
    close: async () => {
      for (const { close } of all) await close()
    },
  }
}

/** Connections, each of which takes the next writing when it has ended one. */
function makeLines(options: WriterOptions, most: number, kindOf: Writer['kindOf']) {
  const pending: Writing[] = []
  const lines: Writer[] = []
  const running = new Set<Promise<void>>()
  const free: Writer[] = []

  const run = async (writer: Writer) => {
    // Waits one turn of the event loop, so that items asked for together are gathered together.
    await nextTurn()
    for (let writing = pending.shift(); writing !== undefined; writing = pending.shift()) {
      await writeOne(writer, writing)
    }
  }
  const start = () => {
    const writer = free.pop() ?? makeOne()
    const ran = run(writer).finally(() => {
      running.delete(ran)
      free.push(writer)
      // Something was added after the last look.
      if (pending.length > 0 && running.size < most) start()
    })
    running.add(ran)
  }
  const makeOne = (): Writer => {
    const { onRows, afterCommit } = options.watch()
    const line = openLine(options)
    const made = { line, tx: kyselyOver<Tables>(line, { onRows }), afterCommit, kindOf, options }
    lines.push(made)
    return made
  }
  return {
    pending,
    add(writing: Writing) {
      pending.push(writing)
      if (running.size < most) start()
    },
    isBusy: () => running.size > 0,
    async idle() {
      while (running.size > 0) await Promise.all(running)
    },
    async close() {
      for (const { line } of lines) await line.close()
    },
  }
}

interface Writer {
  line: Line
  tx: Tx
  afterCommit: () => void
  kindOf: (writing: Writing) => Parameters<WayThere['transaction']>[0]
  options: Pick<WriterOptions, 'onCommit' | 'wayThere'>
}

/** Runs a writing and answers its callers; when it fails its halves are tried by themselves. Never rejects. */
async function writeOne(writer: Writer, writing: Writing): Promise<void> {
  const { line, tx, afterCommit, kindOf, options } = writer
  const began = performance.now()
  const isolation = writing.isGathered ? 'read committed' : 'serializable'
  try {
    const how = { isolation, aloneWith: writing.aloneWith } as const
    const tells = await commitOne(line, how, options.wayThere, () => writing.run(tx))
    afterCommit()
    writing.committed()
    const seconds = (performance.now() - began) / 1_000
    options.onCommit?.(writing.size(), seconds)
    options.wayThere?.transaction(kindOf(writing), seconds)
    for (const tell of tells) tell()
  } catch (error) {
    const isAway = isUnusable(error)
    const isStorages = isAway || troubleOf(error)?.passes === true
    const halves = isStorages ? [] : writing.halves()
    for (const half of halves) await writeOne(writer, half)
    if (halves.length === 0) writing.fail(isStorages && !isAway ? unusable(error) : error)
  }
}

/** Runs it in a transaction, again when that lost against another one, until it is committed; else throws. */
async function commitOne(
  line: Line,
  how: Beginning,
  wayThere: WayThere | undefined,
  work: () => Promise<(() => void)[]>,
): Promise<(() => void)[]> {
  for (let tries = 1; ; tries++) {
    try {
      const number = await line.begin(how)
      const tells = await work()
      if (await line.commit(number)) return tells
      wayThere?.retried('aborted')
    } catch (error) {
      await line.rollback()
      const most = isRetried(error) ? mostTries : isTaken(error) ? mostTriesOfTaken : 0
      if (tries >= most) throw error
      wayThere?.retried(causeOfRetry(error))
    }
    // It waits for another process, so the pause goes by the system's time.
    await pause(systemClock, firstPauseMs * 2 ** tries * Math.random())
  }
}

type Line = ReturnType<typeof openLine>

/** How a transaction begins; `aloneWith` is an account. */
interface Beginning {
  isolation: 'serializable' | 'read committed'
  aloneWith: string | undefined
}

/** A connection that is opened when it is needed, and opened anew when it is lost. */
function openLine({
  server,
  node,
  wayThere,
  noteTransaction,
}: Pick<WriterOptions, 'server' | 'node' | 'wayThere' | 'noteTransaction'>) {
  let client: Promise<pg.Client> | undefined
  /** The connection of the transaction under way: when it is lost, the rest must not run on another connection. */
  let held: pg.Client | undefined
  let newest: pg.Client | undefined
  let losses = server.losses()
  let isUnderWay = false
  const ended = () => {
    if (isUnderWay) noteTransaction('ended')
    isUnderWay = false
  }
  const connect = async () => {
    await server.ready()
    losses = server.losses()
    const made = new server.Client(server.config({ readOnly: false }))
    // An error of a connection on which nothing runs: the next query opens another one.
    made.on('error', (error) => {
      if (made === newest && client !== undefined) server.lostBy(error)
      forget(made)
    })
    newest = made
    await made.connect().catch((error: unknown) => {
      throw server.unconnected(error)
    })
    return made
  }
  const forget = (lost: pg.Client) => {
    // Another connection may already be open.
    if (lost === newest) client = undefined
    hangUp(lost)
  }
  const current = async (): Promise<pg.Client> => {
    // Nothing ran on it when its server was lost, and a machine that is gone tells nobody: it would wait for ever.
    if (newest !== undefined && losses !== server.losses()) forget(newest)
    client ??= connect()
    try {
      return await client
    } catch (error) {
      client = undefined
      throw error
    }
  }
  const query = (async (...asked: Parameters<pg.Client['query']>) => {
    const used = held ?? (await current())
    wayThere?.asked()
    try {
      return await server.answered(() => used.query(...asked) as unknown as Promise<pg.QueryResult>)
    } catch (error) {
      // The connection has lost its server, or nobody waits for its answer any more.
      if (server.lostBy(error)) forget(used)
      throw error
    }
  }) as unknown as pg.Client['query']

  return {
    query,
    /** Begins a transaction; resolves with the number by which its outcome can be asked for. */
    async begin({ isolation, aloneWith }: Beginning): Promise<string> {
      const asked = performance.now()
      held = await current()
      wayThere?.waited((performance.now() - asked) / 1_000)
      noteTransaction('asked')
      try {
        const results = (await query(
          [
            `begin isolation level ${isolation}`,
            ...(aloneWith === undefined ? [] : [waitForTurn(aloneWith)]),
            `select pg_current_xact_id()::text as number${isMine(node)}`,
          ].join('; '),
        )) as unknown as pg.QueryResult<{ number: string; mine?: number }>[]
        const { number = '', mine } = results.at(-1)?.rows[0] ?? {}
        isUnderWay = true
        if (mine === 0) throw new FencedError(node)
        return number
      } catch (error) {
        if (!isUnderWay) noteTransaction('none')
        throw error
      }
    },
    /** True: the transaction is committed. False: it is not, and may run again. Throws where nobody can know. */
    async commit(number: string): Promise<boolean> {
      try {
        const { command } = await query('commit')
        ended()
        held = undefined
        // A statement of the transaction had failed, and somebody went on.
        if (command === 'ROLLBACK') throw new Error('A statement of the transaction had failed')
        return true
      } catch (error) {
        if (troubleOf(error)?.passes !== true || isRetried(error)) throw error
        if (held !== undefined) forget(held)
        held = undefined
        return await wasCommitted(query, number, error).finally(ended)
      }
    },
    async rollback(): Promise<void> {
      const used = held
      held = undefined
      await used?.query('rollback').catch(() => forget(used))
      ended()
    },
    async close(): Promise<void> {
      const open = await client
      if (open === undefined) return
      await Promise.race([open.end(), pause(systemClock, farewellMs)])
      hangUp(open)
    },
  }
}

/**
 * Asked together with the number, which needs a round trip anyway. When others took an appliance for dead and ended
 * its epoch, it must change nothing any more, however late it wakes up. Work that had begun before is stopped by the
 * conditions of its own statements, or found by those who take over (`deliveries/adopt.ts`).
 */
const isMine = ({ number, epoch }: OwnNode) =>
  epoch === 0
    ? ''
    : `, exists (select 1 from nodes where number = ${number} and epoch = ${epoch}) as mine`

// The server ends its work for a lost connection within some milliseconds.
const outcomePauseMs = 100
const mostQuestions = 30

/**
 * Whether a transaction was committed whose COMMIT got no answer. It asks until the transaction has ended: a COMMIT
 * that waits for a standby is neither done nor undone.
 */
async function wasCommitted(
  query: pg.Client['query'],
  number: string,
  cause: unknown,
): Promise<boolean> {
  for (let asked = 0; asked < mostQuestions; asked++) {
    const { rows } = await query<{ status: string | null }>(
      'select pg_xact_status($1::text::xid8) as status',
      [number],
    )
    const status = rows[0]?.status
    if (status === 'committed') return true
    if (status === 'aborted') return false
    await pause(systemClock, outcomePauseMs)
  }
  throw cause
}
