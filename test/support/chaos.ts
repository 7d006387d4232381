import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Test } from 'tap'
import { type CuttingProxy, cuttingProxy } from './cutting-proxy.js'
import { becomes, type NodesRig, nodesRig } from './nodes.js'
import { mayMount, type PostgresServer, startPostgres } from './postgres.js'
import type { Serving } from './process.js'
import { openReceiver, type Receiver } from './receiver.js'

/** Nodes that meet faults, and are restarted by a watcher as by systemd, while mail goes in all the time. */
export interface Chaos {
  rig: NodesRig
  names: readonly string[]
  receiver: Receiver
  /** How many mails may have arrived twice by now: those that were under way at each fault. */
  mayRepeat(): number
  /** Whether webhooks were set aside and replayed, and so came in another order. */
  isReplayed(): boolean
  /** Lets one of `faults` happen at a node. Resolves when it is over and the node is back. */
  strike(fault: Fault, name: string): Promise<void>
  /** Recipients whose mail was answered with 200, each once. */
  accepted: readonly string[]
  /** Those of them whose mail was among commits that were lost, or may have been taken twice because of that. */
  unsure: ReadonlySet<string>
  /** What requests were answered with; 0 for those that got no answer. */
  statuses: ReadonlySet<number>
  /** Ends the injectors, each with an answer to its last request. */
  settle(): Promise<void>
  /** What the running nodes have logged that is not about a mail. */
  troubles(): string[]
  /** From now on no node is restarted. */
  end(): void
  random(): number
}

export const faults = [
  'kill',
  'stop',
  'cut',
  'database',
  'outage',
  'drain',
  'restart',
  'clock',
  'loss',
  ...(mayMount ? (['full'] as const) : []),
] as const
export type Fault = (typeof faults)[number]

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

// Longer than twice the lease.
const stoppedMs = 21_000
const cutMs = 8_000
// Longer than a lease, as in a failover.
const awayMs = 13_000
const fullMs = 8_000
// Of commits that a promoted standby lacks.
const lostMs = 6_000
const aheadMs = 300_000
const roomOf = mayMount ? { roomMb: 400 } : {}
const movedClock = new URL('./moved-clock.js', import.meta.url).href

export async function openChaos(
  t: Test,
  { nodes, injectors, seed }: { nodes: number; injectors: number; seed: number },
): Promise<Chaos> {
  const random = randomOf(seed)
  const rig = await nodesRig(
    t,
    { dot: { reply: '250 ok', delayMs: 40 } },
    // The injectors are far more mail than usual.
    '[protection.surges]\nminimum = 0\n',
    roomOf,
  )
  const { port } = rig.server
  let primary: PostgresServer = rig.server
  const receiver = await openReceiver(t)
  const names = Array.from({ length: nodes }, (_, n) => `mail${n + 1}`)
  const ways = new Map<string, CuttingProxy>()
  const there = new Map<string, Serving>()
  let isOver = false
  /** While the operator has to decide, systemd does not restart a node. */
  const operator = new Map<string, Promise<void>>()
  const accepts = new Map<string, () => void>()
  const clockOf = (name: string) => join(rig.dirOf(name), 'clock')
  const turnClock = (name: string, ms: number) => writeFileSync(clockOf(name), String(ms))
  /** Restarts it like systemd, whatever ended it. */
  const keep = async (name: string): Promise<void> => {
    const way = ways.get(name) ?? (await cuttingProxy(t, port))
    if (!ways.has(name)) turnClock(name, 0)
    ways.set(name, way)
    const env = {
      POSTHORN_STORE_URL: `postgres://posthorn@127.0.0.1:${way.port}/mail`,
      POSTHORN_TEST_CLOCK: clockOf(name),
    }
    for (;;) {
      try {
        await operator.get(name)
        const serving = await rig.start(name, env, ['--import', movedClock])
        there.set(name, serving)
        void serving.exited.then(async () => {
          there.delete(name)
          if (!isOver) await keep(name)
        })
        return
      } catch (error) {
        if (isOver) return
        t.comment(`${name}: ${String(error).slice(-300)}`)
        await sleep(500)
      }
    }
  }
  await keep(names[0] ?? '')
  await Promise.all(names.slice(1).map(keep))
  const added = await rig.run(names[0] ?? '', ['webhook', 'add', receiver.url, '--json'])
  if (added.status !== 0) throw new Error(added.stderr)
  const endpoint: string = JSON.parse(added.stdout).id

  const inHand = async (where: string) => {
    const [row] = await rig.ask<{ n: number }>(
      `select count(*)::int as n from queue join nodes on nodes.number = queue.node where lease is not null and ${where}`,
    )
    return row?.n ?? 0
  }
  let repeats = 0
  let losses = 0
  let isLosing = false
  let isReplayed = false
  const isThere = (name: string) =>
    becomes(
      async () => there.get(name),
      (serving) => serving !== undefined,
      180_000,
    )
  const strikes: Record<Fault, (name: string) => Promise<void>> = {
    async kill(name) {
      const serving = await isThere(name)
      serving?.process.kill('SIGKILL')
      await serving?.exited
      repeats += await inHand(`nodes.name = '${name}'`)
      await isThere(name)
    },
    async stop(name) {
      const serving = await isThere(name)
      serving?.process.kill('SIGSTOP')
      repeats += await inHand(`nodes.name = '${name}'`)
      await sleep(stoppedMs)
      serving?.process.kill('SIGCONT')
      await serving?.exited
      await isThere(name)
    },
    async cut(name) {
      const way = ways.get(name)
      way?.cut()
      repeats += await inHand(`nodes.name = '${name}'`)
      await sleep(cutMs)
      way?.mend()
    },
    async database() {
      primary.crash()
      await sleep(500)
      primary.start(port)
      repeats += await inHand('true')
    },
    // All nodes live on, and settle what they have in hand: nothing may come twice.
    async outage() {
      primary.crash()
      await sleep(awayMs)
      primary.start(port)
    },
    async drain(name) {
      await isThere(name)
      const other = names.find((one) => one !== name) ?? name
      await rig.run(other, ['node', 'drain', name])
      await sleep(3_000)
      await rig.run(other, ['node', 'undrain', name])
    },
    async restart(name) {
      const serving = await isThere(name)
      serving?.process.kill('SIGTERM')
      await serving?.exited
      await isThere(name)
    },
    async full() {
      primary.fill()
      await sleep(fullMs)
      primary.empty(port)
    },
    async clock(name) {
      const serving = await isThere(name)
      const own = () =>
        rig.ask<{ n: number }>(
          `select count(*)::int as n from duties join nodes using (epoch) where nodes.name = '${name}'`,
        )
      turnClock(name, aheadMs)
      await becomes(own, ([row]) => row?.n === 0, 60_000)
      await becomes(
        async () => serving?.log() ?? '',
        (log) => log.includes('clock of this node is more than'),
        30_000,
      )
      turnClock(name, 0)
      if (nodes > 1) await becomes(own, ([row]) => (row?.n ?? 0) > 0, 60_000)
    },
    // A standby without the last commits is promoted: all nodes end, and the operator decides.
    async loss() {
      // A node that is away knows of no sign of life that is lost, and starts as if nothing had been.
      for (const name of names) await isThere(name)
      await sleep(3_000)
      const standby = await startPostgres(t, { standbyOf: primary, ...roomOf })
      losses++
      isLosing = true
      await sleep(1_000)
      await askOf(standby, "alter system set primary_conninfo = ''")
      await askOf(standby, 'select pg_reload_conf()')
      await sleep(lostMs)
      const ends = [...there.values()].map(({ exited }) => exited)
      repeats += await inHand('true')
      for (const name of names)
        operator.set(name, new Promise((resolve) => accepts.set(name, resolve)))
      primary.crash()
      standby.promote()
      standby.crash()
      standby.start(port)
      primary = { ...standby, url: rig.server.url, port }
      const codes = (await Promise.all(ends)).map(({ code }) => code)
      if (codes.some((code) => code !== 78)) throw new Error(`Nodes ended with ${codes}`)
      isLosing = false
      const how = (seed + losses) % 2 === 0 ? '--held' : '--lost'
      for (const name of names) {
        const said = await rig.run(name, ['database', 'accept', how])
        if (said.status !== 0) throw new Error(said.stderr)
        accepts.get(name)?.()
        const serving = await isThere(name)
        const isHeld = serving?.log().includes('what waited in it is held') === true
        if (isHeld !== (how === '--held' && name === names[0]))
          throw new Error(`${how}: it is ${isHeld} that ${name} holds mail`)
        // As fast or slow as somebody goes from one machine to the next: a node may be taken over meanwhile.
        await sleep(random() * 12_000)
      }
      t.comment(`accepted ${how}`)
      if (how === '--lost') return
      isReplayed = true
      for (const args of [
        ['webhook', 'replay', endpoint, '--failed'],
        ['queue', 'release', '--all'],
      ]) {
        const said = await rig.run(names[0] ?? '', args)
        if (said.status !== 0) throw new Error(said.stderr)
      }
    },
  }

  const accepted: string[] = []
  const unsure = new Set<string>()
  const statuses = new Set<number>()
  let ends = false
  const inject = async (own: number) => {
    for (let n = 0; !ends; n++) {
      const mails = Array.from({ length: 1 + Math.floor(random() * 5) }, (_, i) => ({
        from: 'a@example.test',
        to: `i${own}-${n}-${i}@d${Math.floor(random() * 6)}.test`,
        subject: `Hello ${own} ${n} ${i}`,
        html: '<p>Hello',
      }))
      const key = randomUUID()
      const before = losses
      // Like a client that got no answer, or a temporary one: the same key, at the next address.
      for (let tries = 0; ; tries++) {
        const all = [...there.values()]
        const node = all[Math.floor(random() * all.length)]
        const status = node === undefined ? 0 : await answerOf(rig, node, mails, key)
        statuses.add(status)
        if (status === 200) break
        if (status !== 0 && status !== 409 && status < 500)
          throw new Error(`A batch was answered with ${status}`)
        if (tries > 600) throw new Error(`A batch finds no node that takes it: ${status}`)
        await sleep(100)
      }
      const taken = mails.map(({ to }) => to)
      accepted.push(...taken)
      if (isLosing || losses !== before) for (const to of taken) unsure.add(to)
      await sleep(150 + random() * 250)
    }
  }
  const running = Promise.all(Array.from({ length: injectors }, (_, own) => inject(own)))
  running.catch(() => {})
  return {
    rig,
    names,
    receiver,
    accepted,
    unsure,
    statuses,
    random,
    mayRepeat: () => repeats,
    isReplayed: () => isReplayed,
    strike: (fault, name) => strikes[fault](name),
    troubles: () =>
      [...there].flatMap(([name, serving]) =>
        serving
          .log()
          .split('\n')
          .filter((line) => /"level":"(warn|error)"/.test(line))
          .slice(-12)
          .map((line) => `${name} ${line.slice(0, 400)}`),
      ),
    end() {
      isOver = true
    },
    async settle() {
      ends = true
      await running
      for (const name of names) await isThere(name)
    },
  }
}

async function askOf(server: PostgresServer, sql: string): Promise<void> {
  const client = new pg.Client(`${server.url}/postgres`)
  await client.connect()
  await client.query(sql).finally(() => client.end())
}

async function answerOf(
  rig: NodesRig,
  node: Serving,
  mails: readonly object[],
  key: string,
): Promise<number> {
  try {
    const response = await fetch(`${node.url}/v1/emails/batch`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${rig.apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({ emails: mails }),
      signal: AbortSignal.timeout(15_000),
    })
    await response.text()
    return response.status
  } catch {
    return 0
  }
}

/** mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
