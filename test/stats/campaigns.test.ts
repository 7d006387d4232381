import t, { type Test } from 'tap'
import { recordConsent } from '../../src/consent/index.js'
import { addContact, deleteContact } from '../../src/contacts/index.js'
import type { MailEvent } from '../../src/events/index.js'
import { countBefore } from '../../src/stats/campaigns/count.js'
import { beginsAt } from '../../src/stats/campaigns/hours.js'
import { linkOf, wordsOf } from '../../src/stats/campaigns/words.js'
import { rollUp } from '../../src/stats/index.js'
import { FakeClock } from '../support/clock.js'
import { eventOf, type LoggedMail, openHappenings } from '../support/log-happenings.js'
import { openTestStore } from '../support/store.js'

const dayMs = 86_400_000
const start = Date.parse('2026-11-10T09:30:00Z')
const campaigns = ['00000000-0000-7000-8000-0000000000a1', '00000000-0000-7000-8000-0000000000a2']

function randomOf(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** An account with 60 contacts, of whom every tenth is none, and two campaigns to them. */
async function open(t: Test) {
  const clock = new FakeClock(start)
  const store = await openTestStore(t, { clock })
  const { account, accept, happen } = openHappenings({ store, clock })
  const accountId = await account('Shop', 'one.test')
  const contacts = new Map<string, string>()
  const mails: LoggedMail[] = []
  for (let n = 1; n <= 60; n++) {
    const address = `r${n}@d${n % 3}.test`
    if (n % 10 !== 0) {
      contacts.set(
        address,
        (await addContact({ store, clock }, accountId, { email: address })).contact.id,
      )
    }
    for (const [at, broadcastId] of campaigns.entries()) {
      const id = n + at * 100
      mails.push({
        id: `00000000-0000-7000-8000-${String(id).padStart(12, '0')}`,
        accountId,
        domain: 'one.test',
        type: 'marketing',
        broadcastId: n === 7 ? null : broadcastId,
        tags: [],
        createdAt: start + n * 1_000,
        copies: [
          { id, recipient: n % 2 === 0 ? address.toUpperCase() : address, remote: 'mx [1]' },
        ],
      })
    }
  }
  const rows = (table: 'broadcast_hours' | 'broadcast_people' | 'broadcast_links') =>
    store.read.selectFrom(table).selectAll().execute() as Promise<Record<string, unknown>[]>
  return { clock, store, accountId, accept, happen, contacts, mails, rows }
}

type World = Awaited<ReturnType<typeof open>>

/** Random events of the mails, as the appliance writes them; `seen` knows what was the first of its kind. */
function makeEvents({ mails }: World, random: (below: number) => number) {
  const seen = new Set<string>()
  const once = (key: string) => !seen.has(key) && seen.add(key) !== undefined
  return (): MailEvent => {
    const mail = mails[random(mails.length)] as LoggedMail
    const [copy] = mail.copies as [LoggedMail['copies'][number]]
    // A clock that was set back, and one that was set forward by a month.
    const at = mail.createdAt + random(3 * dayMs) - dayMs + (random(9) === 0 ? 30 * dayMs : 0)
    const ended = once(`end ${mail.id}`) ? {} : { before: 'delivered' as const }
    const kind = random(8)
    if (kind > 5) {
      const type = kind === 6 ? 'opened' : 'clicked'
      const url = `https://x.test/${random(4)}?for=${copy.recipient}`
      const more = type === 'clicked' ? { url } : {}
      if (random(3) === 0)
        return eventOf(mail, copy, type, { at, detail: { machine: true, ...more } })
      const detail = once(`${type} ${mail.id}`) ? { first: true as const, ...more } : more
      return eventOf(mail, copy, type, { at, detail })
    }
    if (kind === 5) return eventOf(mail, copy, 'complained', { at, detail: { evidence: 'dkim' } })
    if (kind === 4) {
      const reply = `550 5.1.1 <${copy.recipient}>: no mailbox ${random(2)} (a1b2c3d4e5f6g7h${random(99)})`
      const detail = { bounceType: 'Permanent' as const, bounceClass: 'bad-mailbox' }
      return { ...eventOf(mail, copy, 'bounced', { at, detail, ...ended }), reply }
    }
    return eventOf(
      mail,
      copy,
      kind === 3 ? 'deferred' : 'delivered',
      kind === 3 ? { at } : { at, ...ended },
    )
  }
}

/** All events of campaigns, looked at again. */
async function naive({ store, contacts, mails }: World) {
  const events = await store.read.selectFrom('events').selectAll().orderBy('id').execute()
  const consents = await store.read.selectFrom('consent').selectAll().orderBy('id').execute()
  const broadcastOf = new Map(mails.map(({ id, broadcastId }) => [id, broadcastId]))
  const hours: Record<string, Record<string, number>> = {}
  const links: Record<string, { clicked: number; machine: number; people: Set<string> }> = {}
  const people: Record<string, Record<string, number>> = {}
  const providers: Record<string, string> = {}
  const bounced: Record<string, number> = {}
  const put = (broadcast: string, address: string, what: string, at: number) => {
    const contact = contacts.get(address.toLowerCase())
    if (contact === undefined) return
    const person = people[`${broadcast} ${contact}`] ?? {}
    people[`${broadcast} ${contact}`] = person
    providers[`${broadcast} ${contact}`] = address.split('@')[1]?.toLowerCase() ?? ''
    person[what] = what === 'unreached_at' ? at : Math.min(at, person[what] ?? at)
  }
  const count = (broadcast: string, at: number, what: string) => {
    const place = `${broadcast} ${beginsAt(at, null)}`
    const row = hours[place] ?? {}
    hours[place] = row
    row[what] = (row[what] ?? 0) + 1
  }
  for (const { email_id, type, at, recipient, detail: json } of events) {
    const broadcast = broadcastOf.get(email_id) ?? null
    if (broadcast === null || recipient === null) continue
    const detail = JSON.parse(json ?? '{}')
    const isVisit = type === 'opened' || type === 'clicked'
    if (isVisit) {
      count(broadcast, at, detail.machine ? `${type}_machine` : type)
      if (detail.first) count(broadcast, at, `${type}_unique`)
      if (!detail.machine) put(broadcast, recipient, `${type}_at`, at)
    } else if (type === 'bounced') {
      if (detail.before === 'bounced') continue
      count(broadcast, at, 'bounced_hard')
      bounced[broadcast] = (bounced[broadcast] ?? 0) + 1
      put(broadcast, recipient, 'unreached_at', at)
    } else if (type === 'complained') {
      count(broadcast, at, 'complained')
      put(broadcast, recipient, 'complained_at', at)
    } else count(broadcast, at, type)
    if (type !== 'clicked') continue
    const place = `${broadcast} ${linkOf(detail.url)}`
    const link = links[place] ?? { clicked: 0, machine: 0, people: new Set() }
    links[place] = link
    const contact = contacts.get(recipient.toLowerCase())
    if (detail.machine) link.machine++
    else link.clicked++
    if (!detail.machine && contact !== undefined) link.people.add(contact)
  }
  const gone = new Set<string>()
  for (const { address, at, detail, kind } of consents) {
    const broadcast = broadcastOf.get(JSON.parse(detail ?? '{}').emailId) ?? null
    if (broadcast === null || kind === 'returned_to_topic') continue
    if (!gone.has(`${broadcast} ${address}`)) count(broadcast, at, 'unsubscribed')
    gone.add(`${broadcast} ${address}`)
    put(broadcast, address, 'left_at', at)
  }
  const told = Object.fromEntries(
    Object.entries(links).map(([place, { people, ...rest }]) => [
      place,
      { ...rest, people: people.size },
    ]),
  )
  return { hours, people, providers, links: told, bounced }
}

/** The tables in the same form. */
async function counted({ rows, store }: World) {
  const counts = ['mails', 'accepted', 'answered']
  const hours = (await rows('broadcast_hours')).map(({ broadcast_id, at, ...row }) => [
    `${broadcast_id} ${at}`,
    Object.fromEntries(
      Object.entries(row).filter(([name, n]) => !counts.includes(name) && n !== 0),
    ),
  ])
  const noted = await rows('broadcast_people')
  const people = noted.map(
    ({ broadcast_id, contact_id, email_id: _, bounce: __, provider: ___, ...row }) => [
      `${broadcast_id} ${contact_id}`,
      Object.fromEntries(Object.entries(row).filter(([, at]) => at !== null)),
    ],
  )
  const links = (await rows('broadcast_links')).map((row) => [
    `${row.broadcast_id} ${row.url}`,
    { clicked: row.clicked, machine: row.clicked_machine, people: row.people },
  ])
  const bounces = await store.read
    .selectFrom('broadcast_bounces')
    .select(({ fn }) => ['broadcast_id', fn.sum<number>('count').as('count')])
    .groupBy('broadcast_id')
    .execute()
  return {
    hours: Object.fromEntries(hours.filter(([, row]) => Object.keys(row as object).length > 0)),
    people: Object.fromEntries(people),
    providers: Object.fromEntries(
      noted.map((row) => [`${row.broadcast_id} ${row.contact_id}`, row.provider]),
    ),
    links: Object.fromEntries(links),
    bounced: Object.fromEntries(bounces.map((row) => [row.broadcast_id, row.count])),
  }
}

/** Whoever was a contact's mail, with how it left. */
const leave = (
  { store, mails, accountId }: World,
  random: (below: number) => number,
  at: number,
) => {
  const mail = mails[random(mails.length)] as LoggedMail
  const address = (mail.copies[0]?.recipient ?? '').toLowerCase()
  // Whoever unticks several topics at once, or comes back and leaves again, has a row of each.
  return store.write(async (tx) => {
    const detail = { emailId: mail.id }
    for (let n = random(4); n >= 0; n--) {
      await recordConsent(tx, accountId, address, { at: at + n, kind: 'left_topic', detail })
      await recordConsent(tx, accountId, address, { at, kind: 'returned_to_topic', detail })
    }
    await recordConsent(tx, accountId, address, { at, kind: 'unsubscribed', detail })
  })
}

t.test(
  'campaigns equal a count over all events, whatever fails while they are counted',
  async (t) => {
    for (const seed of [3, 5, 11]) {
      const world = await open(t)
      const { store, mails } = world
      const random = randomOf(seed)
      const newEvent = makeEvents(world, random)
      await world.accept(mails)
      // As a kill before the commit does.
      const dying = {
        ...store,
        byRow: (work: Parameters<typeof store.write>[0]) =>
          store.write(async (tx) => {
            await work(tx)
            throw new Error('killed')
          }),
      } as typeof store
      for (let round = 0; round < 12; round++) {
        await world.happen(Array.from({ length: random(40) }, newEvent))
        await leave(world, random, start + round * 7_000_000)
        if (random(2) === 0) await t.rejects(rollUp(dying, 5 + random(30)), /killed/)
        if (random(3) === 0) await Promise.all([rollUp(store, 9), rollUp(store, 9)])
        else await rollUp(store, 1 + random(30))
      }
      while (await rollUp(store, 17)) {}
      t.strictSame(await counted(world), await naive(world), `seed ${seed}`)
      t.equal(await countBefore(store, 10), false, 'nothing is of before')
    }
  },
)

t.test('what was counted before campaigns were is counted once', async (t) => {
  const world = await open(t)
  const { store, rows } = world
  const random = randomOf(21)
  const newEvent = makeEvents(world, random)
  await world.accept(world.mails)
  await world.happen(Array.from({ length: 150 }, newEvent))
  await leave(world, random, start)
  while (await rollUp(store)) {}
  // As a database of before comes out of the migration.
  await store.write(async (tx) => {
    for (const table of [
      'hours',
      'providers',
      'links',
      'link_people',
      'bounces',
      'people',
    ] as const)
      await tx.deleteFrom(`broadcast_${table}`).execute()
    await tx
      .updateTable('figure_cursors')
      .set(({ ref }) => ({
        campaign_event_until: ref('event_id'),
        campaign_consent_until: ref('consent_id'),
      }))
      .execute()
  })
  t.strictSame(await rows('broadcast_people'), [])
  await world.happen(Array.from({ length: 50 }, newEvent))
  await leave(world, random, start + 1)
  while (await rollUp(store, 20)) {}
  while (await countBefore(store, 7)) {}
  t.strictSame(await counted(world), await naive(world))
})

t.test('what a contact did goes with the contact, the counts stay', async (t) => {
  const world = await open(t)
  const { store, clock, accountId, contacts, mails, rows } = world
  await world.accept(mails)
  const [mail] = mails as [LoggedMail]
  const [copy] = mail.copies as [LoggedMail['copies'][number]]
  const detail = { first: true as const, url: 'https://x.test/' }
  await world.happen([eventOf(mail, copy, 'clicked', { detail })])
  while (await rollUp(store)) {}
  t.equal((await rows('broadcast_people')).length, 1)
  await deleteContact({ store, clock }, accountId, contacts.get('r1@d1.test') ?? '')
  t.strictSame(await rows('broadcast_people'), [])
  t.strictSame(await store.read.selectFrom('broadcast_link_people').selectAll().execute(), [])
  t.match(await rows('broadcast_links'), [{ url: 'https://x.test/', clicked: 1, people: 1 }])
})

t.test('who leaves again counts once, also when the record of before has gone', async (t) => {
  const world = await open(t)
  const { store, accountId, mails, rows } = world
  await world.accept(mails)
  const leaves = (at: number) =>
    store.write((tx) =>
      recordConsent(tx, accountId, 'r1@d1.test', {
        at,
        kind: 'left_topic',
        detail: { emailId: mails[0]?.id ?? '' },
      }),
    )
  for (let n = 0; n < 4; n++) await leaves(start + n)
  while (await rollUp(store, 2)) {}
  await store.write((tx) =>
    tx
      .deleteFrom('consent')
      .where('at', '<', start + 3)
      .execute(),
  )
  await leaves(start + dayMs)
  await store.write((tx) =>
    tx
      .deleteFrom('consent')
      .where('at', '<', start + dayMs)
      .execute(),
  )
  await leaves(start + 2 * dayMs)
  while (await rollUp(store)) {}
  const counts = (await rows('broadcast_hours')).map(({ unsubscribed }) => Number(unsubscribed))
  t.equal(
    counts.reduce((sum, n) => sum + n, 0),
    1,
  )
  t.match(await rows('broadcast_people'), [{ left_at: start }])
})

t.test('hours in the first week, days later, in bounded many rows', (t) => {
  const hour = 3_600_000
  t.equal(beginsAt(start, start), Date.parse('2026-11-10T09:00:00Z'))
  t.equal(beginsAt(start + 7 * dayMs, start), Date.parse('2026-11-17T09:00:00Z'))
  t.equal(beginsAt(start + 8 * dayMs, start), Date.parse('2026-11-18T00:00:00Z'))
  t.equal(beginsAt(start - hour, start), Date.parse('2026-11-10T08:00:00Z'))
  const rows = new Set<number>()
  for (let at = start; at < start + 400 * dayMs; at += hour) rows.add(beginsAt(at, start))
  t.ok(rows.size < 600)
  t.end()
})

t.test('words of servers have neither addresses nor ids', (t) => {
  const said =
    '550-5.1.1 The email account ann@x.test  does not exist\r\n(Ann) q1w2e3r4t5y6-7 - gsmtp'
  t.equal(wordsOf(said, 'Ann@x.test'), '550-5.1.1 The email account … does not exist (…) … - gsmtp')
  t.equal(wordsOf('x'.repeat(5_000), 'a@b.c').length, 300)
  t.equal(linkOf('https://x.test/?to=ann%40x.test&a=1'), 'https://x.test/?to=…&a=1')
  t.equal(linkOf(`https://x.test/${'a'.repeat(3_000)}`), undefined)
  t.end()
})
