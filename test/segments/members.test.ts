import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import {
  addContact,
  changeContact,
  createList,
  deleteContact,
  deleteList,
  putOnList,
  takeOffList,
} from '../../src/contacts/index.js'
import { silentLog } from '../../src/log/index.js'
import { judgeRule, type Rule } from '../../src/rules/index.js'
import {
  brokenParts,
  changeSegment,
  createSegment,
  deleteSegment,
  keepSegments,
  listSegments,
  loadFacts,
} from '../../src/segments/index.js'
import type { Store } from '../../src/store/index.js'
import { lift, suppress } from '../../src/suppression/index.js'
import { createTopic, optIn, optOut } from '../../src/topics/index.js'
import { seeded } from '../shaping/seeded.js'
import { insertCampaignRows } from '../support/campaign-rows.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

async function open(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const deps = { store, clock }
  const { id: account } = await createAccount(deps, 'One')
  const never = new AbortController().signal
  /** `writes`: how many there are before all fail. */
  const keep = async (writes = Number.POSITIVE_INFINITY) => {
    let left = writes
    const write: Store['write'] = async (work) => {
      if (left-- <= 0) throw new Error('killed')
      return store.write(work)
    }
    const over = { clock, store: { ...store, write }, log: silentLog }
    await keepSegments(over, never).catch((error: Error) => {
      if (error.message !== 'killed') throw error
    })
  }
  /** Whom the rule of each segment holds for, asked of everybody; the counters are checked along. */
  const compare = async (t: Test, about: string) => {
    const contacts = await store.read
      .selectFrom('contacts')
      .selectAll()
      .where('account_id', '=', account)
      .execute()
    for (const segment of await listSegments(store.read, account)) {
      const { rule } = segment
      const people = await loadFacts(store.read, account, contacts, {
        rules: [rule],
        now: clock.now(),
      })
      const broken = (await brokenParts(store.read, account, rule)).length > 0
      const held = people.filter((facts) => !broken && judgeRule(rule, facts).holds)
      const members = await store.read
        .selectFrom('segment_members')
        .select(['contact_id', 'why'])
        .where('segment_id', '=', segment.id)
        .execute()
      const expected = held.map(({ contact, why }) => `${contact.id} ${why}`).sort()
      t.same(
        members.map((one) => `${one.contact_id} ${one.why}`).sort(),
        expected,
        `${about}: ${segment.name}`,
      )
      t.equal(segment.count, expected.length, `${about}: the count of ${segment.name}`)
      t.equal(
        segment.mailable,
        held.filter(({ why }) => why === null).length,
        `${about}: the mailable of ${segment.name}`,
      )
    }
  }
  return { ...deps, account, keep, compare }
}

t.test(
  'members are whom the rule holds for, after any changes, stops and steps of the clock',
  async (t) => {
    const { store, clock, account, keep, compare } = await open(t)
    const deps = { store, clock }
    const random = seeded(43)
    const upTo = (bound: number) => Math.floor(random() * bound)
    const oneOf = <T>(values: readonly T[]): T => values[upTo(values.length)] as T
    const list = await createList(deps, account, 'Readers')
    const other = await createList(deps, account, 'Staff')
    const topic = await createTopic(deps, account, { name: 'Offers' })
    const rules: Rule[] = [
      { field: 'contact.metadata.town', operator: 'eq', value: 'lagos', ignoreCase: true },
      { field: `list.${list.id}`, operator: 'eq', value: true },
      { field: `list.${list.id}.joinedAt`, operator: 'within', value: 'P3D' },
      { field: 'contact.createdAt', operator: 'not_within', value: 'P5D' },
      { field: 'mailable', operator: 'eq', value: false },
      {
        all: [
          { not: { field: `topic.${topic.id}`, operator: 'eq', value: true } },
          { field: `list.${other.id}`, operator: 'eq', value: false },
        ],
      },
    ]
    const made: string[] = []
    for (const [n, rule] of rules.entries()) {
      made.push((await createSegment(deps, account, { name: `S${n}`, rule })).id)
    }
    const asking: Rule = {
      all: [
        { field: `segment.${made[0]}`, operator: 'eq', value: true },
        { not: { field: `segment.${made[2]}`, operator: 'eq', value: true } },
      ],
    }
    const outer = await createSegment(deps, account, { name: 'Outer', rule: asking })
    await createSegment(deps, account, {
      name: 'Outermost',
      rule: { not: { field: `segment.${outer.id}`, operator: 'eq', value: true } },
    })
    const joinable = [list.id, other.id]
    const people: { id: string; email: string }[] = []
    // Who is on no list any more is deleted.
    const forgetGone = async () => {
      const rows = await store.read
        .selectFrom('contacts')
        .select(['id', 'email'])
        .orderBy('id')
        .execute()
      people.splice(0, people.length, ...rows)
    }
    const towns = ['Lagos', 'LAGOS', 'Accra']
    const change = async () => {
      const who = people.length === 0 ? undefined : oneOf(people)
      const now = clock.now()
      switch (who === undefined ? 0 : upTo(11)) {
        case 0:
        case 1: {
          const email = `c${upTo(1_000_000)}@x.test`
          const given = { email, metadata: { town: oneOf(towns) } }
          const { contact } = await addContact(deps, account, given, {
            listId: oneOf(joinable),
          })
          people.push(contact)
          return
        }
        case 2:
          if (who) await changeContact(deps, account, who.id, { metadata: { town: oneOf(towns) } })
          return
        case 3:
          if (who) await putOnList(deps, account, { listId: list.id, ids: [who.id] }, { by: 'api' })
          return
        case 4: {
          if (!who) return
          await putOnList(deps, account, { listId: list.id, ids: [who.id] }, { by: 'api' })
          await takeOffList(deps, account, oneOf(joinable), [who.id])
          await forgetGone()
          return
        }
        case 5:
          if (who) {
            await deleteContact(deps, account, who.id)
            people.splice(people.indexOf(who), 1)
          }
          return
        case 6:
          await store.write((tx) =>
            suppress(
              tx,
              account,
              { email: who?.email ?? '', reason: oneOf(['bounce', 'unsubscribe']) },
              now,
            ),
          )
          return
        case 7:
          await store.write((tx) => lift(tx, account, who?.email ?? '', { by: 'api', at: now }))
          return
        case 8:
          await store.write((tx) =>
            oneOf([optOut, optIn])(
              tx,
              account,
              { topicId: topic.id, address: who?.email ?? '' },
              now,
            ),
          )
          return
        case 9:
          await clock.advance(upTo(2) * 86_400_000 + upTo(3_600_000))
          return
        default:
          clock.setBack(upTo(2 * 86_400_000))
      }
    }
    for (let round = 0; round < 25; round++) {
      for (let n = upTo(25); n >= 0; n--) await change()
      // Cut off after some writes, as a kill does.
      if (upTo(3) === 0) await keep(round % 4)
      if (round === 12) {
        await changeSegment(deps, account, made[0] ?? '', {
          rule: { field: 'contact.metadata.town', operator: 'eq', value: 'Accra' },
        })
      }
      if (round === 20) {
        await deleteList(deps, account, other.id)
        joinable.pop()
        await forgetGone()
      }
      await keep()
      await compare(t, `round ${round}`)
    }
    t.ok(people.length > 20)
  },
)

t.test(
  'a segment is refused for what is not there, in a circle, and while it is used',
  async (t) => {
    const { store, clock, account } = await open(t)
    const deps = { store, clock }
    const asks = (id: string): Rule => ({ field: `segment.${id}`, operator: 'eq', value: true })
    const one = await createSegment(deps, account, {
      name: 'One',
      rule: { field: 'mailable', operator: 'eq', value: true },
    })
    const two = await createSegment(deps, account, { name: 'Two', rule: asks(one.id) })
    const three = await createSegment(deps, account, { name: 'Three', rule: asks(two.id) })
    await t.rejects(changeSegment(deps, account, one.id, { rule: asks(two.id) }), /circle/)
    await t.rejects(
      createSegment(deps, account, { name: 'Four', rule: asks(three.id) }),
      /at most 3 deep/,
    )
    await t.rejects(
      createSegment(deps, account, { name: 'None', rule: asks(store.ids.uuid()) }),
      /no such segment/,
    )
    await t.rejects(deleteSegment(deps, account, one.id), /"One" is used by segment "Two"/)
    await deleteSegment(deps, account, three.id)
    await deleteSegment(deps, account, two.id)
    await deleteSegment(deps, account, one.id)
    t.same(await listSegments(store.read, account), [])
  },
)

t.test('a rule asks for one campaign: who opened it, clicked in it, or did not', async (t) => {
  const { store, clock, account, keep, compare } = await open(t)
  const deps = { store, clock }
  const people: string[] = []
  for (const name of ['ann', 'bob', 'cy']) {
    people.push((await addContact(deps, account, { email: `${name}@x.test` })).contact.id)
  }
  const id = store.ids.uuid()
  const opened = { field: `broadcast.${id}.opened`, operator: 'eq', value: true } as const
  const unknown = createSegment(deps, account, { name: 'No', rule: opened })
  await t.rejects(unknown, /no such campaign/)
  // The last of them got it and did nothing; Cy did not get it.
  const [ann = '', bob = ''] = people
  const campaign = { id, accountId: account, subject: 'News', mails: 10, sentAt: clock.now() }
  await insertCampaignRows(store, { ...campaign, people: [ann, bob] })
  const rules: [string, Rule][] = [
    ['opened', opened],
    ['not', { ...opened, value: false }],
    ['lately', { field: `broadcast.${id}.clickedAt`, operator: 'within', value: 'P1D' }],
  ]
  for (const [name, rule] of rules) await createSegment(deps, account, { name, rule })
  await keep()
  const counts = async () =>
    Object.fromEntries(
      (await listSegments(store.read, account)).map((one) => [one.name, one.count]),
    )
  t.same(await counts(), { opened: 1, not: 2, lately: 1 })
  await clock.advance(2 * 86_400_000)
  await keep()
  t.same(await counts(), { opened: 1, not: 2, lately: 0 })
  await compare(t, 'campaigns')
})
