import { isDueBy } from '../clock/index.js'
import { readContent } from '../contents/index.js'
import type { StreamDue } from '../deliveries/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import { makeWaitingList, networkOf } from '../smtpd/index.js'
import { isPassing, type Read } from '../store/index.js'
import type { ArrivedMail, ReadableRow } from './arrive.js'
import type { makeForwarder } from './forward.js'
import type { MailReader } from './reader.js'
import { putOffReading, type SettleDeps, settleRead, settleUnreadable } from './settle.js'

/** What reading received mails needs. */
export interface DeskDeps extends SettleDeps {
  log: Log
  meter: Meter
  reader: MailReader
  forwarder: ReturnType<typeof makeForwarder>
  /** Tells the outbound threads which mail is due. */
  ring(due: readonly StreamDue[]): void
  /** The name of this appliance. */
  mta: string
  limits: { mails: number; bytes: number }
}

/** The received mails that are not read yet. */
export interface Desk {
  /** Whether another mail of that size may come from this address: whoever sends a flood waits until it is read. */
  hasRoom(remoteAddress: string, bytes: number): boolean
  /** Reserves room for mails before they are on disk. */
  expect(mails: readonly ArrivedMail[]): void
  /** The mails are on disk. */
  arrived(mails: readonly ArrivedMail[]): void
  /** The mails are not on disk, and will not be. */
  lost(mails: readonly ArrivedMail[]): void
  /** Mails of another appliance were taken over. */
  readAnew(): Promise<void>
  close(): Promise<void>
}

// Mails wait for the DNS most of their time; more of them at once are read no faster.
const mostUnderWay = 24
const mostBytesUnderWay = 48 * 2 ** 20
// New mails are read from memory: as many bytes as arrive within a second on a busy day.
const mostRemembered = 16 * 2 ** 20
// When the thread is lost, each mail under way is read once more, alone and after this time: another may have been at
// fault.
const againMs = 5_000
const faultPauseMs = 1_000
const longestWaitMs = 60_000

/**
 * Reads received mails, networks in turn by the time that reading their mails takes:
 *
 *     waiting ──read──▶ settled: texts, webhook, mail that sends it on, in one transaction
 *        ▲               │ the thread was lost
 *        └── once more, alone ──▶ kept as unreadable
 *
 * A crash at any moment leaves unsettled mails waiting. No mail is lost, whatever it is.
 */
export async function openDesk(deps: DeskDeps): Promise<Desk> {
  const { store, clock, log } = deps
  const list = makeWaitingList<string>(deps.limits)
  const underWay = new Map<string, { bytes: number; isAlone: boolean }>()
  const remembered = new Map<string, { row: ReadableRow; raw: Buffer }>()
  let rememberedBytes = 0
  const forget = (id: string) => {
    rememberedBytes -= remembered.get(id)?.raw.length ?? 0
    remembered.delete(id)
  }
  let wake = () => {}
  let rung = false
  let closed = false
  let running: Promise<void>[] = []

  const load = async () => {
    const rows = await waitingAt(store.read, store.node.number)
    for (const { id, due_at, remote_address, size_bytes: bytes } of rows) {
      const network = networkOf(remote_address)
      if (underWay.has(id)) continue
      list.remove(network, id)
      list.add(network, { id, dueAt: due_at ?? 0, bytes })
    }
  }
  const sleep = async (ms: number) => {
    if (closed || rung) return
    await new Promise<void>((resolve) => {
      const cancel = clock.after(ms, resolve)
      wake = () => {
        cancel()
        resolve()
      }
    })
  }
  const ring = () => {
    rung = true
    wake()
  }
  const settle = async (id: string, network: string) => {
    try {
      const known = remembered.get(id)
      const again = await handleOne(deps, { id, known }, (ms) => list.wasRead(network, ms))
      if (again === undefined) list.remove(network, id)
      else list.setDue(network, id, again)
    } catch (error) {
      log.error(
        { cause: messageOf(error), id },
        'A mail that came in cannot be written down as read',
      )
      list.setDue(network, id, clock.now() + (isPassing(error) ? faultPauseMs : longestWaitMs))
    } finally {
      underWay.delete(id)
      forget(id)
      ring()
    }
  }
  /** Begins one more mail; resolves with whether there was one. */
  const beginOne = async (): Promise<boolean> => {
    const all = [...underWay.values()]
    if (underWay.size >= mostUnderWay || all.some(({ isAlone }) => isAlone)) return false
    const [next] = list.due(1, clock.now(), new Set(underWay.keys()))
    if (next === undefined) return false
    const bytes = all.reduce((sum, one) => sum + one.bytes, next.bytes)
    if (underWay.size > 0 && bytes > mostBytesUnderWay) return false
    const isAlone = !remembered.has(next.id) && (await wasTried(store.read, next.id))
    if (isAlone && underWay.size > 0) return false
    underWay.set(next.id, { bytes: next.bytes, isAlone })
    const work = settle(next.id, next.network).finally(() => {
      running = running.filter((one) => one !== work)
    })
    running.push(work)
    return true
  }
  const work = async () => {
    while (!closed) {
      rung = false
      try {
        while (await beginOne());
      } catch (error) {
        log.error({ cause: messageOf(error) }, 'Mail that came in cannot be read right now')
        rung = false
        await sleep(faultPauseMs)
        continue
      }
      if (closed) break
      const dueAt = list.nextDue(new Set(underWay.keys())) ?? Number.POSITIVE_INFINITY
      const isFull = isDueBy(dueAt, clock.now(), longestWaitMs)
      await sleep(isFull ? longestWaitMs : Math.min(dueAt - clock.now(), longestWaitMs))
    }
    await Promise.all(running)
  }
  await load()
  const working = work()
  return {
    hasRoom: (remoteAddress, bytes) => list.hasRoom(networkOf(remoteAddress), bytes),
    expect(mails) {
      for (const { id, remoteAddress, bytes } of mails) {
        list.add(networkOf(remoteAddress), { id, dueAt: Number.POSITIVE_INFINITY, bytes })
      }
    },
    arrived(mails) {
      const now = clock.now()
      for (const { id, remoteAddress, row, raw } of mails) {
        list.setDue(networkOf(remoteAddress), id, now)
        if (rememberedBytes + raw.length > mostRemembered) continue
        remembered.set(id, { row, raw })
        rememberedBytes += raw.length
      }
      ring()
    },
    lost(mails) {
      for (const { id, remoteAddress } of mails) list.remove(networkOf(remoteAddress), id)
    },
    async readAnew() {
      await load()
      ring()
    },
    async close() {
      closed = true
      wake()
      await deps.reader.close()
      await working
    },
  }
}

/** Reads and settles one mail; resolves with when to read it again, or undefined. */
async function handleOne(
  deps: DeskDeps,
  { id, known }: { id: string; known: { row: ReadableRow; raw: Buffer } | undefined },
  wasRead: (ms: number) => void,
): Promise<number | undefined> {
  const { store, clock, meter, reader, forwarder, log } = deps
  const found = known ?? (await readArrived(store.read, id))
  if (found === undefined || found.row.due_at === null) return undefined
  const { raw } = found
  const beganAt = clock.now()
  const { remote_address: remoteAddress, helo, mail_from: mailFrom } = found.row
  const outcome = await reader.read(raw, { remoteAddress, helo, mailFrom, mta: deps.mta })
  wasRead(clock.now() - beganAt)
  if (outcome.kind === 'broken off' && found.row.tries === 0) {
    const again = clock.now() + againMs
    await putOffReading(deps, found.row, again)
    return again
  }
  if (outcome.kind !== 'read') {
    await settleUnreadable(deps, found.row, raw)
    meter.count('posthorn_received_total', { outcome: 'unreadable' })
    log.warn({ id, remoteAddress, cause: outcome.why }, 'A mail that came in cannot be read')
    return undefined
  }
  const { read } = outcome
  const row: ReadableRow = { ...found.row, is_loop: forwarder.wasHere(found.row, read) ? 1 : 0 }
  const forwarding = row.action === 'forward' ? await forwarder.prepare(row, raw, read) : undefined
  deps.ring(await settleRead(deps, row, read, forwarding))
  meter.count('posthorn_received_total', { outcome: row.action })
  return undefined
}

/** A mail as it came; undefined: it was deleted. */
export async function readArrived(
  read: Read,
  id: string,
): Promise<{ row: ReadableRow; raw: Buffer } | undefined> {
  const row = await read.selectFrom('received').selectAll().where('id', '=', id).executeTakeFirst()
  const headers = await read
    .selectFrom('received_headers')
    .select('header')
    .where('received_id', '=', id)
    .executeTakeFirst()
  if (row === undefined || headers === undefined) return undefined
  const pieces = [headers.header, Buffer.from('\r\n')]
  const content = { id: row.content_id, sizeBytes: row.body_bytes }
  for await (const piece of readContent(read, content)) pieces.push(piece)
  return { row, raw: Buffer.concat(pieces) }
}

async function wasTried(read: Read, id: string): Promise<boolean> {
  const row = await read
    .selectFrom('received')
    .select('tries')
    .where('id', '=', id)
    .executeTakeFirst()
  return (row?.tries ?? 0) > 0
}

/** Reads the index of waiting mails; exported so that a test can look at its plan. */
export const waitingAt = (read: Read, node: number) =>
  read
    .selectFrom('received')
    .select(['id', 'due_at', 'remote_address', 'size_bytes'])
    .where('node', '=', node)
    .where('due_at', 'is not', null)
    .orderBy('id')
    .execute()
