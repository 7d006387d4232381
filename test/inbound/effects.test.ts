import t from 'tap'
import { setReported, settle } from '../../src/deliveries/index.js'
import { makeLandEvents } from '../../src/events/index.js'
import { listOperatorMails } from '../../src/inbound/index.js'
import {
  type DeliveryRow,
  type EmailRow,
  firstSerialAt,
  type Store,
} from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { aboutSqlite } from '../support/postgres.js'
import { collectStatements, planOf } from '../support/statements.js'
import { openTestStore } from '../support/store.js'
import { arf, dsn, makePast, stateOf } from './mails.js'
import { dayMs, type StartedInbound, startInbound } from './start.js'

/** Resolves once nothing is left to be read. */
async function readAll({ store }: StartedInbound): Promise<void> {
  for (;;) {
    const waiting = await store.read.selectFrom('inbound_spool').select('id').execute()
    if (waiting.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

async function open(t: Parameters<typeof startInbound>[0]) {
  const store = await openTestStore(t)
  const past = await makePast(store)
  const inbound = await startInbound(t, { store })
  return {
    store,
    past,
    inbound,
    /** Gives a report in and resolves when it has had its effects. */
    async report(message: string, to: string) {
      t.match(await inbound.give(message, to), /^250 /)
      await readAll(inbound)
    },
  }
}

const statusOf = async (store: Store, id: string) =>
  (await store.read.selectFrom('emails').select('status').where('id', '=', id).execute())[0]?.status

t.test('a report that names neither recipient nor cause means nothing', async (t) => {
  const { store, past, report } = await open(t)
  const mail = await past.mail({ 'a@one.test': 'delivered' })
  const lines = (part: string) => [
    'From: MAILER-DAEMON@one.test',
    'Subject: Undelivered',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    part,
    '--b--',
    '',
  ]
  for (const part of ['x', '\0\0\0']) {
    await report(lines(part).join('\r\n'), mail.deliveries[0]?.returnPath ?? '')
  }
  t.equal(await statusOf(store, mail.id), 'delivered')
})

t.test("a bounce in its provider's own name is known by the envelope's null sender", async (t) => {
  const { store, past, inbound, report } = await open(t)
  const mail = await past.mail({ 'a@one.test': 'delivered' })
  const path = mail.deliveries[0]?.returnPath ?? ''
  const message = [
    'From: "Provider Support" <support@one.test>',
    'Subject: Your order',
    '',
    'Your message could not be delivered to the following recipient:',
    '',
    'a@one.test',
    'This mailbox does not exist.',
    '',
  ].join('\r\n')
  t.match(await inbound.give(message, path, 'support@one.test'), /^250 /)
  await readAll(inbound)
  t.equal(await statusOf(store, mail.id), 'delivered', 'anybody may write so')
  await report(message, path)
  t.equal(await statusOf(store, mail.id), 'bounced')
  t.match(await stateOf(store), { suppressions: [{ address: 'a@one.test', reason: 'bounce' }] })
})

t.test('what a report says is stored without control characters', async (t) => {
  const { store, past, report } = await open(t)
  const mail = await past.mail({ 'a@one.test': 'delivered' })
  const diagnostic = '550 5.1.1 \x1b[31mUser unknown'
  await report(dsn({ recipient: 'a@one.test', diagnostic }), mail.deliveries[0]?.returnPath ?? '')
  t.equal(await statusOf(store, mail.id), 'bounced')
  const rows = await store.read.selectFrom('deliveries').select('reply').execute()
  t.match(rows[0]?.reply, /User unknown/)
  t.notMatch(rows[0]?.reply, /\p{Cc}/u)
})

t.test('what a report means follows from it and from how the delivery stands', async (t) => {
  const { store, past, report } = await open(t)
  const full = { status: '5.2.2', diagnostic: '552 5.2.2 Mailbox full' }
  const cases: {
    was: DeliveryRow['status']
    says: (recipient: string) => string
    becomes: EmailRow['status']
    event?: string
    suppressed?: string
  }[] = [
    {
      was: 'delivered',
      says: (recipient) => dsn({ recipient }),
      becomes: 'bounced',
      event: 'bounced Permanent bad-mailbox',
      suppressed: 'bounce all',
    },
    {
      was: 'relayed',
      says: (recipient) => dsn({ recipient }),
      becomes: 'bounced',
      event: 'bounced Permanent bad-mailbox',
      suppressed: 'bounce all',
    },
    {
      was: 'delivered',
      says: (recipient) => dsn({ recipient, ...full }),
      becomes: 'bounced',
      event: 'bounced Transient mailbox-full',
    },
    {
      // RFC 3464 §2.3.3: `failed` is final, with 4.y.z as well.
      was: 'delivered',
      says: (recipient) => dsn({ recipient, status: '4.1.1', diagnostic: '' }),
      becomes: 'bounced',
      event: 'bounced Permanent bad-mailbox',
      suppressed: 'bounce all',
    },
    {
      was: 'delivered',
      says: (recipient) => dsn({ recipient, status: '5.0.0', diagnostic: '550 No' }),
      becomes: 'bounced',
      event: 'bounced Transient unknown',
    },
    {
      was: 'delivered',
      says: (recipient) =>
        dsn({ recipient, action: 'delayed', status: '4.4.1', diagnostic: '451 4.4.1 no answer' }),
      becomes: 'delivered',
      event: 'deferred',
    },
    {
      was: 'relayed',
      says: (recipient) => dsn({ recipient, action: 'delivered', status: '2.0.0', diagnostic: '' }),
      becomes: 'delivered',
      event: 'delivered',
    },
    {
      was: 'relayed',
      says: (recipient) => dsn({ recipient, action: 'relayed', status: '2.0.0', diagnostic: '' }),
      becomes: 'sent',
    },
    { was: 'bounced', says: (recipient) => dsn({ recipient }), becomes: 'bounced' },
    { was: 'failed', says: (recipient) => dsn({ recipient }), becomes: 'failed' },
    { was: 'suppressed', says: (recipient) => dsn({ recipient }), becomes: 'suppressed' },
    { was: 'cancelled', says: (recipient) => dsn({ recipient }), becomes: 'cancelled' },
    {
      was: 'delivered',
      says: (recipient) => arf({ recipient }),
      becomes: 'delivered',
      event: 'complained',
      suppressed: 'complaint all',
    },
    {
      was: 'delivered',
      says: (recipient) => arf({ recipient, type: 'opt-out' }),
      becomes: 'delivered',
      event: 'unsubscribed',
      suppressed: 'unsubscribe marketing',
    },
    {
      was: 'delivered',
      says: (recipient) => arf({ recipient, type: 'not-spam' }),
      becomes: 'delivered',
    },
    {
      was: 'delivered',
      says: () => 'From: ada@one.test\r\nAuto-Submitted: auto-replied\r\nSubject: Away\r\n\r\nAway',
      becomes: 'delivered',
    },
    { was: 'delivered', says: () => 'From: ada@one.test\r\n\r\nThank you', becomes: 'delivered' },
  ]
  for (const [index, { was, says, becomes, event, suppressed }] of cases.entries()) {
    const recipient = `r${index}@one.test`
    const mail = await past.mail({ [recipient]: was })
    await report(says(recipient), mail.deliveries[0]?.returnPath ?? '')
    const state = await stateOf(store)
    const name = `${index}: ${was}, ${event ?? 'nothing'}`
    t.equal(state.emails.find(({ id }) => id === mail.id)?.status, becomes, name)
    const told = state.events
      .filter((one) => one.recipient === recipient)
      .map(({ type, detail }) => {
        const { bounceType = '', bounceClass = '' } = JSON.parse(detail ?? '{}')
        return type === 'bounced' ? `${type} ${bounceType} ${bounceClass}` : type
      })
    t.same(told, event === undefined ? [] : [event], name)
    const records = state.suppressions
      .filter(({ address }) => address === recipient)
      .map(({ reason, scope, email_id }) => (email_id === mail.id ? `${reason} ${scope}` : ''))
    t.same(records, suppressed === undefined ? [] : [suppressed], name)
  }
})

t.test('a vague report does not shield a dead address from a clear one', async (t) => {
  const { store, past, inbound, report } = await open(t)
  const mail = await past.mail({ 'a@one.test': 'delivered' })
  const [{ returnPath } = { returnPath: '' }] = mail.deliveries
  const vague = dsn({ recipient: 'a@one.test', status: '5.0.0', diagnostic: '550 No' })
  const full = dsn({ recipient: 'a@one.test', diagnostic: '552 5.2.2 Mailbox full' })
  const clear = dsn({ recipient: 'a@one.test' })
  for (const one of [vague, full, clear, vague, full, clear]) await report(one, returnPath)
  // Logged after the commit.
  while (inbound.told.length < 7) await new Promise((resolve) => setTimeout(resolve, 5))
  t.match(inbound.told, [
    {},
    { message: 'A report was read', class: 'unknown', rule: String, conclusion: 'bounced' },
    { class: 'mailbox-full', conclusion: 'bounced' },
    { recipient: 'a@one.test', class: 'bad-mailbox', action: 'failed', conclusion: 'bounced' },
    { class: 'unknown', conclusion: 'nothing' },
    { conclusion: 'nothing' },
    { conclusion: 'nothing' },
  ])
  const { emails, deliveries, events, suppressions } = await stateOf(store)
  t.same(
    events.map(({ detail }) => JSON.parse(detail ?? '{}').bounceClass),
    ['unknown', 'mailbox-full', 'bad-mailbox'],
  )
  t.match(emails, [{ status: 'bounced', delivered: 0, bounced: 1 }])
  t.match(deliveries, [{ status: 'bounced', reply: /User unknown/ }])
  t.match(suppressions, [{ address: 'a@one.test', reason: 'bounce', scope: 'all' }])
  const counts = await store.read.selectFrom('protection').selectAll().execute()
  t.match(counts, [{ recipients: 1, bounces: 1 }], 'one bounce, with its recipient')
})

t.test('of delay reports five causes are noted for a delivery, however many come', async (t) => {
  const { store, past, inbound, report } = await open(t)
  const mail = await past.mail({ 'a@one.test': 'delivered', 'b@one.test': 'waiting' })
  const delay = (n: number) =>
    dsn({
      recipient: 'a@one.test',
      action: 'delayed',
      status: '4.4.1',
      diagnostic: `451 4.4.1 no answer since ${n} h`,
    })
  for (const [at, { returnPath }] of mail.deliveries.entries()) {
    await Promise.all(Array.from({ length: 12 }, (_, n) => inbound.give(delay(n), returnPath)))
    await readAll(inbound)
    const { events } = await stateOf(store)
    t.equal(events.length, 5 * (at + 1))
    await report(delay(0), returnPath)
    await report(delay(99), returnPath)
  }
  const { events, emails } = await stateOf(store)
  t.same(new Set(events.map(({ type }) => type)), new Set(['deferred']))
  t.equal(events.length, 10)
  t.match(emails, [{ status: 'sent', delivered: 1 }])
})

t.test('no report makes a write look for what came of the mail before', aboutSqlite, async (t) => {
  const { store, past, report } = await open(t)
  const reports = [
    dsn({ recipient: 'a@one.test', action: 'delayed', status: '4.4.1' }),
    arf({ recipient: 'a@one.test' }),
    arf({ recipient: 'a@one.test', type: 'opt-out' }),
    dsn({ recipient: 'a@one.test', status: '5.0.0', diagnostic: '550 No' }),
    dsn({ recipient: 'a@one.test' }),
    dsn({ recipient: 'a@one.test', diagnostic: '552 5.2.2 Mailbox full' }),
    dsn({ recipient: 'a@one.test', action: 'delivered', status: '2.0.0' }),
  ]
  const mail = await past.mail({ 'a@one.test': 'relayed' }, { type: 'marketing' })
  const statements = collectStatements(t)
  for (const one of reports) await report(one, mail.deliveries[0]?.returnPath ?? '')
  // The spool itself is not searched in a write; what ends as suppressed is another's to test.
  const own = /from "(?:inbound_spool|operator_mails|suppressions|soft_bounces)"/
  const queries = [...statements].filter(
    (text) => /^(?:select|update|delete|with)/i.test(text) && !own.test(text),
  )
  t.ok(queries.some((text) => text.includes('delivery_reports')))
  for (const text of queries) {
    t.notMatch(text, /from "events"/, 'the log is not looked at')
    const plan = await planOf(store.read, text)
    // A virtual table is the values that the query was given.
    const scans = plan.filter((step) => /^SCAN (?!.*VIRTUAL TABLE)/.test(step))
    t.same(scans, [], text)
  }
})

t.test('what reports told goes when no other one will come', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const told = { delays: [], bounce: 2, complaint: 0, unsubscribed: 0 } as const
  const [old, young] = [66, 64].map((days) => firstSerialAt(clock.now() - days * dayMs))
  await store.write(async (tx) => {
    for (const id of [old, young]) await setReported(tx, id ?? 0, { ...told, delays: [] })
  })
  await startInbound(t, { reads: false, store, clock })
  const left = async () =>
    (await store.read.selectFrom('delivery_reports').selectAll().execute()).map(
      ({ delivery_id }) => delivery_id,
    )
  await clock.advance(60_000)
  while ((await left()).length > 1) await new Promise((resolve) => setTimeout(resolve, 5))
  t.same(await left(), [young])
})

t.test('one of several recipients: the others stay as they are', async (t) => {
  const { store, past, report } = await open(t)
  const both = { 'a@one.test': 'delivered', 'b@one.test': 'delivered' } as const
  const mail = await past.mail(both, { type: 'marketing' })
  // The report names another address: the mail was forwarded there.
  await report(dsn({ recipient: 'x@two.test' }), mail.deliveries[1]?.returnPath ?? '')
  const { deliveries, emails, events, suppressions } = await stateOf(store)
  t.match(deliveries, [
    { recipient: 'a@one.test', status: 'delivered' },
    { recipient: 'b@one.test', status: 'bounced', reply: /^Reported: 550 5\.1\.1 .*unknown/ },
  ])
  t.match(emails, [{ status: 'bounced', delivered: 1, bounced: 1 }])
  t.match(events, [{ type: 'bounced', recipient: 'b@one.test', class: 2 }])
  t.match(suppressions, [{ address: 'b@one.test' }])

  const open2 = await past.mail({ 'c@one.test': 'delivered', 'd@one.test': 'waiting' })
  await report(dsn({ recipient: 'c@one.test' }), open2.deliveries[0]?.returnPath ?? '')
  t.equal(await statusOf(store, open2.id), 'sent', 'until no delivery waits')
})

t.test('what comes late is of the class in which its mail was queued', async (t) => {
  const { store, past, report } = await open(t)
  for (const [name, kind] of [
    ['receipt', {}],
    ['step', { type: 'marketing', stepId: 7 }],
    ['notice', { stepId: 7 }],
    ['campaign', { type: 'marketing' }],
  ] as const) {
    const recipient = `${name}@one.test`
    const mail = await past.mail({ [recipient]: 'delivered' }, kind)
    await report(dsn({ recipient }), mail.deliveries[0]?.returnPath ?? '')
  }
  const { events } = await stateOf(store)
  t.same(
    events.map((event) => event.class),
    [0, 1, 0, 2],
  )
})

t.test('only a token says which mail it is; our own message id proves nothing', async (t) => {
  const { store, past, inbound, report } = await open(t)
  const to = 'feedback@bounce.sender.test'
  const send = (recipient: string) => past.mail({ [recipient]: 'delivered' })
  const state = async () => {
    const { events, suppressions } = await stateOf(store)
    return { events: events.map(({ recipient }) => recipient), suppressions: suppressions.length }
  }
  const a = await send('a@one.test')
  const [returnPath = ''] = a.deliveries.map((delivery) => delivery.returnPath)
  const forged = returnPath.replace(/.(?=@)/, (last) => (last === 'a' ? 'b' : 'a'))
  for (const nothing of [
    arf({ recipient: 'a@one.test' }),
    dsn({ recipient: 'a@one.test' }),
    arf({ recipient: 'a@one.test', returnPath: forged }),
    arf({ recipient: 'a@one.test', messageId: `${a.id}@elsewhere.test` }),
    arf({ recipient: 'a@one.test', messageId: a.messageId.replace(/^./, '1') }),
  ]) {
    await report(nothing, to)
    t.same(await state(), { events: [], suppressions: 0 })
  }
  await report(arf({ recipient: 'hidden', returnPath }), to)
  t.same(await state(), { events: ['a@one.test'], suppressions: 1 }, 'a token inside')
  // The id is the same for all recipients: one of them could speak for the others.
  const two = await past.mail({ 'c@one.test': 'delivered', 'd@one.test': 'delivered' })
  const { messageId } = two
  await report(arf({ recipient: 'hidden', messageId }), to)
  const subjects = async () =>
    (await listOperatorMails(store.read, 99)).map(({ subject }) => subject)
  const unproved = 'Unproved complaint about the mail to a@one.test'
  t.same(await subjects(), [unproved], 'of several recipients none is guessed')
  for (const forgery of [arf, dsn])
    await report(forgery({ recipient: 'D@one.test', messageId }), to)
  t.equal((await state()).events.length, 1)
  const kept = { subject: 'Unproven report about the mail to d@one.test', recipient: to }
  t.match(await listOperatorMails(store.read, 9), [kept, kept, { subject: unproved }])
  const again = arf({ recipient: 'd@one.test', messageId })
  await Promise.all(Array.from({ length: 18 }, () => inbound.give(again, to)))
  await readAll(inbound)
  t.equal((await listOperatorMails(store.read, 99)).length, 20, 'so many an hour')
  const [, ofD] = two.deliveries
  const copy = { messageId, cfbl: ofD?.returnPath ?? '' }
  await report(arf({ recipient: 'hidden', ...copy }), to)
  t.equal((await state()).events.at(-1), 'd@one.test', 'the copy that d has got')
  // What it came to says more than what is in it.
  const e = await send('e@one.test')
  const [own = ''] = e.deliveries.map((delivery) => delivery.returnPath)
  await report(arf({ recipient: 'a@one.test', returnPath }), own)
  t.equal((await state()).events.at(-1), 'e@one.test')
})

t.test('the same reports again, one by one or at once, change nothing', async (t) => {
  const { store, past, inbound, report } = await open(t)
  const reports: [string, string][] = []
  for (const [name, message] of [
    ['gone', dsn({ recipient: 'gone@one.test' })],
    ['full', dsn({ recipient: 'full@one.test', diagnostic: '552 5.2.2 Mailbox full' })],
    ['slow', dsn({ recipient: 'slow@one.test', action: 'delayed', status: '4.4.1' })],
    ['angry', arf({ recipient: 'angry@one.test' })],
    ['bored', arf({ recipient: 'bored@one.test', type: 'opt-out' })],
  ] as const) {
    const mail = await past.mail({ [`${name}@one.test`]: 'delivered' })
    reports.push([message, mail.deliveries[0]?.returnPath ?? ''])
  }
  await Promise.all(reports.flatMap((one) => [one, one, one]).map((one) => inbound.give(...one)))
  await readAll(inbound)
  const before = await stateOf(store)
  t.same(before.events.map(({ type }) => type).sort(), [
    'bounced',
    'bounced',
    'complained',
    'deferred',
    'unsubscribed',
  ])
  for (const [message, to] of reports) await report(message, to)
  t.same(await stateOf(store), before)
  const counts = await store.read.selectFrom('protection').selectAll().execute()
  t.match(counts, [{ recipients: 1, bounces: 1, complaints: 0, unproved: 1 }], 'rates neither')
})

t.test('a bounce that comes before its 250 is on disk waits for it', async (t) => {
  const { store, past, inbound } = await open(t)
  const mail = await past.mail({ 'a@one.test': 'waiting' })
  const [delivery] = mail.deliveries
  await inbound.give(dsn({ recipient: 'a@one.test' }), delivery?.returnPath ?? '')
  const putOff = () => store.read.selectFrom('inbound_spool').select('tries').execute()
  while ((await putOff())[0]?.tries !== 1) await new Promise((resolve) => setTimeout(resolve, 5))
  t.same((await stateOf(store)).events, [])
  const now = Date.now()
  const attempt = { startedAt: now, attempts: 1, reply: '250 ok', remote: null, tls: null }
  await store.write((tx) =>
    settle(
      tx,
      [
        {
          kind: 'delivered',
          id: delivery?.id ?? 0,
          emailId: mail.id,
          class: 0,
          accountId: mail.accountId,
          recipient: 'a@one.test',
          transcript: '',
          ...attempt,
        },
      ],
      { lease: 3, now, land: makeLandEvents([]) },
    ),
  )
  t.equal(await statusOf(store, mail.id), 'delivered')
  await readAll(inbound)
  t.equal(await statusOf(store, mail.id), 'bounced')
})

t.test('what was taken before a crash has its effects after it', async (t) => {
  const store = await openTestStore(t)
  const past = await makePast(store)
  const mail = await past.mail({ 'a@one.test': 'delivered' })
  const dying = await startInbound(t, { store, reads: false })
  await dying.give(dsn({ recipient: 'a@one.test' }), mail.deliveries[0]?.returnPath ?? '')
  t.equal(await statusOf(store, mail.id), 'delivered')
  await dying.close()
  await readAll(await startInbound(t, { store }))
  t.equal(await statusOf(store, mail.id), 'bounced')
})
