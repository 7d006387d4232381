import t, { type Test } from 'tap'
import { recordConsent } from '../../src/consent/index.js'
import type { MailEvent } from '../../src/events/index.js'
import { makeForgetEvents } from '../../src/events/index.js'
import { silentLog } from '../../src/log/index.js'
import { readCursors } from '../../src/stats/cursors.js'
import {
  questionOf,
  readStats,
  rollUp,
  type Stats,
  type StatsInput,
} from '../../src/stats/index.js'
import { daysQuery } from '../../src/stats/read-figures.js'
import { behind } from '../../src/stats/read-logs.js'
import { FakeClock } from '../support/clock.js'
import { eventOf, type LoggedMail, openHappenings } from '../support/log-happenings.js'
import { aboutSqlite } from '../support/postgres.js'
import { queryPlan } from '../support/query-plan.js'
import { openTestStore } from '../support/store.js'

const dayMs = 86_400_000
const start = Date.parse('2026-11-10T00:00:00Z')

/** What is to be counted, as the generator knows it: the figures by the name of the counter that an answer has. */
interface Fact {
  accountId: string
  day: string
  mail: LoggedMail
  provider: string | undefined
  counts: Record<string, number>
}

/** Random numbers that a seed gives again. */
function randomOf(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Some weeks of two accounts: mails and what happened to them, in slices, with the facts beside. */
function makeWorld(accounts: readonly string[], seed: number) {
  const random = randomOf(seed)
  const pick = <T>(list: readonly T[]) => list[random(list.length)] as T
  const mails: LoggedMail[] = []
  const facts: Fact[] = []
  const seen = new Set<string>()
  let ids = 0
  const fact = (mail: LoggedMail, at: number, provider: string | undefined, counts: object) =>
    void facts.push({
      accountId: mail.accountId,
      mail,
      provider,
      day: new Date(at).toISOString().slice(0, 10),
      counts: counts as Record<string, number>,
    })
  const newMail = (): LoggedMail => {
    const broadcastId = random(3) === 0 ? `00000000-0000-7000-8000-00000000000${random(3)}` : null
    const mail: LoggedMail = {
      id: `00000000-0000-7000-8000-${(0xffffff - ids).toString(16).padStart(12, '0')}`,
      accountId: pick(accounts),
      domain: pick(['one.test', 'two.test', 'gone.test']),
      type: broadcastId === null ? pick(['transactional', 'marketing']) : 'marketing',
      broadcastId,
      tags:
        random(2) === 0
          ? []
          : [
              { name: 'plan', value: pick(['a', 'b', 'c:d']) },
              { name: 'x', value: 'y' },
            ],
      createdAt: start + random(20) * dayMs + random(dayMs),
      copies: Array.from({ length: 1 + random(2) }, () => {
        const hosted = random(2) === 0
        return {
          id: ++ids,
          recipient: `r${ids}@d${random(4)}.test`,
          remote: hosted ? 'aspmx.l.google.com [192.0.2.1]' : `mx.d9.test [192.0.2.2]`,
        }
      }),
    }
    ids++
    mails.push(mail)
    fact(mail, mail.createdAt, undefined, { mails: 1, accepted: mail.copies.length })
    return mail
  }
  const newEvent = (): MailEvent => {
    const mail = pick(mails)
    const copy = pick(mail.copies)
    const provider = copy.remote.includes('google')
      ? 'Google'
      : (copy.recipient.split('@')[1] ?? '')
    const at = mail.createdAt + random(3 * dayMs)
    const before = seen.has(`end ${copy.id}`) ? ('delivered' as const) : undefined
    const ended = { answered: before === undefined ? 1 : 0 }
    const make = (
      type: MailEvent['type'],
      detail: MailEvent['detail'],
      counts: object,
      of?: string,
    ) => {
      fact(mail, at, of ?? provider, counts)
      const isEnd = 'answered' in counts
      if (isEnd) seen.add(`end ${copy.id}`)
      return eventOf(mail, copy, type, { at, detail, ...(isEnd ? { before } : {}) })
    }
    const first = (kind: string) => {
      const isFirst = !seen.has(`${kind} ${mail.id}`)
      seen.add(`${kind} ${mail.id}`)
      return isFirst
    }
    switch (random(12)) {
      case 0:
        return make('bounced', { bounceType: 'Permanent' }, { bouncedHard: 1, ...ended })
      case 1:
        return make('bounced', { bounceType: 'Transient' }, { bouncedSoft: 1, ...ended })
      case 2:
        return make('complained', { evidence: 'dkim' }, { complained: 1 })
      case 3:
        return make('complained', {}, { complainedUnproved: 1 })
      case 4:
        return make('deferred', null, { deferred: 1 }, copy.recipient.split('@')[1])
      case 5:
        return make('opened', { machine: true, sign: 's' }, { openedByMachines: 1 })
      case 6: {
        const unique = first('opened')
        const detail = unique ? { first: true as const } : {}
        return make('opened', detail, { opened: 1, openedUnique: unique ? 1 : 0 })
      }
      case 7: {
        const unique = first('clicked')
        const detail = unique ? { first: true as const } : {}
        return make('clicked', detail, { clicked: 1, clickedUnique: unique ? 1 : 0 })
      }
      case 8:
        return make('failed', null, { failed: 1 })
      case 9:
        return make('relayed', null, { relayed: 1, ...ended })
      default:
        return make('delivered', null, { delivered: 1, ...ended })
    }
  }
  return { facts, newMail, newEvent, random, fact, pick, mails }
}

const counted = ['day', 'domain', 'provider', 'tag', 'broadcast', 'type'] as const

/** The naive answer: each fact looked at again. */
function naive(facts: readonly Fact[], accountId: string, input: StatsInput) {
  const groupBy = (input.groupBy ?? 'day').split(',') as (typeof counted)[number][]
  const groups: Record<string, Record<string, number>> = {}
  for (const { mail, day, provider, counts } of facts.filter(
    (one) => one.accountId === accountId,
  )) {
    const tags = mail.tags.map(({ name, value }) => `${name}:${value}`)
    const domain = mail.domain === 'gone.test' ? 'null' : mail.domain
    if (input.from !== undefined && day < input.from) continue
    if (input.to !== undefined && day > input.to) continue
    if (input.domain !== undefined && domain !== input.domain) continue
    if (input.type !== undefined && mail.type !== input.type) continue
    if (input.broadcastId !== undefined && mail.broadcastId !== input.broadcastId) continue
    if (input.provider !== undefined && provider !== input.provider) continue
    const asked = tags.filter(
      (tag) => input.tag === undefined || tag === input.tag || tag.startsWith(`${input.tag}:`),
    )
    if (input.tag !== undefined && asked.length === 0) continue
    if (groupBy.includes('provider') && provider === undefined) continue
    const names = { day, domain, provider, broadcast: String(mail.broadcastId), type: mail.type }
    for (const tag of groupBy.includes('tag') ? asked : ['']) {
      const name = groupBy.map((one) => (one === 'tag' ? tag : names[one])).join(' ')
      const sums = groups[name] ?? {}
      groups[name] = sums
      for (const [counter, n] of Object.entries(counts)) {
        if (n > 0) sums[counter] = (sums[counter] ?? 0) + n
      }
    }
  }
  return groups
}

/** The answer in the naive one's form: nothing that is 0. */
function plain({ groups, groupBy }: Stats) {
  const shown: Record<string, Record<string, number>> = {}
  for (const group of groups) {
    const { tag } = group
    const names = { ...group, broadcast: group.broadcastId, tag: `${tag?.name}:${tag?.value}` }
    const counts = Object.entries(group).filter(([, n]) => typeof n === 'number' && n > 0)
    if (counts.length === 0) continue
    shown[groupBy.map((one) => String(names[one])).join(' ')] = Object.fromEntries(counts) as never
  }
  return shown
}

const range = { from: '2026-11-01', to: '2026-12-20', limit: 90 }
const questions: readonly StatsInput[] = [
  ...counted.map((groupBy) => ({ groupBy })),
  { groupBy: 'day,domain' },
  { groupBy: 'type,domain' },
  { groupBy: 'provider,type' },
  { groupBy: 'tag,day' },
  { groupBy: 'day', domain: 'one.test' },
  { groupBy: 'domain', type: 'marketing' as const },
  { groupBy: 'day', provider: 'Google' },
  { groupBy: 'tag', tag: 'plan' },
  { groupBy: 'domain', tag: 'plan:c:d' },
  { groupBy: 'broadcast', broadcastId: '00000000-0000-7000-8000-000000000001' },
  { groupBy: 'day', from: '2026-11-12', to: '2026-11-14' },
].map((input) => ({ ...range, ...input }))

async function open(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const happenings = openHappenings({ store, clock })
  const accountId = await happenings.account('City', 'one.test', 'two.test')
  const otherId = await happenings.account('Other')
  const ask = (account: string, input: StatsInput) =>
    readStats(store.read, account, questionOf(input, clock.now()))
  return { clock, store, ...happenings, accountId, otherId, ask }
}

t.test('figures equal what a look at every event says, however far they are counted', async (t) => {
  const { store, accountId, otherId, accept, happen, ask } = await open(t)
  const world = makeWorld([accountId, accountId, otherId], 7)
  const { random, newMail, newEvent, facts } = world
  const gone = new Set<string>()
  for (let round = 0; round < 40; round++) {
    await accept(Array.from({ length: 1 + random(8) }, newMail))
    await happen(Array.from({ length: random(30) }, newEvent))
    const mail = world.pick(world.mails)
    const at = mail.createdAt + 1_000
    const kind = world.pick(['unsubscribed', 'left_topic', 'bounced'] as const)
    const copy = world.pick(mail.copies)
    const by = random(4) === 0 ? { by: 'return' } : {}
    await store.write((tx) =>
      recordConsent(tx, mail.accountId, copy.recipient, {
        at,
        kind,
        detail: { emailId: mail.id, ...by },
      }),
    )
    const who = `${mail.id} ${copy.recipient.toLowerCase()}`
    if (kind !== 'bounced' && by.by === undefined && !gone.has(who)) {
      gone.add(who)
      const provider = copy.remote.includes('google') ? 'Google' : copy.recipient.split('@')[1]
      world.fact(mail, at, provider, { unsubscribed: 1 })
    }
    if (random(2) === 0) await rollUp(store, 1 + random(20))
    const input = questions[round % questions.length] ?? {}
    for (const id of [accountId, otherId]) {
      t.strictSame(plain(await ask(id, input)), naive(facts, id, input), JSON.stringify(input))
    }
  }
  for (const last of [false, true]) {
    if (last) while (await rollUp(store, 13)) {}
    for (const input of questions) {
      for (const id of [accountId, otherId]) {
        t.strictSame(plain(await ask(id, input)), naive(facts, id, input), JSON.stringify(input))
      }
    }
  }
  const { total } = await ask(accountId, { ...range, groupBy: 'tag' })
  t.equal(total.mails, world.mails.filter((mail) => mail.accountId === accountId).length)
})

t.test('figures stay when the events go, which wait until they are counted', async (t) => {
  const { store, accountId, accept, happen, ask } = await open(t)
  const { newMail, newEvent } = makeWorld([accountId], 11)
  await accept(Array.from({ length: 50 }, newMail))
  await happen(Array.from({ length: 400 }, newEvent))
  const all = () => Promise.all(questions.map((input) => ask(accountId, input)))
  const before = await all()
  const forget = makeForgetEvents(
    { store, log: silentLog },
    async () => new Map([[accountId, dayMs]]),
  )
  const left = async () => (await store.read.selectFrom('events').select('id').execute()).length
  const long = Date.parse('2027-11-10T00:00:00Z')
  await forget(long, new AbortController().signal)
  t.equal(await left(), 400, 'nothing of it is counted yet')
  await rollUp(store, 150)
  await forget(long, new AbortController().signal)
  t.equal(await left(), 250, 'what is counted goes')
  t.strictSame(await all(), before)
  while (await rollUp(store)) {}
  await forget(long, new AbortController().signal)
  t.equal(await left(), 1, 'the newest keeps its number taken')
  t.strictSame(await all(), before, 'to the unit')
})

t.test('a slice that fails in its middle leaves the figures as they were', async (t) => {
  const { store, accountId, accept, happen, ask } = await open(t)
  const { newMail, newEvent } = makeWorld([accountId], 13)
  await accept(Array.from({ length: 20 }, newMail))
  await happen(Array.from({ length: 100 }, newEvent))
  const before = await ask(accountId, range)
  let statements = 0
  const failing = {
    ...store,
    byRow: (work: Parameters<typeof store.write>[0]) =>
      store.write(async (tx) => {
        await work(tx)
        statements++
        throw new Error('as a crash before the commit')
      }),
  } as typeof store
  await t.rejects(rollUp(failing, 30), /as a crash/)
  t.equal(statements, 1)
  t.strictSame(await store.read.selectFrom('figures').selectAll().execute(), [])
  t.strictSame(await ask(accountId, range), before)
  // Two at once, as when a thread that was given up comes back: the second finds its rows counted.
  await Promise.all([rollUp(store, 30), rollUp(store, 30)])
  while (await rollUp(store, 30)) {}
  t.strictSame(await ask(accountId, range), before)
  t.equal(await rollUp(store, 30), false, 'and nothing is left to do')
})

t.test('the log of before says by itself which events were the first', async (t) => {
  const { store, accountId, accept, happen, ask } = await open(t)
  const { newMail, newEvent, facts } = makeWorld([accountId], 17)
  await accept(Array.from({ length: 30 }, newMail))
  const events = Array.from({ length: 300 }, newEvent)
  // As an older version has written them.
  await happen(
    events.map(({ before: _, detail, ...event }) => {
      const { first: __, ...rest } = detail ?? {}
      return { ...event, detail: detail && rest }
    }),
  )
  const last = await store.read
    .selectFrom('events')
    .select('id')
    .orderBy('id', 'desc')
    .executeTakeFirst()
  await store.write((tx) =>
    tx
      .updateTable('figure_cursors')
      .set({ untold_until: last?.id ?? 0 })
      .execute(),
  )
  for (const input of questions) {
    t.strictSame(plain(await ask(accountId, input)), naive(facts, accountId, input))
  }
  while (await rollUp(store, 37)) {}
  for (const input of questions) {
    t.strictSame(plain(await ask(accountId, input)), naive(facts, accountId, input))
  }
})

t.test(
  'an answer is an index search, and a day of an account has a bounded number of rows',
  aboutSqlite,
  async (t) => {
    const { store, accountId, accept, ask, clock } = await open(t)
    const { newMail } = makeWorld([accountId], 19)
    const many = Array.from({ length: 1_000 }, (_, n) => ({
      ...newMail(),
      createdAt: start,
      domain: 'one.test',
      type: 'transactional' as const,
      broadcastId: null,
      tags: [{ name: 'order', value: String(n) }],
    }))
    await accept(many)
    while (await rollUp(store)) {}
    const rows = await store.read
      .selectFrom('figures')
      .select('key')
      .where('breakdown', '=', 'tag')
      .execute()
    t.equal(rows.length, 201)
    const { groups } = await ask(accountId, { ...range, groupBy: 'tag', limit: 10 })
    t.equal(groups.length, 11)
    t.match(groups[10], { tag: null, other: true })
    t.equal(
      groups.reduce((sum, { mails }) => sum + (mails ?? 0), 0),
      1_000,
      'none is lost',
    )
    const question = questionOf({ ...range, groupBy: 'day,domain', tag: 'order' }, clock.now())
    const plan = await queryPlan(
      store.read,
      daysQuery(store.read, accountId, question, question.groupBy),
    )
    t.match(
      plan.join('\n'),
      /SEARCH figures USING PRIMARY KEY \(account_id=\? AND breakdown=\? AND day>\? AND day<\?\)/,
    )
    t.notMatch(plan.join('\n'), /SCAN (?!figure_cursors)/)
  },
)

t.test('a VACUUM that numbers mails anew takes nothing from the figures', async (t) => {
  const { store, accountId, accept, ask, clock } = await open(t)
  const { newMail } = makeWorld([accountId], 23)
  await accept(Array.from({ length: 10 }, newMail))
  while (await rollUp(store)) {}
  await store.write((tx) => tx.updateTable('figure_cursors').set({ mail_number: 3 }).execute())
  const { startRollUp } = await import('../../src/stats/index.js')
  const running = startRollUp({ store, clock, log: silentLog })
  await running.stop()
  await accept([newMail()])
  t.equal((await ask(accountId, range)).total.mails, 11)
})

t.test(
  'what is not counted yet is found by its number, however much an account has',
  aboutSqlite,
  async (t) => {
    const store = await openTestStore(t)
    const cursors = await readCursors(store.read)
    for (const [log, query] of Object.entries(behind)) {
      for (const accountId of [undefined, 'one']) {
        const options = { limit: 250, upTo: 1_000, ...(accountId !== undefined && { accountId }) }
        const plan = await queryPlan(store.read, query(store.read, cursors, options))
        t.match(plan, [/^SEARCH \w+ USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)$/], log)
        t.equal(plan.length, 1, 'and nothing is sorted')
      }
    }
  },
)
