// Issue 46: nodes over one PostgreSQL while they are killed, stopped, cut off, drained and started, and the server crashes.

import t, { type Test } from 'tap'
import { dutyNames } from '../../src/nodes/index.js'
import { type Chaos, type Fault, faults, openChaos } from '../support/chaos.js'
import { becomes } from '../support/nodes.js'
import { noPostgres } from '../support/postgres.js'
import { isThorough } from '../support/thorough.js'

t.setTimeout(900_000)
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
// By hand, such as FAULTS=14: so many at four nodes, of every kind; minutes each.
const drawn = Number(process.env.FAULTS ?? 0)
// By hand, such as ONLY=loss,full: only these, one after the other.
const only = process.env.ONLY?.split(',').filter((fault): fault is Fault =>
  faults.some((one) => one === fault),
)
// Which take a minute each.
const rare: ReadonlySet<Fault> = new Set(['clock', 'full', 'loss'])
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

t.test(`whatever comes upon nodes, SEED=${seed}`, { skip: noPostgres ?? false }, async (t) => {
  const chaos = await openChaos(t, { nodes: drawn > 0 ? 4 : 3, injectors: 2, seed })
  try {
    await run(t, chaos)
  } finally {
    chaos.end()
  }
})

async function run(t: Test, chaos: Chaos): Promise<void> {
  const { strike, names, random } = chaos
  const usual: Fault[] = ['kill', 'database', 'cut']
  const short = isThorough ? [...usual, ...faults.filter((one) => rare.has(one))] : usual
  const schedule = only ?? (drawn > 0 ? scheduleOf(random, drawn) : short)
  for (const fault of schedule) {
    const name = names[Math.floor(random() * names.length)] ?? ''
    await sleep(schedule === short ? 500 : 1_000 + random() * 3_000)
    const before = chaos.mayRepeat()
    await strike(fault, name)
    t.comment(
      `${fault} ${name}: ${chaos.mayRepeat() - before} in hand, ${chaos.accepted.length} taken`,
    )
  }
  await sleep(schedule === short ? 1_000 : 4_000)
  await chaos.settle()
  await judge(t, chaos)
}

/** Each kind at least once, the others as they come. */
function scheduleOf(random: () => number, length: number): Fault[] {
  const more = Array.from({ length }, () => faults[Math.floor(random() * faults.length)] ?? 'kill')
  return [...faults, ...more]
    .slice(0, length)
    .map((fault) => ({ fault, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ fault }) => fault)
}

async function judge(t: Test, chaos: Chaos): Promise<void> {
  const { rig, accepted, unsure, receiver, mayRepeat } = chaos
  const { ask, mx } = rig
  const count = async (what: string) =>
    (await ask<{ n: number }>(`select count(*)::int as n from ${what}`))[0]?.n ?? 0
  const total = accepted.length
  t.ok(total > 50, `${total} mails`)
  // However slow this machine is just now: what waits becomes less.
  let seen = { waiting: Number.POSITIVE_INFINITY, at: performance.now() }
  await becomes(
    async () => {
      const waiting = await count('queue')
      if (waiting < seen.waiting) seen = { waiting, at: performance.now() }
      if (performance.now() - seen.at > 60_000) throw new Error(`${waiting} wait for a minute`)
      return waiting
    },
    (n) => n === 0,
    600_000,
  ).catch(async (error: unknown) => {
    const rows = await ask(
      'select queue.*, extract(epoch from now()) * 1000 as now, (select json_agg(e) from events e where e.email_id = queue.email_id) as events from queue limit 5',
    )
    t.comment(JSON.stringify(rows))
    for (const line of chaos.troubles()) t.comment(line)
    t.comment(
      `${mx.messages.length} came, ${mx.sessions.filter(({ closed }) => !closed).length} sessions`,
    )
    throw error
  })

  const arrived = new Map<string, Set<string>>()
  const copies = new Map<string, number>()
  for (const { to, raw } of mx.messages) {
    const id = /^message-id: *(\S+)/im.exec(raw.toString('latin1'))?.[1] ?? ''
    for (const one of to) {
      copies.set(`${one} ${id}`, (copies.get(`${one} ${id}`) ?? 0) + 1)
      arrived.set(one, (arrived.get(one) ?? new Set()).add(id))
    }
  }
  const lost = accepted.filter((to) => !arrived.has(to) && !unsure.has(to))
  t.same(lost, [], 'each that was answered with 200 arrived')
  t.same(
    [...arrived.keys()].filter((to) => !accepted.includes(to)),
    [],
    'and no other one',
  )
  t.same(
    [...arrived].filter(([to, ids]) => ids.size > 1 && !unsure.has(to)),
    [],
    'a key is one mail, with one Message-ID',
  )
  const repeats = [...copies.values()].reduce((sum, n) => sum + n - 1, 0)
  t.comment(`Answers: ${[...chaos.statuses].sort()}; ${unsure.size} mails were unsure`)
  t.comment(`${total} mails, ${repeats} came twice, ${mayRepeat()} were in hand at faults`)
  t.ok(repeats <= mayRepeat(), `${repeats} came twice, of ${mayRepeat()} that were in hand`)

  t.same(
    [...chaos.statuses].filter((status) => ![0, 200, 409, 503].includes(status)),
    [],
    'who was not served is to come again',
  )
  const ids = (await ask<{ id: string }>('select id from emails')).map(({ id }) => id)
  const known = ids.length
  t.ok(known <= total && known >= total - unsure.size, `${known} of ${total} are in the database`)
  t.equal(await count("emails where status = 'delivered'"), known)
  t.equal(await count("deliveries where status = 'delivered'"), known, 'the log has each once')
  t.equal(await count('inbound_spool'), 0)
  const [used] = await ask<{ n: number }>(
    'select mails::int as n from usage where length(period) = 10 order by mails desc limit 1',
  )
  t.equal(used?.n, known, 'each is counted once')
  // Rolled up by whoever has that duty, behind the logs.
  await becomes(
    () =>
      ask<{ accepted: number; delivered: number }>(
        "select coalesce(sum(accepted), 0)::int as accepted, coalesce(sum(delivered), 0)::int as delivered from figures where breakdown = 'broadcast'",
      ),
    ([row]) => row?.accepted === known && row.delivered === known,
    60_000,
  )

  const told = () => {
    const events = new Map<string, string[]>()
    for (const { json } of receiver.received) {
      const told = events.get(json.emailId) ?? []
      if (!told.includes(json.event)) told.push(json.event)
      events.set(json.emailId, told)
    }
    return ids.map((id) => events.get(id) ?? [])
  }
  await becomes(
    async () => told().filter((events) => events.length === 2).length,
    (n) => n === known,
    90_000,
  )
  t.same(
    told().filter(
      (events) => !chaos.isReplayed() && events.join() !== 'email.sent,email.delivered',
    ),
    [],
    'webhooks came in the order of a mail',
  )
  await becomes(
    () =>
      ask<{ n: number }>(
        'select count(*)::int as n from duties join nodes using (epoch) where gone_at is null',
      ),
    ([row]) => row?.n === dutyNames.length,
    30_000,
  )
}
