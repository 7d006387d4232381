// Nodes as the store sees them: any order of taking in, claiming, dying, taking over and settling, against a set.
import t from 'tap'
import {
  adopt,
  type Claimed,
  claim,
  enqueue,
  type GoneNode,
  leaseOf,
  releaseLeases,
  type Settlement,
  settle,
} from '../../src/deliveries/index.js'
import { makeLandEvents } from '../../src/events/index.js'
import type { Store } from '../../src/store/index.js'
import { seeded } from '../shaping/seeded.js'
import { FakeClock } from '../support/clock.js'
import { outboundRig } from '../support/outbound.js'
import { thoroughly } from '../support/thorough.js'

const land = makeLandEvents([])

interface Node extends GoneNode {
  /** Its thread's memory, which is a zombie's when it is not alive. */
  inHand: Claimed[]
  isAlive: boolean
  store: Store
}

const lanes = ['one.test', 'two.test', 'three.test']
const accountId = '01900000-0000-7000-8000-000000000001'

function makeModel(store: Store, clock: FakeClock, random: () => number) {
  const nodes: Node[] = []
  const zombies: Node[] = []
  let epoch = 1_000 * Math.floor(random() * 1e6)
  const accepted = new Set<number>()
  /** How often the recipient has it, and how often a node went with it in hand. */
  const arrived = new Map<number, number>()
  const lost = new Map<number, number>()
  const add = (to: Map<number, number>, id: number) => to.set(id, (to.get(id) ?? 0) + 1)
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)]
  const living = () => nodes.filter(({ isAlive }) => isAlive)
  const settled = async ({ store: own, epoch }: Node, rows: readonly Claimed[]) => {
    const delivered = rows.map((row): Settlement => {
      const { id, emailId, accountId, class: of, recipient } = row
      const facts = { id, emailId, accountId, class: of, recipient, attempts: row.attempts + 1 }
      return {
        ...facts,
        kind: 'delivered',
        startedAt: clock.now(),
        reply: '250 ok',
        remote: null,
        tls: null,
        transcript: '',
      }
    })
    const how = { lease: leaseOf({ epoch }, 0), now: clock.now(), land }
    return await own.byRow((tx) => settle(tx, delivered, how))
  }
  const start = async (number: number) => {
    const node: Node = {
      name: `node${number}`,
      number,
      epoch: ++epoch,
      inHand: [],
      isAlive: true,
      store: {
        ...store,
        node: { number, epoch, silentMs: () => 0, isOthers: () => false, othersCommits: () => 0 },
      },
    }
    nodes[number - 1] = node
    await store.write((tx) => releaseLeases(tx, { thread: 0, node, now: clock.now() }))
  }
  const acts = {
    async accept() {
      const node = pick(living())
      if (node === undefined) return
      const rows = Array.from({ length: 1 + Math.floor(random() * 5) }, () => {
        const id = store.ids.serial()
        const lane = pick(lanes) ?? ''
        const times = { dueAt: clock.now(), expiresAt: clock.now() + 1e9 }
        const of = random() < 0.5 ? 0 : 2
        return {
          id,
          emailId: `mail-${id}`,
          accountId,
          recipient: `a@${lane}`,
          lane,
          ...times,
          class: of,
        } as const
      })
      await store.write(async (tx) => {
        await enqueue(tx, rows)
        for (const { id } of rows)
          await tx.updateTable('queue').set({ node: node.number }).where('id', '=', id).execute()
      })
      for (const { id } of rows) accepted.add(id)
    },
    async claim() {
      const node = pick(living())
      if (node === undefined) return
      const wants = lanes.map((lane) => ({
        lane,
        accountId,
        class: random() < 0.5 ? (0 as const) : (2 as const),
        limit: 1 + Math.floor(random() * 6),
      }))
      const as = { now: clock.now(), node: node.number, lease: leaseOf(node, 0) }
      const claims = await store.byRow((tx) => claim(tx, wants, as))
      for (const { taken } of claims) node.inHand.push(...taken)
    },
    async settle() {
      const node = pick(living())
      if (node === undefined) return
      const rows = node.inHand.splice(0, 1 + Math.floor(random() * 4))
      for (const { id } of rows) add(arrived, id)
      t.equal(await settled(node, rows), rows.length, 'what a living node has in hand is its own')
    },
    async die() {
      const node = pick(living())
      if (node === undefined || living().length < 2) return
      node.isAlive = false
      for (const { id } of node.inHand) add(lost, id)
      zombies.push(node)
    },
    async adopt() {
      const node = pick(living())
      const gone = pick(nodes.filter(({ isAlive }) => !isAlive))
      if (node === undefined || gone === undefined) return
      const of = 1 + Math.floor(random() * 2)
      await adopt({ store: node.store, clock, land }, gone, {
        of,
        rank: Math.floor(random() * of),
        signal: new AbortController().signal,
        onTaken: () => {},
      })
    },
    async restart() {
      const gone = pick(nodes.filter(({ isAlive }) => !isAlive))
      if (gone !== undefined) await start(gone.number)
    },
    /** It wakes up after others have taken over, or before: then what it has to tell is as good as ever. */
    async zombie() {
      const node = pick(zombies)
      if (node === undefined) return
      const rows = node.inHand.splice(0, 3)
      const ids = rows.map(({ id }) => id)
      const own = await store.read
        .selectFrom('queue')
        .select('id')
        .where('lease', '=', leaseOf(node, 0))
        .execute()
      const expected = own.filter(({ id }) => ids.includes(id)).length
      for (const id of ids) add(arrived, id)
      t.equal(await settled(node, rows), expected, 'what others have taken over counts nothing')
    },
    async later() {
      await clock.advance(1_000)
    },
  }
  const names = Object.keys(acts) as (keyof typeof acts)[]
  return {
    async run(steps: number) {
      for (const number of [1, 2, 3]) await start(number)
      for (let step = 0; step < steps; step++) await acts[pick(names) ?? 'later']()
      // The end of it: who lives takes over until nothing is left of the others, and sends all.
      const node = living()[0]
      if (node === undefined) throw new Error('one of them lives')
      for (const other of living()) if (other !== node) Object.assign(other, { isAlive: false })
      for (const gone of nodes.filter(({ isAlive }) => !isAlive)) {
        for (const { id } of gone.inHand) if (!zombies.includes(gone)) add(lost, id)
        const how = { rank: 0, of: 1, signal: new AbortController().signal, onTaken: () => {} }
        while ((await adopt({ store: node.store, clock, land }, gone, how)) > 0);
      }
      for (
        let rounds = 0;
        (await store.read.selectFrom('queue').select('id').execute()).length > 0;
        rounds++
      ) {
        if (rounds > 500) throw new Error('The queue does not empty')
        await acts.claim()
        if (node.inHand.length > 0) await acts.settle()
        await clock.advance(10)
      }
    },
    async check() {
      const ended = await store.read.selectFrom('deliveries').select(['id', 'status']).execute()
      t.same(new Set(ended.map(({ id }) => id)), accepted, 'each mail has ended once')
      for (const id of accepted) {
        const times = arrived.get(id) ?? 0
        t.ok(times >= 1 && times <= 1 + (lost.get(id) ?? 0), `${id} arrived ${times} times`)
      }
      const { n } = await store.read
        .selectFrom('events')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .where('type', '=', 'delivered')
        .executeTakeFirstOrThrow()
      t.equal(n, accepted.size, 'and is told once')
    },
  }
}

t.test(
  'whatever nodes do and whenever they die, no mail is lost and none ends twice',
  async (t) => {
    const first = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9))
    t.comment(`SEED=${first}`)
    const clock = new FakeClock()
    const { store } = await outboundRig(t, { clock, stopped: true })
    for (let run = 0; run < thoroughly(12, 600); run++) {
      const model = makeModel(store, clock, seeded(first + run))
      await model.run(60)
      await model.check()
      for (const table of ['deliveries', 'events', 'deferred_transcripts'] as const)
        await store.write((tx) => tx.deleteFrom(table).execute())
      if (!t.passing()) return t.comment(`failed with SEED=${first + run}`)
    }
  },
)

t.test('what a node had in hand is one attempt more, and its timeline says why', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock, stopped: true })
  const { store } = rig
  const [began, waits] = [
    await rig.send({ to: 'a@one.test' }),
    await rig.send({ to: 'b@two.test' }),
  ]
  const gone = { name: 'mail2', number: 2, epoch: 4 }
  await store.write((tx) => tx.updateTable('queue').set({ node: 2 }).execute())
  const as = { now: clock.now(), node: 2, lease: leaseOf(gone, 3) }
  const want = { lane: 'one.test', class: 0, accountId: rig.accountId, limit: 5 } as const
  const [claimed] = await store.byRow((tx) => claim(tx, [want], as))
  t.equal(claimed?.taken.length, 1)
  t.same(await rig.take('one.test', 5), [], 'it is another node’s')
  const due: string[] = []
  const how = {
    rank: 0,
    of: 1,
    signal: new AbortController().signal,
    onTaken: (all: readonly { lane: string }[]) => due.push(...all.map(({ lane }) => lane)),
  }
  t.equal(await adopt({ store, clock, land }, gone, how), 2)
  t.same(due.sort(), ['one.test', 'two.test'])
  t.match(await rig.email(began), {
    recipients: [
      { attempts: 1, reply: /^Node lost: mail2 was gone while it had this mail in hand/ },
    ],
  })
  t.match(await rig.email(waits), { recipients: [{ attempts: 0 }] })
  await rig.start()
  await rig.becomes(began, 'delivered')
  await rig.becomes(waits, 'delivered')
})

t.test(
  'a claim that is committed and whose answer is lost holds no mail for an hour',
  async (t) => {
    const rig = await outboundRig(t, { stopped: true })
    const { store } = rig
    const id = await rig.send({ to: 'a@one.test' })
    const { byRow } = store
    let lost = 0
    // The connection ends between the commit and its answer.
    Object.assign(store, {
      byRow: async (work: Parameters<typeof byRow>[0]) => {
        const done = await byRow(work)
        const leased = await store.read
          .selectFrom('queue')
          .select('id')
          .where('lease', 'is not', null)
          .execute()
        if (lost > 0 || leased.length === 0) return done
        lost++
        throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' })
      },
    })
    await rig.start()
    await rig.becomes(id, 'delivered')
    t.equal(lost, 1)
    t.equal(rig.mx.messages.length, 1)
  },
)
