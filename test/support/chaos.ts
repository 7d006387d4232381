import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { type CuttingProxy, cuttingProxy } from './cutting-proxy.js'
import { becomes, type NodesRig, nodesRig } from './nodes.js'
import type { Serving } from './process.js'
import { openReceiver, type Receiver } from './receiver.js'

/** Nodes that meet faults, and are restarted by a watcher as by systemd, while mail goes in all the time. */
export interface Chaos {
  rig: NodesRig
  names: readonly string[]
  receiver: Receiver
  /** How many mails may have arrived twice by now: those that were under way at each fault. */
  mayRepeat(): number
  /** Lets one of `faults` happen at a node. Resolves when it is over and the node is back. */
  strike(fault: Fault, name: string): Promise<void>
  /** Recipients whose mail was answered with 200, each once. */
  accepted: readonly string[]
  /** Ends the injectors, each with an answer to its last request. */
  settle(): Promise<void>
  /** What the running nodes have logged that is not about a mail. */
  troubles(): string[]
  /** From now on no node is restarted. */
  end(): void
  random(): number
}

export const faults = ['kill', 'stop', 'cut', 'database', 'outage', 'drain', 'restart'] as const
export type Fault = (typeof faults)[number]

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

// Longer than twice the lease.
const stoppedMs = 21_000
const cutMs = 8_000
// Longer than a lease, as in a failover.
const awayMs = 13_000

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
  )
  const receiver = await openReceiver(t)
  const names = Array.from({ length: nodes }, (_, n) => `mail${n + 1}`)
  const ways = new Map<string, CuttingProxy>()
  const there = new Map<string, Serving>()
  let isOver = false
  /** Restarts it like systemd, whatever ended it. */
  const keep = async (name: string): Promise<void> => {
    const way = ways.get(name) ?? (await cuttingProxy(t, rig.server.port))
    ways.set(name, way)
    const env = { POSTHORN_STORE_URL: `postgres://posthorn@127.0.0.1:${way.port}/mail` }
    for (;;) {
      try {
        const serving = await rig.start(name, env)
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

  const inHand = async (where: string) => {
    const [row] = await rig.ask<{ n: number }>(
      `select count(*)::int as n from queue join nodes on nodes.number = queue.node where lease is not null and ${where}`,
    )
    return row?.n ?? 0
  }
  let repeats = 0
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
      rig.server.crash()
      await sleep(500)
      rig.server.start()
      repeats += await inHand('true')
    },
    // All nodes live on, and settle what they have in hand: nothing may come twice.
    async outage() {
      rig.server.crash()
      await sleep(awayMs)
      rig.server.start()
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
  }

  const accepted: string[] = []
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
      // Like a client that got no answer, or a temporary one: the same key, at the next address.
      for (let tries = 0; ; tries++) {
        const all = [...there.values()]
        const node = all[Math.floor(random() * all.length)]
        const status = node === undefined ? 0 : await answerOf(rig, node, mails, key)
        if (status === 200) break
        if (status !== 0 && status !== 409 && status < 500)
          throw new Error(`A batch was answered with ${status}`)
        if (tries > 600) throw new Error(`A batch finds no node that takes it: ${status}`)
        await sleep(100)
      }
      accepted.push(...mails.map(({ to }) => to))
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
    random,
    mayRepeat: () => repeats,
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
