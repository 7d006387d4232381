import { request } from 'node:http'
import { maxRetried, type RetriedLanes, type StreamDue } from '../deliveries/index.js'
import { messageOf } from '../errors/index.js'
import { isJsonObject } from '../json/index.js'
import {
  findNode,
  listPeers,
  type NodeWanted,
  openAnswer,
  type Peer,
  sealRing,
  tellAddress,
  wakeNodes,
} from '../nodes/index.js'
import type { Ground } from './ground.js'
import { type ControlAnswer, type OwnQuestion, readQuestion } from './questions.js'
import { bodyOf, hostAndPort, openRingListener } from './ring-listener.js'

/**
 * What nodes say to each other at once: that there is something to do, and questions of an operator that only one node
 * can answer. All of it may be lost: a node that is not reached hears by the database, and finds what there is to do by
 * its own looks.
 */
export interface Ring {
  /** Tells all others, ten times a second at most. */
  tell(news: News): void
  /** Asks another node; 0 ms is any time; `unheard` says why there is no answer. */
  ask(
    node: NodeWanted,
    question: OwnQuestion,
    withinMs: number,
  ): Promise<{ answer?: ControlAnswer; unheard?: string }>
  /** From now on it hears what others ask and tell. */
  hearBy(how: { own(question: OwnQuestion): Promise<ControlAnswer>; hear(news: News): void }): void
}

/** What there is to do at other nodes. */
export interface News {
  /** Streams of the queue that have something due. */
  due?: readonly StreamDue[]
  /** Domains whose mail the operator made due; none: the queue is to be looked through. */
  retry?: RetriedLanes
  /** Work that begins at once at the node that does it for all. */
  jobs?: readonly RungJob[]
}

export type RungJob = 'expand' | 'automate' | 'keepSegments' | JobOfEach

/** Jobs of the calendar that look at a machine: each node runs them when the node with the calendar runs them. */
export const jobsOfEach = ['doctor', 'blocklists', 'certificates'] as const
export type JobOfEach = (typeof jobsOfEach)[number]

// Ten a second.
const betweenMs = 100
const tellWithinMs = 1_500
const wakeEveryMs = 1_000

/** The ring of an appliance that is alone, or is to be the only one. */
const alone: Ring = {
  tell() {},
  hearBy() {},
  ask: async () => ({ unheard: 'this appliance works with no other one' }),
}

export async function openRing(
  ground: Pick<Ground, 'config' | 'key' | 'clock' | 'log' | 'store' | 'ownNode'>,
  back: { add(close: () => Promise<void> | void): void },
): Promise<Ring> {
  const { config, key, clock, log, store, ownNode } = ground
  if (!ownNode.joins || !ownNode.isOnServer) return alone
  const { held } = ownNode
  let heardBy: Parameters<Ring['hearBy']>[0] | undefined
  const listener = await openRingListener(
    { config, key, clock, log, read: store.read, epoch: held.epoch },
    async (body) => {
      if (heardBy === undefined || !isJsonObject(body)) return null
      if ('news' in body) heardBy.hear(body.news as News)
      const question = readQuestion(body.question)
      return question === undefined ? null : await heardBy.own(question)
    },
  )
  const ringAt = (peer: Peer, body: unknown, withinMs: number) => {
    const head = { at: clock.now(), from: held.epoch, to: peer.epoch }
    const { sealed, nonce } = sealRing(key, head, body)
    return post(peer.address, sealed, withinMs).then((answer) => openAnswer(key, nonce, answer))
  }
  const news = makeNews({ clock, store, held, ringAt })
  back.add(async () => {
    news.close()
    await listener?.close()
  })
  if (listener !== undefined) await tellAddress(store, held, listener.address)
  return {
    tell: news.tell,
    hearBy(how) {
      heardBy = how
    },
    async ask(wanted, question, withinMs) {
      const node = await findNode(store.read, wanted)
      if (node === undefined) return { unheard: saysUnknown(wanted) }
      if (!node.isAlive) return { unheard: `the node ${node.name} is gone` }
      if (node.address === '')
        return { unheard: `the node ${node.name} has no address at which it hears others` }
      try {
        const answer = await ringAt(node, { question }, withinMs)
        if (answer === undefined || answer === null) throw new Error('it does not understand')
        return { answer: answer as ControlAnswer }
      } catch (error) {
        return {
          unheard: `the node ${node.name} does not answer at ${node.address} (${messageOf(error)})`,
        }
      }
    },
  }
}

const saysUnknown = (wanted: NodeWanted) =>
  typeof wanted === 'object'
    ? `no node has the duty '${wanted.duty}' at this moment`
    : `there is no node ${wanted}; 'posthorn node list' has them`

/**
 * Collects news and tells all nodes; a node that is not reached finds another number of `wakes` with its next sign of
 * life.
 */
function makeNews({
  clock,
  store,
  held,
  ringAt,
}: Pick<Ground, 'clock' | 'store'> & {
  held: { epoch: number }
  ringAt: (peer: Peer, body: unknown, withinMs: number) => Promise<unknown>
}) {
  let waiting: News | undefined
  let cancel: (() => void) | undefined
  let cancelWake: (() => void) | undefined
  let isClosed = false
  const unreached = new Set<number>()
  const wake = () => {
    const epochs = [...unreached]
    unreached.clear()
    cancelWake = undefined
    wakeNodes(store, epochs).catch(() => {})
  }
  const flush = async () => {
    const news = waiting
    waiting = undefined
    if (news === undefined) return
    const peers = await listPeers(store.read, held)
    const ringOne = async (peer: Peer) => {
      if (peer.address !== '' && (await isHeard(ringAt(peer, { news }, tellWithinMs)))) return
      unreached.add(peer.epoch)
    }
    await Promise.all(peers.map(ringOne))
    if (unreached.size > 0 && !isClosed) cancelWake ??= clock.after(wakeEveryMs, wake)
  }
  const plan = () => {
    cancel ??= clock.after(betweenMs, () => {
      // A database that is away tells nobody; the others find what there is to do by their own looks.
      flush()
        .catch(() => {})
        .finally(() => {
          cancel = undefined
          if (waiting !== undefined && !isClosed) plan()
        })
    })
  }
  return {
    tell(more: News) {
      if (isClosed) return
      waiting = waiting === undefined ? more : together(waiting, more)
      plan()
    },
    close() {
      isClosed = true
      cancel?.()
      cancelWake?.()
    },
  }
}

const isHeard = (answer: Promise<unknown>): Promise<boolean> =>
  answer.then(
    (found) => found !== undefined,
    () => false,
  )

/** As much as one ring may have: where there is more, the queue is looked through. */
function together(one: News, other: News): News {
  const due = [...(one.due ?? []), ...(other.due ?? [])]
  const jobs = [...new Set([...(one.jobs ?? []), ...(other.jobs ?? [])])]
  const isMuch = due.length > maxRetried
  const retry = bothLanes(bothLanes(one.retry, other.retry), isMuch ? [] : undefined)
  return { due: isMuch ? [] : due, jobs, ...(retry !== undefined && { retry }) }
}

function bothLanes(one: RetriedLanes | undefined, other: RetriedLanes | undefined) {
  if (one === undefined || other === undefined) return one ?? other
  if (one === 'all' || other === 'all') return 'all'
  const lanes = [...new Set([...one, ...other])]
  return lanes.length > maxRetried ? 'all' : lanes
}

/** Resolves with what a node answers; rejects where it does not, or refuses. */
function post(address: string, sealed: Buffer, withinMs: number): Promise<Buffer> {
  const { host, port } = hostAndPort(address)
  const signal = withinMs > 0 ? { signal: AbortSignal.timeout(withinMs) } : {}
  return new Promise((resolve, reject) => {
    const asked = request({ host, port, method: 'POST', path: '/', ...signal }, (response) => {
      bodyOf(response).then((body) => {
        if (response.statusCode === 200) resolve(body)
        else reject(new Error(body.toString('utf8').slice(0, 200) || `${response.statusCode}`))
      }, reject)
    })
    // An answer may take hours, and the machine that owes it may go meanwhile.
    asked.on('socket', (socket) => socket.setKeepAlive(true, 10_000))
    asked.once('error', (error) =>
      reject(
        error.name === 'AbortError' || error.name === 'TimeoutError'
          ? new Error('no answer in time')
          : error,
      ),
    )
    asked.end(sealed)
  })
}
