// Issue 'what operators and developers ask', 2: the brake for an account that hands in far more than usual.
import t from 'tap'
import { hourMs } from '../../src/clock/index.js'
import { summarise } from '../../src/deliveries/index.js'
import { openNotices } from '../../src/notices/index.js'
import { runCli } from '../cli/run.js'
import { FakeClock } from '../support/clock.js'
import { eventually } from '../support/eventually.js'
import { type Posthorn, startPosthorn } from '../support/posthorn.js'

// Clocks of whole appliances are moved.
t.setTimeout(300_000)

// Two minutes later it is another hour.
const began = Date.parse('2046-11-21T12:58:30Z')
// A small number, so that the test need not send a thousand.
const env = {
  POSTHORN_PROTECTION_SURGES_MINIMUM: '20',
  POSTHORN_OUTBOUND_ROUTE: 'direct',
}

/** Lets the chores carry out what was decided: over a server it takes them more than a moment. */
const untilNoneIsHeld = async (posthorn: Posthorn, clock: FakeClock) =>
  await eventually(async () => {
    await clock.advance(1_000)
    return (await heldOf(posthorn)).length === 0
  }, 30_000)

async function start(t: Parameters<typeof startPosthorn>[0], now = began) {
  // Far ahead of the outbound threads' time: nothing of it is ever due to them.
  const clock = new FakeClock(now)
  const posthorn = await startPosthorn(t, { clock, env, dns: {} })
  const { json } = await posthorn.call('POST', '/v1/keys', { body: { name: 'Shop' } })
  // A key that is as old as the surge may not release it.
  await clock.advance(1_000)
  const send = (names: string[], key = json.key) =>
    posthorn.call('POST', '/v1/emails/batch', {
      key,
      body: {
        emails: names.map((name) => ({
          from: 'a@sender.test',
          to: `${name}@example.com`,
          subject: 'x',
          html: '<p>x</p>',
        })),
      },
    })
  return { posthorn, clock, key: json.key as string, keyId: json.id as string, send }
}

const names = (of: string, count: number) => Array.from({ length: count }, (_, i) => `${of}${i}`)

const heldOf = async ({ store }: Posthorn) => {
  const rows = await store.read
    .selectFrom('queue')
    .select(['recipient', 'held_by', 'held_reason'])
    .where('held_at', 'is not', null)
    .orderBy('id')
    .execute()
  return rows
}

/** As if these mails had left, and been entered by their recipients. */
async function haveLeft({ store }: Posthorn, clock: FakeClock) {
  const { enterNext } = await import('../../src/emails/recipient-index.js')
  await store.write((tx) =>
    tx.updateTable('emails').set({ sent_at: clock.now(), status: 'delivered' }).execute(),
  )
  await store.write((tx) => tx.deleteFrom('queue').execute())
  await clock.advance(120_000)
  while ((await enterNext({ store, clock })) > 0);
}

t.test('the rest of a flood to strangers is held, known recipients get theirs', async (t) => {
  const { posthorn, clock, send, keyId } = await start(t)
  t.equal((await send(['known'])).status, 200)
  await haveLeft(posthorn, clock)
  t.equal((await send(names('a', 19))).status, 200)
  t.same(await heldOf(posthorn), [], 'as many as may be')
  t.equal((await send([...names('a', 19), ...names('a', 19), ...names('a', 19)])).status, 200)
  t.same(await heldOf(posthorn), [], 'a stranger counts once')
  t.equal((await send(names('b', 10))).status, 200, 'it is accepted')
  t.equal((await heldOf(posthorn)).length, 10)
  t.match(await heldOf(posthorn), [{ held_by: 'surge', held_reason: /far more mail.*surge / }])
  t.equal((await send(['c0', 'known'])).status, 200)
  t.same(
    (await heldOf(posthorn)).map(({ recipient }) => recipient).includes('known@example.com'),
    false,
  )
  // Whatever the hour: it stands until somebody decides.
  await clock.advance(hourMs)
  await send(['d0'])
  t.equal((await heldOf(posthorn)).length, 12)
  const { json } = await posthorn.call('GET', '/v1/surges')
  t.match(json.surges, [
    {
      usual: 0,
      most: 20,
      held: 12,
      sources: [{ keyId, keyName: 'Shop', address: '127.0.0.1', mails: 12 }],
      decision: null,
    },
  ])
  const { stdout: open } = await runCli(['surge', 'list', '--data', posthorn.dataDir], { env })
  t.match(open, / Test .*Shop 127\.0\.0\.1 +no$/m, 'whose it is, by their name')
  t.notMatch(open, posthorn.accountId)
  const summary = await summarise(posthorn.store.read, {}, { now: clock.now(), lanes: 1 })
  t.match(summary, { classes: [{ held: 12 }] })
  // As after a restore, or when a site was held.
  const all = ['queue', 'release', '--all', '--yes', '--data', posthorn.dataDir]
  t.match(await runCli(all, { env }), {
    stdout: /No waiting delivery matches/,
    stderr: /12 held by a surge stay/,
  })
  t.equal((await heldOf(posthorn)).length, 12)
})

t.test(
  'an hour is compared with the hours before, and a list of known people passes',
  async (t) => {
    const { posthorn, clock, send } = await start(t)
    await send(names('h0-', 10))
    await haveLeft(posthorn, clock)
    const day = Array.from({ length: 24 }, (_, i) => began - (began % hourMs) - i * hourMs)
    await posthorn.store.write(async (tx) => {
      await tx.deleteFrom('handed_in').execute()
      const rows = day.map((at) => ({ holder: posthorn.accountId, span: hourMs, at, mails: 10 }))
      await tx.insertInto('handed_in').values(rows).execute()
    })
    // Usually ten an hour: a hundred are ten times as many.
    await send(names('s', 60))
    await send(names('t', 40))
    t.same(await heldOf(posthorn), [])
    await send(['u0', 'h0-1'])
    t.match(await heldOf(posthorn), [{ recipient: 'u0@example.com' }])
    t.equal((await heldOf(posthorn)).length, 1)
  },
)

t.test('many mails to people who got some before are no surge', async (t) => {
  const { posthorn, clock, send } = await start(t)
  // As in hours between which weeks have gone by.
  const forget = async () => {
    clock.jump(hourMs)
    await posthorn.store.write((tx) => tx.deleteFrom('handed_in').execute())
  }
  for (const part of [0, 1, 2]) {
    await send(names(`p${part}-`, 19))
    await forget()
  }
  await haveLeft(posthorn, clock)
  await forget()
  for (const part of [0, 1, 2]) await send(names(`p${part}-`, 19))
  await send(names('new', 5))
  t.same(await heldOf(posthorn), [])
})

t.test('an owner releases it or gives it up, and the key that has done it does not', async (t) => {
  const { posthorn, clock, send, key, keyId } = await start(t)
  await send(names('a', 20))
  // So many within a moment of this clock that their ids run ahead of it.
  for (const part of ['b', 'd', 'e']) await send(names(part, 90))
  const [{ id }] = (await posthorn.call('GET', '/v1/surges')).json.surges
  const ask = (what: string, by = posthorn.apiKey) =>
    posthorn.call('POST', `/v1/surges/${id}/${what}`, { key: by })
  t.match(await ask('release', key), { status: 403, json: { error: /has handed in/ } })
  const young = await posthorn.call('POST', '/v1/keys', { key, body: { name: 'thief' } })
  t.match(await ask('release', young.json.key), { status: 403, json: { error: /was made after/ } })
  const stranger = await posthorn.addAccount('Stranger')
  t.equal((await ask('release', stranger.apiKey)).status, 404)
  t.match((await ask('release')).json, { decision: 'released', decidedBy: 'the key "test"' })
  t.equal((await ask('fail')).status, 409)
  await untilNoneIsHeld(posthorn, clock)
  await send(names('c', 30))
  t.same(await heldOf(posthorn), [], 'for a day nothing is held')
  // As when that day is over.
  await posthorn.store.write((tx) =>
    tx
      .updateTable('subscriptions')
      .set({ unbraked_until: clock.now() - 1 })
      .execute(),
  )
  await send(names('f', 30))
  const again = (await posthorn.call('GET', '/v1/surges')).json.surges[0]
  t.not(again.id, id)
  t.ok((await heldOf(posthorn)).length > 0)
  const given = await posthorn.call('POST', `/v1/surges/${again.id}/fail`, { key })
  t.equal(given.status, 200, 'to give up is for every full key')
  await untilNoneIsHeld(posthorn, clock)
  const ended = await posthorn.store.read
    .selectFrom('deliveries')
    .select(['status', 'reply'])
    .execute()
  t.match(ended[0], { status: 'failed', reply: /given up/ })
  // Who goes on with it begins the next one: nobody of them was mailed.
  await send(names('f', 5))
  t.equal((await heldOf(posthorn)).length, 5)
  t.ok(keyId)
})

t.test('where a part came by no key, only the dashboard is named', async (t) => {
  const { posthorn, send, key } = await start(t)
  await send(names('a', 20))
  await send(names('b', 30))
  const [{ id }] = (await posthorn.call('GET', '/v1/surges')).json.surges
  const ask = async (by = posthorn.apiKey) =>
    (await posthorn.call('POST', `/v1/surges/${id}/release`, { key: by })).json.error
  t.match(await ask(key), /has handed in .*; use an older key, or the dashboard$/)
  const { sources } = await posthorn.store.read
    .selectFrom('surges')
    .select('sources')
    .executeTakeFirstOrThrow()
  // As events that set off automations do, which no key is known of.
  const unknown = { keyId: null, keyName: null, address: null, mails: 3 }
  await posthorn.store.write((tx) =>
    tx
      .updateTable('surges')
      .set({ sources: JSON.stringify([...JSON.parse(sources), unknown]) })
      .execute(),
  )
  t.match(await ask(key), /has handed in .*; use the dashboard$/)
  t.match(await ask(), /a part came by no key, so it cannot release it; use the dashboard$/)
})

t.test('a few hours of a young account make no room for more', async (t) => {
  const { posthorn, clock, send } = await start(t)
  await send(names('a', 20))
  t.same(await heldOf(posthorn), [])
  clock.jump(hourMs)
  await send(names('b', 30))
  t.equal((await heldOf(posthorn)).length, 30)
})

t.test('a flood that was given up makes no room for the next one', async (t) => {
  const { posthorn, clock, send } = await start(t)
  for (const part of ['a', 'b', 'c']) await send(names(part, 90))
  const [{ id }] = (await posthorn.call('GET', '/v1/surges')).json.surges
  t.equal((await posthorn.call('POST', `/v1/surges/${id}/fail`)).status, 200)
  await untilNoneIsHeld(posthorn, clock)
  clock.jump(hourMs)
  await send(names('d', 30))
  t.equal((await heldOf(posthorn)).length, 30)
})

t.test('the operator and the owners are told: who, which key, from where', async (t) => {
  const { posthorn, clock, send } = await start(t)
  const { store } = posthorn
  const now = clock.now()
  const personId = store.ids.uuid()
  await store.write(async (tx) => {
    await tx
      .insertInto('users')
      .values({
        id: personId,
        email: 'owner@example.com',
        address: 'owner@example.com',
        name: 'Owner',
        password: null,
        totp_secret: null,
        totp_step: 0,
        operator: 0,
        disabled_at: null,
        created_at: now,
        last_login_at: null,
        proved_at: null,
        time_zone: null,
      })
      .execute()
    await tx
      .insertInto('memberships')
      .values({ user_id: personId, account_id: posthorn.accountId, role: 'owner', created_at: now })
      .execute()
  })
  await send(names('a', 20))
  await send(names('b', 5))
  await clock.advance(5_000)
  const told = async () => {
    const [notice] = await openNotices(store.read)
    return notice
  }
  for (let i = 0; i < 50 && (await told()) === undefined; i++) await clock.advance(200)
  t.match(await told(), { kind: 'surge', severity: 'burning' })
  const mails = await store.read
    .selectFrom('emails')
    .innerJoin('bodies', 'bodies.id', 'emails.body_id')
    .select(['to_list', 'subject', 'text'])
    .where('to_list', 'like', '%owner@example.com%')
    .execute()
  t.match(mails, [
    { subject: /"Test" hands in far more mail/, text: /From: the key "Shop".*127\.0\.0\.1/ },
  ])
})

t.test('the sandbox has no brake, and the command says so', async (t) => {
  const posthorn = await startPosthorn(t, { env: { POSTHORN_PROTECTION_SURGES_MINIMUM: '1' } })
  const list = (env: Record<string, string>) =>
    runCli(['surge', 'list', '--data', posthorn.dataDir], { env })
  const told = await list({ POSTHORN_OUTBOUND_ROUTE: 'sandbox' })
  t.match(`${told.stdout}${told.stderr}`, /None is looked for: outbound.route is 'sandbox'/)
  const direct = await list({ POSTHORN_OUTBOUND_ROUTE: 'direct' })
  t.notMatch(`${direct.stdout}${direct.stderr}`, /None is looked for/)
})
