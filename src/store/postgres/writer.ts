import pg from 'pg'
import { nextTurn } from '../../bounded/index.js'
import { pause, systemClock } from '../../clock/index.js'
import { unwritable } from '../fault.js'
import type { Tables } from '../schema/index.js'
import { type Gather, makeWriters, type Tx, type Write, type Writing } from '../writing.js'
import { kyselyOver, type OnRows } from './driver.js'
import { isRetried, troubleOf } from './errors.js'
import type { Server } from './server.js'

export interface WriterOptions {
  server: Server
  onRows: OnRows
  /** Called at each commit, before anybody is answered. */
  afterCommit: () => void
  /** Called after every commit with what it took from its begin on; for metrics. */
  onCommit?: ((writes: number, seconds: number) => void) | undefined
}

// A transaction that loses against another one wins at one of its next tries, or the database has another trouble.
const mostTries = 10
const firstPauseMs = 2

/**
 * The one way to write over PostgreSQL: a connection, on which the writings of a thread are transactions one after the
 * other, in the order of the calls. A work that reads, decides and writes is SERIALIZABLE, as if nobody else wrote
 * meanwhile, and runs again where somebody did. What is gathered is decided by the conditions of its own statements,
 * and so READ COMMITTED.
 */
export function makeWriter(options: WriterOptions): {
  write: Write
  gather: Gather
  /** Resolves when nothing is pending. */
  idle: () => Promise<void>
  close: () => Promise<void>
} {
  const pending: Writing[] = []
  const line = openLine(options.server)
  const tx = kyselyOver<Tables>(line, options.onRows)
  let running: Promise<void> | undefined

  const run = async () => {
    // One turn of the event loop, so that what was asked for together is gathered together.
    await nextTurn()
    for (let writing = pending.shift(); writing !== undefined; writing = pending.shift()) {
      await writeOne(options, line, tx, writing)
    }
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
    close: line.close,
  }
}

/** Tells its callers what became of it; the halves of one that failed are tried by themselves. Never rejects. */
async function writeOne(
  options: WriterOptions,
  line: Line,
  tx: Tx,
  writing: Writing,
): Promise<void> {
  const began = performance.now()
  const isolation = writing.isGathered ? 'read committed' : 'serializable'
  try {
    const tells = await commitOne(line, isolation, () => writing.run(tx))
    options.afterCommit()
    writing.committed()
    options.onCommit?.(writing.size(), (performance.now() - began) / 1_000)
    for (const tell of tells) tell()
  } catch (error) {
    const isStorages = troubleOf(error)?.passes === true
    const halves = isStorages ? [] : writing.halves()
    for (const half of halves) await writeOne(options, line, tx, half)
    if (halves.length === 0) writing.fail(isStorages ? unwritable(error) : error)
  }
}

/** Runs it in a transaction, again where that lost against another one, until it is committed; else throws. */
async function commitOne(
  line: Line,
  isolation: Isolation,
  work: () => Promise<(() => void)[]>,
): Promise<(() => void)[]> {
  for (let tries = 1; ; tries++) {
    try {
      const number = await line.begin(isolation)
      const tells = await work()
      if (await line.commit(number)) return tells
    } catch (error) {
      await line.rollback()
      if (!isRetried(error) || tries === mostTries) throw error
    }
    // Whom it waits for is another process, whose time is the system's whatever clock this one has.
    await pause(systemClock, firstPauseMs * 2 ** tries * Math.random())
  }
}

type Line = ReturnType<typeof openLine>
type Isolation = 'serializable' | 'read committed'

/** A connection that is made when it is needed, and made anew when it is lost. */
function openLine(server: Server) {
  let client: Promise<pg.Client> | undefined
  const connect = async () => {
    await server.ready()
    const made = new pg.Client(server.config({ readOnly: false }))
    // Said of a connection on which nothing runs just then: the next query makes another one.
    made.on('error', () => forget(made))
    await made.connect()
    return made
  }
  const forget = (lost: pg.Client) => {
    client = undefined
    lost.end().catch(() => {})
  }
  const current = async (): Promise<pg.Client> => {
    client ??= connect()
    try {
      return await client
    } catch (error) {
      client = undefined
      throw error
    }
  }
  const query = (async (...asked: Parameters<pg.Client['query']>) => {
    const used = await current()
    try {
      return await server.answered(() => used.query(...asked) as unknown as Promise<pg.QueryResult>)
    } catch (error) {
      const told = server.told(error)
      // It has lost its server, or its answer is not waited for any more.
      if (told !== error) forget(used)
      throw error
    }
  }) as unknown as pg.Client['query']

  return {
    query,
    /** Begins a transaction; resolves with the number by which its outcome can be asked for. */
    async begin(isolation: Isolation): Promise<string> {
      const results = (await query(
        `begin isolation level ${isolation}; select pg_current_xact_id()::text as number`,
      )) as unknown as pg.QueryResult<{ number: string }>[]
      return results[1]?.rows[0]?.number ?? ''
    },
    /** True: it is committed. False: it is not, and may run again. Throws where nobody can know. */
    async commit(number: string): Promise<boolean> {
      try {
        const { command } = await query('commit')
        // A statement of it had failed, and somebody went on.
        if (command === 'ROLLBACK') throw new Error('A statement of the transaction had failed')
        return true
      } catch (error) {
        if (troubleOf(error)?.passes !== true || isRetried(error)) throw error
        if (client !== undefined) forget(await client)
        return await wasCommitted(query, number, error)
      }
    },
    async rollback(): Promise<void> {
      if (client === undefined) return
      const used = await current()
      await used.query('rollback').catch(() => forget(used))
    },
    async close(): Promise<void> {
      await (await client)?.end()
    },
  }
}

// The server ends what it was doing for a connection that is gone within some milliseconds.
const outcomePauseMs = 100
const mostQuestions = 30

/**
 * What became of a transaction whose COMMIT got no answer. It is asked for until it has ended: a COMMIT that waits for a
 * standby is neither done nor undone.
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
