import t, { type Test } from 'tap'
import { createKey } from '../../src/accounts/index.js'
import { applianceKeyFile } from '../../src/app/index.js'
import { systemClock as clock, pause } from '../../src/clock/index.js'
import { openApplianceKey } from '../../src/config/index.js'
import { addDomain } from '../../src/domains/index.js'
import { silentLog } from '../../src/log/index.js'
import { openSandboxReceiver } from '../../src/sandbox/index.js'
import { makeIds } from '../../src/store/ids.js'
import { isTestId, newUuid, type Store } from '../../src/store/index.js'
import { runCli } from '../cli/run.js'
import { plainToken, startSubmission, submit } from '../submission/start.js'
import { FakeClock } from '../support/clock.js'
import { fakeMx } from '../support/fake-mx.js'
import { logIn } from '../support/log-in.js'
import { directTo, type Posthorn, startPosthorn } from '../support/posthorn.js'
import { openReceiver } from '../support/receiver.js'
import { fakeResolver } from '../support/resolver.js'
import { openTestStore } from '../support/store.js'
import { Talk } from './talk.js'

t.setTimeout(240_000)

// 'Marketing Plus' of config/plans.toml.
const marketingPlan = '019a9b10-0000-7000-8000-000000000102'

const mail = {
  from: 'Shop <a@sender.test>',
  subject: 'Confirm',
  html: '<a href="https://x.test/c">Yes</a>',
}

/** An appliance whose mail goes to a server of the test's, and a test key of its account. */
async function start(t: Test, env: Record<string, string> = {}) {
  const mx = await fakeMx(t)
  const direct = directTo(mx)
  const posthorn = await startPosthorn(t, {
    ...direct,
    env: { ...direct.env, ...env, POSTHORN_OUTBOUND_WARM_UP: 'auto' },
  })
  const made = await posthorn.call('POST', '/v1/keys', { body: { name: 'CI', scope: 'test' } })
  return { mx, posthorn, key: made.json.key as string }
}

/** Hands a mail in by a key; resolves with what became of it. */
async function ended({ call, until }: Posthorn, key: string, body: object) {
  const { json, status } = await call('POST', '/v1/emails/send', {
    key,
    body: { ...mail, ...body },
  })
  if (status !== 200) throw new Error(JSON.stringify(json))
  return await until(json.id, (email) =>
    email.recipients.every(({ updatedAt }) => updatedAt !== null),
  )
}

/** The account has one more domain. */
async function owned({ store, dataDir, accountId }: Posthorn, name: string) {
  const key = openApplianceKey(applianceKeyFile(dataDir))
  await addDomain({ store, clock, key }, accountId, name, { trust: true })
}

/** What a look finds, as soon as it finds something. */
async function wanted<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let left = 200; left > 0; left--) {
    const found = await look()
    if (found !== undefined) return found
    await pause(clock, 50)
  }
  throw new Error(`It never came: ${look}`)
}

const rows = async (store: Store, table: 'suppressions' | 'sources' | 'protection_hours') =>
  (await store.read.selectFrom(table).selectAll().execute()).length

t.test('ids of test mail say so, and rise among the others', async (t) => {
  const fake = new FakeClock()
  const ids = makeIds(fake, { first: 0, count: 32 }, { serial: 0, uuidMs: 0 })
  const made: string[] = []
  for (let i = 0; i < 2_000; i++) {
    made.push(i % 3 === 0 ? ids.testUuid() : ids.uuid())
    if (i % 100 === 0) await fake.advance(1)
  }
  t.same([...made].sort(), made)
  t.equal(new Set(made).size, 2_000)
  t.ok(made.every((id, i) => isTestId(id) === (i % 3 === 0)))
  t.ok(made.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[89ab][0-9a-f]{3}-/.test(id)))
  t.notOk(isTestId(newUuid(fake.now())))
})

t.test('a test key’s mail ends in the account’s inbox, and nothing follows from it', async (t) => {
  const { mx, posthorn, key } = await start(t, { POSTHORN_WEBHOOKS_ALLOW: '127.0.0.1' })
  const { call, store, accountId } = posthorn
  const hook = await openReceiver(t)
  await call('POST', '/v1/webhooks', { body: { url: hook.url } })
  const email = await ended(posthorn, key, {
    to: ['bob@example.org', 'bounced@simulator.posthorn.test'],
  })
  t.match(email, { test: true, status: 'bounced', provider: 'primary' })
  t.match(email.recipients[0]?.reply, /^250 2\.6\.0 Kept in the sandbox as \d+$/)
  t.equal(mx.sessions.length, 0, 'no connection was made')

  const list = await wanted(async () => {
    const { json } = await call('GET', '/v1/inbox', { key })
    return json.messages[0]?.checks ? json : undefined
  })
  t.match(list, {
    hasMore: false,
    messages: [
      {
        emailId: email.id,
        to: ['bob@example.org'],
        subject: 'Confirm',
        checks: { dkim: 'pass', spf: 'pass', dmarc: 'pass' },
      },
    ],
  })
  const [{ id }] = list.messages
  const { json } = await call('GET', `/v1/inbox/${id}`)
  t.match(json.message, { links: ['https://x.test/c'], text: 'Yes' })

  await hook.until((got) => got.length === 3)
  t.ok(hook.received.every((got) => got.json.test === true))
  t.same(hook.received.map((got) => got.json.event).sort(), [
    'email.bounced',
    'email.delivered',
    'email.sent',
  ])

  t.equal(await rows(store, 'suppressions'), 0, 'the bounce suppresses nobody')
  t.equal(await rows(store, 'protection_hours'), 0, 'no rate counts it')
  t.equal(await rows(store, 'sources'), 0, 'no warm-up counts it')
  const figures = async (query: string) => (await call('GET', `/v1/stats${query}`)).json.total
  t.match(await figures(''), { mails: 0, answered: 0 })
  t.match(await figures('?test=true'), { mails: 1, accepted: 2, delivered: 1, bouncedHard: 1 })
  t.match(
    (await call('GET', '/v1/stats?test=true&groupBy=provider')).json.error,
    /not kept by provider/,
  )
  const usage = await store.read
    .selectFrom('usage')
    .selectAll()
    .where('account_id', '=', accountId)
    .execute()
  t.ok(
    usage.length === 2 &&
      usage.every(({ period, mails }) => period.endsWith(' test') && mails === 2),
  )

  // Another key's mail is as ever, and each kind is found by itself.
  const real = await ended(posthorn, posthorn.apiKey, { to: 'bob@example.org' })
  t.match(real, { test: false, status: 'delivered' })
  await mx.waitForMessages(1)
  t.equal(await rows(store, 'sources'), 1)
  await hook.until((got) => got.length === 5)
  t.ok(hook.received.slice(3).every((got) => !('test' in got.json)))
  const found = async (test: boolean) =>
    (await call('GET', `/v1/emails?test=${test}`)).json.emails.map((one: { id: string }) => one.id)
  t.same(await found(true), [email.id])
  t.same(await found(false), [real.id])
})

t.test('what a test key has done is apart from what others do', async (t) => {
  const { mx, posthorn, key } = await start(t)
  const { call } = posthorn
  const body = { ...mail, to: 'bob@example.org' }
  const send = (by: string) =>
    call('POST', '/v1/emails/send', { key: by, body, headers: { 'idempotency-key': 'order-1' } })
  const tried = await send(key)
  const again = await send(key)
  t.equal(again.json.id, tried.json.id)
  t.equal(again.headers.get('idempotency-replay'), 'true')
  const real = await send(posthorn.apiKey)
  t.equal(real.headers.get('idempotency-replay'), null)
  t.not(real.json.id, tried.json.id)
  await mx.waitForMessages(1)

  const answer = async (method: string, path: string, given?: object) => {
    const { status, json } = await call(method, path, { key, ...(given && { body: given }) })
    return [status, json.code]
  }
  t.same(await answer('GET', `/v1/emails/${real.json.id}`), [404, 'not_found'])
  t.equal((await answer('GET', `/v1/emails/${tried.json.id}`))[0], 200)
  t.equal((await answer('GET', '/v1/emails'))[0], 200)
  t.same(await answer('GET', '/v1/contacts/all'), [403, 'forbidden'])
  t.same(await answer('POST', '/v1/events/send', { event: 'x', email: 'a@b.example' }), [
    403,
    'forbidden',
  ])
  t.same(await answer('POST', '/v1/keys', { name: 'x' }), [403, 'forbidden'])
  const scheduled = { ...body, scheduledAt: new Date(Date.now() + 3_600_000).toISOString() }
  const later = await call('POST', '/v1/emails/send', { body: scheduled })
  t.same(await answer('DELETE', `/v1/emails/${later.json.id}/cancel`), [404, 'not_found'])
  const ownLater = await call('POST', '/v1/emails/send', { key, body: scheduled })
  t.equal((await answer('DELETE', `/v1/emails/${ownLater.json.id}/cancel`))[0], 200)

  // Batches too; and nobody else sees the inbox.
  const batch = await call('POST', '/v1/emails/batch', { key, body: { emails: [body, body] } })
  for (const id of batch.json.ids) t.ok(isTestId(id))
  await wanted(
    async () => (await call('GET', '/v1/inbox', { key })).json.messages.length === 3 || undefined,
  )
  const { json } = await call('GET', '/v1/inbox?limit=2', { key })
  t.match(json, { hasMore: true })
  const { json: next } = await call('GET', `/v1/inbox?limit=2&cursor=${json.nextCursor}`, { key })
  t.match(next, { hasMore: false, messages: [{}] })
  const other = await posthorn.addAccount('Other')
  const others = await call('GET', '/v1/inbox', { key: other.apiKey })
  t.same(others.json.messages, [])
  const one = await call('GET', `/v1/inbox/${json.messages[0].id}`, { key: other.apiKey })
  t.equal(one.status, 404)
  t.same((await call('DELETE', '/v1/inbox', { key: other.apiKey })).json, { cleared: 0 })

  // Who is forgotten is forgotten here too.
  await ended(posthorn, key, { to: 'carol@example.org' })
  await call('POST', '/v1/contacts/erasures', { body: { address: 'carol@example.org' } })
  await wanted(async () => {
    const { json } = await call('GET', '/v1/inbox?to=carol@example.org', { key })
    return json.messages.length === 0 || undefined
  })
  t.same((await call('DELETE', '/v1/inbox', { key })).json, { cleared: 3 })
})

t.test(
  'a test key that is limited to a domain sees and clears what was sent from it',
  async (t) => {
    const { posthorn, key } = await start(t)
    const { call } = posthorn
    for (const name of ['second.test', 'third.test']) await owned(posthorn, name)
    const keyFor = async (...domains: string[]) => {
      const body = { name: 'CI', scope: 'test', domains }
      return (await call('POST', '/v1/keys', { body })).json.key as string
    }
    const [second, both] = [await keyFor('second.test'), await keyFor('second.test', 'third.test')]
    const first = await ended(posthorn, key, { to: 'bob@example.org' })
    // The name of the sender looks like an address of the other domain, and the domain is written large.
    const named = {
      from: '"x@second.test, <x@second.test>" <a@sender.test>',
      to: 'bob@example.org',
    }
    const lookalike = await ended(posthorn, key, named)
    const from = 'Two <a@Second.TEST>'
    const own = await ended(posthorn, second, { from, to: ['bob@example.org', 'ann@example.org'] })
    await ended(posthorn, posthorn.apiKey, { to: 'bob@example.org' })
    const body = { ...mail, to: 'bob@example.org' }
    t.equal((await call('POST', '/v1/emails/send', { key: second, body })).status, 403)

    const inbox = async (by: string, query = '') =>
      (await call('GET', `/v1/inbox${query}`, { key: by })).json
    const messages = (await inbox(key)).messages as { id: number; emailId: string }[]
    t.same(
      new Set(messages.map(({ emailId }) => emailId)),
      new Set([first.id, lookalike.id, own.id]),
    )
    for (const by of [second, both]) {
      const seen = (await inbox(by)).messages as typeof messages
      t.ok(seen.length > 0 && seen.every(({ emailId }) => emailId === own.id))
      for (const { id, emailId } of messages) {
        const { status } = await call('GET', `/v1/inbox/${id}`, { key: by })
        t.equal(status, emailId === own.id ? 200 : 404)
      }
      t.same((await inbox(by, `?emailId=${first.id}`)).messages, [])
    }
    const page = await inbox(key, '?limit=1')
    const foreign = await call('GET', `/v1/inbox?limit=1&cursor=${page.nextCursor}`, {
      key: second,
    })
    t.equal(foreign.status, 400, 'a page of another key’s is none of this one’s')

    // The log and the figures, in the same way.
    const listed = async (by: string, query = '') => {
      const { status, json } = await call('GET', `/v1/emails${query}`, { key: by })
      return status === 200 ? json.emails.map(({ id }: { id: string }) => id) : [status, json.code]
    }
    t.same(await listed(key), [own.id, lookalike.id, first.id])
    t.same(await listed(second), [own.id])
    t.same(await listed(both, '?test=true'), [own.id])
    t.same(await listed(second, '?domain=sender.test'), [])
    t.same(await listed(key, '?test=false'), [403, 'forbidden'])
    const figures = async (by: string, query = '') => {
      const { status, json } = await call('GET', `/v1/stats${query}`, { key: by })
      return status === 200 ? json.total.mails : [status, json.code]
    }
    t.equal(await figures(key), 3)
    t.equal(await figures(key, '?test=true&groupBy=domain'), 3)
    t.equal(await figures(second), 1)
    t.equal(await figures(both, '?domain=second.test'), 1)
    t.same(await figures(both), [403, 'forbidden'])
    t.same(await figures(second, '?domain=sender.test'), [403, 'forbidden'])
    t.same(await figures(key, '?test=false'), [403, 'forbidden'])

    const mine = (await inbox(second)).messages.length
    t.same((await call('DELETE', '/v1/inbox', { key: both })).json, { cleared: mine })
    t.same((await inbox(second)).messages, [])
    t.equal((await inbox(key)).messages.length, messages.length - mine)
  },
)

t.test('a limited key’s list and clearing go through a long inbox', async (t) => {
  const { posthorn, key } = await start(t)
  const { call, store } = posthorn
  await owned(posthorn, 'second.test')
  const body = { name: 'CI', scope: 'test', domains: ['second.test'] }
  const second = (await call('POST', '/v1/keys', { body })).json.key as string
  const own = await ended(posthorn, second, { from: 'a@second.test', to: 'bob@example.org' })
  const other = await ended(posthorn, key, { to: 'bob@example.org' })
  const copies = await store.read
    .selectFrom('sandbox_messages')
    .selectAll()
    .where('email_id', 'in', [own.id, other.id])
    .orderBy('id')
    .execute()
  // 900 more of the other domain, and one of its own before and after each 300.
  await store.write(async (tx) => {
    for (let i = 0; i < 900; i++) {
      const of = i % 300 === 0 ? 0 : 1
      const copy = { ...copies[of], id: store.ids.serial(), email_id: [own.id, other.id][of] }
      await tx
        .insertInto('sandbox_messages')
        .values(copy as NonNullable<(typeof copies)[0]>)
        .execute()
    }
  })
  const list = async (query: string) =>
    (await call('GET', `/v1/inbox${query}`, { key: second })).json
  const one = await list('?limit=3')
  t.equal(one.messages.length, 3)
  const two = await list(`?limit=3&cursor=${one.nextCursor}`)
  t.match(two, { hasMore: false, messages: [{ emailId: own.id }] })
  t.same((await call('DELETE', '/v1/inbox', { key: second })).json, { cleared: 4 })
  t.equal((await list('')).messages.length, 0)
  const { left } = await store.read
    .selectFrom('sandbox_messages')
    .select(({ fn }) => fn.countAll<number>().as('left'))
    .executeTakeFirstOrThrow()
  t.equal(left, 898)
})

t.test('a test key stays one, and no other becomes one', async (t) => {
  const { posthorn, key } = await start(t)
  const { call } = posthorn
  const { keys } = (await call('GET', '/v1/keys')).json
  const of = (scope: string) => keys.find((one: { scope: string }) => one.scope === scope).id
  const change = async (id: string, body: object) => {
    const { status, json } = await call('PATCH', `/v1/keys/${id}`, { body })
    return [status, json.field ?? json.scope]
  }
  t.same(await change(of('test'), { scope: 'full' }), [422, 'scope'])
  t.same(await change(of('test'), { scope: 'sending', name: 'x' }), [422, 'scope'])
  t.same(await change(of('test'), { scope: 'test', name: 'Renamed' }), [200, 'test'])
  await call('POST', '/v1/keys', { body: { name: 'Second' } })
  t.same(await change(of('full'), { scope: 'test' }), [422, 'scope'])
  t.same(await change(of('full'), { scope: 'read' }), [200, 'read'])
  t.equal((await call('GET', '/v1/inbox', { key })).status, 200)
})

t.test('pages and commands cut long subjects, and offer a key no other kind', async (t) => {
  const { posthorn, key } = await start(t)
  const { accountId, call, dataDir } = posthorn
  const subject = 'Größe '.repeat(50).trim()
  const to = Array.from({ length: 12 }, (_, i) => `somebody.number.${i}@example.org`)
  await ended(posthorn, key, { to, subject })
  const viewer = await logIn(posthorn, accountId, 'owner')
  for (const list of ['inbox', 'emails']) {
    const { text } = await viewer.get(`/a/${accountId}/${list}`)
    const [, shown = ''] = />(Größe [^<]*)<\/a>/.exec(text) ?? []
    t.equal([...shown].length, 120, list)
    t.ok(shown.endsWith('…'))
  }
  for (const group of ['inbox', 'email']) {
    const { stdout } = await runCli([group, 'list', '--data', dataDir])
    const [, line = ''] = stdout.split('\n')
    t.match(line, /Größe .*…/, group)
    t.ok(line.length < 240, `${group}: ${line.length} characters`)
  }
  for (const args of [['email', 'list'], ['stats']]) {
    const { stdout } = await runCli([...args, '--help'])
    t.match(stdout.replace(/\s+/g, ' '), /test keys/)
    t.notMatch(stdout, /scope\s+--test/)
  }

  const { keys } = (await call('GET', '/v1/keys')).json
  for (const { id, scope } of keys as { id: string; scope: string }[]) {
    const { text } = await viewer.get(`/a/${accountId}/keys/${id}`)
    const offered = [...text.matchAll(/name="scope" value="(\w+)"/g)].map(([, value]) => value)
    t.equal(offered.includes('test'), scope === 'test')
    t.equal(offered.includes('full'), scope !== 'test')
    const other = scope === 'test' ? 'full' : 'test'
    const refused = await runCli(['key', 'change', id, '--scope', other, '--data', dataDir])
    t.match(refused, { status: 1, stderr: /make a new key/ })
  }
})

t.test('a test key’s caps are the plan’s, and counted for themselves', async (t) => {
  const { posthorn, key } = await start(t)
  const { store, accountId, call } = posthorn
  const month = new Date().toISOString().slice(0, 7)
  const used = (period: string) =>
    store.write((tx) =>
      tx
        .insertInto('usage')
        .values({ account_id: accountId, period, mails: 1e9, campaign_mails: 0 })
        .execute(),
    )
  await store.write((tx) => tx.updateTable('subscriptions').set({ first_account: 0 }).execute())
  await used(month)
  const send = (by: string) =>
    call('POST', '/v1/emails/send', { key: by, body: { ...mail, to: 'bob@example.org' } })
  t.equal((await send(posthorn.apiKey)).status, 402)
  t.equal((await send(key)).status, 200)
  await store.write((tx) => tx.deleteFrom('usage').execute())
  await used(`${month} test`)
  t.match((await send(key)).json, { code: 'monthly_quota_exceeded' })
  t.equal((await send(posthorn.apiKey)).status, 200)
})

t.test('whatever becomes of its row, test mail does not leave', async (t) => {
  const { mx, posthorn, key } = await start(t)
  const { store, call, until } = posthorn
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
  const body = { ...mail, to: 'bob@example.org', scheduledAt }
  const { json } = await call('POST', '/v1/emails/send', { key, body })
  await store.write((tx) =>
    tx
      .updateTable('queue')
      .set({ lane: 'example.org', due_at: 0 })
      .where('email_id', '=', json.id)
      .execute(),
  )
  // Another key's mail rings for that lane.
  const real = await ended(posthorn, posthorn.apiKey, { to: 'ann@example.org' })
  t.equal(real.status, 'delivered')
  const { recipients } = await until(json.id, ({ status }) => status === 'failed')
  t.match(recipients[0]?.reply, /mail of a test key/)
  t.same(
    mx.messages.flatMap(({ to }) => to),
    ['ann@example.org'],
  )
})

t.test('by SMTP a test key is one too', async (t) => {
  const mx = await fakeMx(t)
  const posthorn = await startSubmission(t, directTo(mx))
  const { key } = await createKey({ store: posthorn.store, clock }, posthorn.accountId, 'CI', {
    limits: { scope: 'test' },
  })
  const talk = await Talk.open(t, posthorn.ports.starttls ?? 0)
  for (const command of ['EHLO client.test', 'STARTTLS']) await talk.say(command)
  await talk.secure()
  await talk.say('EHLO client.test')
  t.match(await talk.say(`AUTH PLAIN ${plainToken(key)}`), /^235/)
  const lines = ['From: a@sender.test', 'To: bob@example.test', 'Subject: By SMTP', '', 'Hi']
  const reply = await submit(talk, lines.join('\r\n'), { from: 'a@sender.test' })
  const id = / Queued as (\S+)$/.exec(reply)?.[1] ?? ''
  t.ok(isTestId(id))
  t.match(await posthorn.until(id, ({ status }) => status === 'delivered'), { test: true })
  t.match((await posthorn.call('GET', '/v1/inbox')).json.messages, [
    { subject: 'By SMTP', emailId: id },
  ])
  t.equal(mx.sessions.length, 0)
})

t.test('a link in a test mail changes nothing for who is named in it', async (t) => {
  const { posthorn, key } = await start(t)
  const { store, call } = posthorn
  await store.write((tx) =>
    tx.updateTable('subscriptions').set({ marketing_plan_id: marketingPlan }).execute(),
  )
  const email = await ended(posthorn, key, { to: 'dan@example.org', type: 'marketing' })
  const { messages } = (await call('GET', `/v1/inbox?emailId=${email.id}`, { key })).json
  const { message } = (await call('GET', `/v1/inbox/${messages[0].id}`, { key })).json
  const header = message.headers.find(({ name }: { name: string }) =>
    /^list-unsubscribe$/i.test(name),
  )
  const url = new URL(/<(https?:[^>]+)>/.exec(header.value)?.[1] ?? '')
  const answered = await fetch(new URL(url.pathname + url.search, posthorn.publicUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  })
  t.equal(answered.status, 200)
  t.equal(await rows(store, 'suppressions'), 0)
})

t.test(
  'the inbox takes nothing that is not a test key’s, and keeps as much as it may',
  async (t) => {
    const store = await openTestStore(t)
    const owners = new Map([
      ['one@x.test', { accountId: 'one', emailId: 'e1' }],
      ['two@x.test', { accountId: 'two', emailId: 'e2' }],
    ])
    const receiver = await openSandboxReceiver({
      store,
      clock,
      log: silentLog,
      resolver: fakeResolver(),
      ownerOf: async (from) => owners.get(from),
      config: { port: 0, keepMessages: 3 },
    })
    t.teardown(() => receiver.close())
    const give = async (from: string, subject: string) => {
      const talk = await Talk.open(t, receiver.port)
      await talk.upToData(['a@b.test'], from)
      talk.write(`Subject: ${subject}\r\n\r\nx`)
      const reply = await talk.say('\r\n.')
      await talk.say('QUIT')
      return reply
    }
    t.match(await give('somebody@x.test', 'no'), /^550 5\.7\.1 /)
    t.match(await give('two@x.test', 'other'), /^250 /)
    for (let i = 0; i < 6; i++) t.match(await give('one@x.test', `${i}`), /^250 /)
    const subjects = async (accountId: string) =>
      (
        await store.read
          .selectFrom('sandbox_messages')
          .select('subject')
          .where('account_id', '=', accountId)
          .orderBy('id')
          .execute()
      ).map(({ subject }) => subject)
    await wanted(async () => (await subjects('one')).length === 3 || undefined)
    t.same(await subjects('one'), ['3', '4', '5'])
    t.same(await subjects('two'), ['other'], 'each inbox for itself')
  },
)
