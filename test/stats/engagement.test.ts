import t, { type Test } from 'tap'
import { addContact, deleteContact } from '../../src/contacts/index.js'
import { addEngagement, engageBefore } from '../../src/stats/engagement.js'
import { rollUp } from '../../src/stats/index.js'
import { FakeClock } from '../support/clock.js'
import { eventOf, type LoggedMail, openHappenings } from '../support/log-happenings.js'
import { collectStatements, planOf } from '../support/statements.js'
import { openTestStore } from '../support/store.js'

const start = Date.parse('2026-11-10T00:00:00Z')

async function open(t: Test) {
  const clock = new FakeClock(start)
  const store = await openTestStore(t, { clock })
  const { account, accept, happen } = openHappenings({ store, clock })
  const accountId = await account('Shop', 'one.test')
  const deps = { store, clock }
  const add = async (email: string, of = accountId) =>
    (await addContact(deps, of, { email })).contact.id
  const mail = (n: number, recipient: string): LoggedMail => ({
    id: `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`,
    accountId,
    domain: 'one.test',
    type: 'marketing',
    broadcastId: null,
    tags: [],
    createdAt: start + n * 1_000,
    copies: [{ id: n, recipient, remote: 'mx.test [192.0.2.1]' }],
  })
  /** What happened to a mail, in the order that is given. */
  const log = async (one: LoggedMail, ...events: [string, object?][]) => {
    await accept([one])
    const [copy] = one.copies
    if (copy === undefined) throw new Error('A mail has a copy')
    await happen(
      events.map(([type, more = {}]) => eventOf(one, copy, type as 'opened', more as object)),
    )
  }
  const engagement = (id: string) =>
    store.read
      .selectFrom('contact_engagement')
      .selectAll()
      .where('contact_id', '=', id)
      .executeTakeFirst()
  return { ...deps, account, accountId, add, mail, log, engagement }
}

const first = { detail: { first: true as const } }
const machine = { detail: { machine: true as const, sign: 'x' } }

t.test('what servers took and what people did is counted by contact, machines never', async (t) => {
  const { store, clock, account, accountId, add, mail, log, engagement } = await open(t)
  const ann = await add('Ann@x.test')
  const theirs = await add('ann@x.test', await account('Other'))
  await log(mail(1, 'ANN@x.test'), ['delivered'], ['opened', machine], ['clicked', machine])
  await log(
    mail(2, 'ann@x.test'),
    ['relayed'],
    ['delivered', { before: 'relayed' }],
    ['opened', { at: start + 9_000, ...first }],
    ['opened', { at: start + 8_000 }],
    ['clicked', { at: start + 9_500, ...first }],
  )
  await log(mail(3, 'ann@x.test'), ['bounced'], ['deferred'])
  await log(mail(4, 'nobody@x.test'), ['delivered'], ['opened', first])
  while (await rollUp(store, 2)) {}
  const told = {
    contact_id: ann,
    sent: 2,
    opened: 1,
    clicked: 1,
    last_sent_at: start + 3_000,
    last_opened_at: start + 9_000,
    last_clicked_at: start + 9_500,
  }
  t.strictSame({ ...(await engagement(ann)) }, told)
  t.equal(await rollUp(store), false)
  t.strictSame({ ...(await engagement(ann)) }, told, 'once')
  t.equal(await engagement(theirs), undefined, 'another account has its own')
  const rows = await store.read.selectFrom('contact_engagement').select('contact_id').execute()
  t.equal(rows.length, 1, 'who is no contact has no row')
  await deleteContact({ store, clock }, accountId, ann)
  t.equal(await engagement(ann), undefined, 'and it goes with the contact')
})

t.test('events that were counted before there was engagement are counted once', async (t) => {
  const { store, add, mail, log, engagement } = await open(t)
  for (let n = 1; n <= 7; n++) await log(mail(n, 'ann@x.test'), ['delivered'], ['opened', first])
  // Nobody was a contact when these were counted: as before the table was there.
  while (await rollUp(store)) {}
  const ann = await add('ann@x.test')
  await store.write((tx) =>
    tx
      .updateTable('figure_cursors')
      .set(({ ref }) => ({ engaged_until: ref('event_id') }))
      .execute(),
  )
  await log(mail(8, 'ann@x.test'), ['delivered'])
  while (await rollUp(store)) {}
  while (await engageBefore(store, 4)) {}
  t.equal(await engageBefore(store, 4), false)
  t.match(await engagement(ann), { sent: 8, opened: 7, clicked: 0 })
})

t.test('it is found by the index of addresses', async (t) => {
  const { store, accountId, add } = await open(t)
  await add('ann@x.test')
  const statements = collectStatements(t)
  const one = { accountId, address: 'ann@x.test', sent: 1, opened: 0, clicked: 0 }
  const times = { lastSentAt: 1, lastOpenedAt: null, lastClickedAt: null }
  await store.write((tx) => addEngagement(tx, [{ ...one, ...times }]))
  for (const text of [...statements].filter((one) => one.includes('contact_engagement'))) {
    const plan = (await planOf(store.read, text)).join('\n')
    t.match(plan, /SEARCH contacts USING (COVERING )?INDEX/)
    t.notMatch(plan, /SCAN contacts/)
  }
})
