import t from 'tap'
import { countAudience, ofList } from '../../src/broadcasts/index.js'
import { type WhomInput, whomIn } from '../../src/broadcasts/whom.js'
import { addContact, createList, deleteList } from '../../src/contacts/index.js'
import { changeSegment, createSegment, keepSegments, lastMark } from '../../src/segments/index.js'
import { suppress } from '../../src/suppression/index.js'
import { openCampaigns } from '../support/campaigns.js'
import { FakeClock } from '../support/clock.js'

const never = new AbortController().signal
const isNamed = (name: string) => ({
  field: 'contact.firstName',
  operator: 'eq' as const,
  value: name,
})

/** Lists a (0 to 299), b (200 to 399) and c (every tenth), and a segment of who is named Ann. */
async function openParts(t: Parameters<typeof openCampaigns>[0]) {
  const rig = await openCampaigns(t)
  const { store, clock, accountId, log } = rig
  const make = async (name: string) => (await createList({ store, clock }, accountId, name)).id
  const [a, b, c] = [await make('a'), await make('b'), await make('c')]
  const add = (listId: string, n: number) =>
    addContact(
      { store, clock },
      accountId,
      { email: `p${n}@d.test`, firstName: n % 7 === 0 ? 'Ann' : 'Bob' } as never,
      { listId },
    )
  for (let n = 0; n < 400; n++) {
    if (n < 300) await add(a, n)
    if (n >= 200) await add(b, n)
    if (n % 10 === 0) await add(c, n)
  }
  const segment = await createSegment({ store, clock }, accountId, {
    name: 'Anns',
    rule: isNamed('Ann'),
  })
  const keep = () => keepSegments({ store, clock, log }, never)
  return { ...rig, a, b, c, segment, keep }
}

t.test('everybody of several lists and segments gets one mail, less those of others', async (t) => {
  const rig = await openParts(t)
  await rig.keep()
  const { store, accountId, clock, a, b, c, segment } = rig
  const gone = { email: 'p5@d.test', reason: 'bounce', emailId: null, detail: null } as const
  await store.write((tx) => suppress(tx, accountId, gone, clock.now()))
  await rig.keep()
  const all = Array.from({ length: 400 }, (_, n) => n)
  const mailed = async (audience: object, expected: number[]) => {
    const { id, audience: counted } = await rig.create({ listId: undefined, audience })
    await rig.expand()
    const rows = await store.read
      .selectFrom('emails')
      .select('to_list')
      .where('broadcast_id', '=', id)
      .execute()
    const to = rows.map((row) => Number(/p(\d+)@/.exec(row.to_list)?.[1])).sort((x, y) => x - y)
    t.same(to, expected)
    t.equal(counted, expected.length)
  }
  const left = all.filter((n) => n !== 5)
  await mailed({ lists: [a, b.toUpperCase()] }, left)
  await mailed(
    { lists: [a, b], withoutLists: [c] },
    left.filter((n) => n % 10 !== 0),
  )
  await mailed(
    { segments: [segment.id] },
    all.filter((n) => n % 7 === 0),
  )
  await mailed(
    { lists: [c], segments: [segment.id] },
    all.filter((n) => n % 7 === 0 || n % 10 === 0),
  )
  await mailed(
    { lists: [b], withoutSegments: [segment.id] },
    all.filter((n) => n > 199 && n % 7 !== 0),
  )
})

t.test('an audience is refused that is two ways, too much, or of nobody', async (t) => {
  const rig = await openParts(t)
  const { a, listId } = rig
  await t.rejects(rig.create({ audience: { lists: [a] } }), {
    message: /listId or audience, one of both/,
  })
  await t.rejects(rig.create({ listId: undefined }), { message: /listId or audience, one of both/ })
  const many = Array.from({ length: 21 }, () => rig.store.ids.uuid())
  await t.rejects(rig.create({ listId: undefined, audience: { lists: many } }), {
    message: /at most 20/,
  })
  const nobody = { listId: undefined, audience: { withoutLists: [a] } }
  await t.rejects(rig.create(nobody), { message: /no audience yet/ })
  const unknown = { listId: undefined, audience: { lists: [a], withoutSegments: [listId] } }
  await t.rejects(rig.create(unknown), { code: 'not_found' })
  const draft = await rig.create(nobody, { draft: true })
  t.equal(draft.audience, 0, 'a draft may have none yet')
})

t.test('a campaign begins once its segments are up to date, and says so until then', async (t) => {
  const rig = await openParts(t)
  const { segment, store, clock, accountId } = rig
  const audience = { segments: [segment.id] }
  const first = await rig.create({ listId: undefined, audience })
  t.match(first, { status: 'scheduled', scheduled_at: clock.now() }, 'it is being filled')
  await rig.expand()
  t.match(await rig.find(first.id), { status: 'scheduled', reason: /"Anns" is being filled/ })
  await rig.keep()
  await rig.expand()
  t.match(await rig.find(first.id), { expanded: 1, recipients: 58, reason: null })
  await rig.add('new@d.test', { firstName: 'Ann' })
  t.ok((await lastMark(store.read, accountId)) > 0)
  const second = await rig.create({ listId: undefined, audience })
  await rig.expand()
  t.match(await rig.find(second.id), { status: 'scheduled', reason: /what has changed/ })
  await rig.keep()
  await rig.expand()
  t.match(await rig.find(second.id), { recipients: 59 })
  await changeSegment({ store }, accountId, segment.id, { rule: isNamed('Bob') })
  t.match(await rig.create({ listId: undefined, audience }), { status: 'scheduled' })
})

t.test('where a list of several is gone, the campaign is paused and says why', async (t) => {
  const rig = await openParts(t)
  const { a, b, store, clock, accountId } = rig
  const later = new Date(clock.now() + 60_000).toISOString()
  const audience = { lists: [a], withoutLists: [b] }
  const { id } = await rig.create({ listId: undefined, audience, scheduledAt: later })
  const sending = await rig.create({ listId: undefined, audience })
  await deleteList({ store, clock }, accountId, b)
  await rig.expand()
  t.match(await rig.find(sending.id), {
    status: 'paused',
    paused_by: 'account',
    recipients: 0,
    reason: /^The list “b” of its audience was deleted/,
  })
  if (clock instanceof FakeClock) await clock.advance(120_000)
  await rig.expand()
  t.match(await rig.find(id), { status: 'paused', paused_by: 'account' })
  t.same(ofList(a.toUpperCase()).lists, [a])
})

t.test(
  'several parts are counted by their numbers, and slices of those that may overlap',
  async (t) => {
    const { store, clock, accountId } = await openCampaigns(t)
    const ids = Array.from({ length: 11_000 }, () => store.ids.uuid()).sort()
    const blank = { first_name: null, last_name: null, name_key: null, last_name_key: null }
    const rest = { phone: null, metadata: null, created_at: 1, changed_at: null }
    await store.write(async (tx) => {
      for (let at = 0; at < ids.length; at += 500) {
        const rows = ids.slice(at, at + 500).map((id) => {
          const address = `${id}@x.test`
          return { id, account_id: accountId, address, email: address, ...blank, ...rest }
        })
        await tx.insertInto('contacts').values(rows).execute()
      }
    })
    const make = async (name: string, has: (n: number) => boolean) => {
      const list = await createList({ store, clock }, accountId, name)
      const members = ids.filter((_, n) => has(n))
      await store.write(async (tx) => {
        for (let at = 0; at < members.length; at += 500) {
          const rows = members.slice(at, at + 500).map((contact_id) => ({
            list_id: list.id,
            contact_id,
            added_at: 1,
            import_id: null,
            line: null,
          }))
          await tx.insertInto('list_members').values(rows).execute()
        }
        const counted = tx.updateTable('contact_lists').set({ contact_count: members.length })
        await counted.where('id', '=', list.id).execute()
      })
      return list.id
    }
    const low = await make('low', (n) => n < 8_000)
    const high = await make('high', (n) => n >= 4_000 && n < 10_000)
    const even = await make('even', (n) => n % 2 === 0)
    const third = await make('third', (n) => n % 3 === 0)
    const counted = async (audience: WhomInput['audience']) => {
      const whom = whomIn({ audience })
      return (await countAudience(store.read, { accountId, whom, topicId: null })).fit
    }
    const all = ids.map((_, n) => n)
    t.equal(await counted({ lists: [low, high] }), 10_000)
    t.equal(
      await counted({ lists: [high, low, even] }),
      all.filter((n) => n < 10_000 || n % 2 === 0).length,
    )
    t.equal(
      await counted({ lists: [low, high], withoutLists: [even, third] }),
      all.filter((n) => n < 10_000 && n % 2 !== 0 && n % 3 !== 0).length,
    )
    t.equal(await counted({ lists: [even], withoutLists: [even, low] }), 0)
    t.equal(await counted({ withoutLists: [even] }), 0)
  },
)
