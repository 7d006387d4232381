// Issue 15: everything that changes something leaves a row: pages, commands and the API alike.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { operations } from '../../src/app/operations.js'
import { noteAudit, readChanges } from '../../src/audit/index.js'
import { systemClock } from '../../src/clock/index.js'
import { changeInWords } from '../../src/dashboard/audit/words.js'
import { jsonOf, runCli } from '../cli/run.js'
import { logIn } from '../support/log-in.js'
import { startPeople } from '../support/people.js'
import { startPosthorn } from '../support/posthorn.js'
import { firstOperator } from '../support/visitor.js'

t.test(
  'a change by the API is in the log when it is answered, once, with the key and the id',
  async (t) => {
    const posthorn = await startPosthorn(t)
    const { call, send, store, accountId } = posthorn
    const before = await rowsOf(store.read)
    const again = { 'idempotency-key': randomUUID() }
    const body = { name: 'New books' }
    const { json } = await call('POST', '/v1/topics', { body, headers: again })
    const made = await rowsOf(store.read)
    t.equal(made.length, before.length + 1)
    t.match(made.at(-1), {
      actor: 'api',
      account_id: accountId,
      action: 'topic.create',
      target: json.id,
    })
    t.match(made.at(-1)?.name, /^test \(….{4}\)$/)
    await call('POST', '/v1/topics', { body, headers: again })
    await call('POST', '/v1/topics', { body: { name: 7 } })
    await call('GET', '/v1/topics')
    await send({ from: 'a@sender.test', to: 'b@example.test', subject: 's', html: 'h' })
    t.equal((await rowsOf(store.read)).length, made.length, 'no repeat, refusal, look or mail')
    await call('PATCH', `/v1/topics/${json.id}`, { body: { name: 'Old books' } })
    t.match((await rowsOf(store.read)).at(-1), { action: 'topic.change', target: json.id })

    const steps = [
      { key: 'start', type: 'trigger', config: { eventName: 'e' } },
      { key: 'wait', type: 'delay', config: { duration: 'P1D' } },
    ]
    const connections = [{ from: 'start', to: 'wait', type: 'default' }]
    const automation = { name: 'Welcome', steps, connections }
    const { id } = (await call('POST', '/v1/automations', { body: automation })).json
    const asked = await call('POST', `/v1/automations/${id}/pause`, { body: { dryRun: true } })
    t.equal(asked.status, 200, JSON.stringify(asked.json))
    t.match((await rowsOf(store.read)).at(-1), { action: 'automation.create' }, 'no trial')

    const template = { slug: 'hello', subject: 'Hi', html: '<p>Hi</p>' }
    await call('POST', '/v1/templates', { body: template })
    await call('POST', '/v1/templates/hello/versions/1/restore')
    const restored = { action: 'template.restore', target: 'hello', detail: /"version":"1"\}$/ }
    t.match((await rowsOf(store.read)).at(-1), restored, 'the version is a detail')

    const key = (await call('POST', '/v1/keys', { body: { name: 'Shop', scope: 'read' } })).json
    const owner = await logIn(posthorn, accountId, 'owner')
    const listed = await call('POST', '/v1/contacts/lists', { body: { name: 'Readers' } })
    const person = { email: 'ann@x.test', lists: [listed.json.id], agreed: 'At the till' }
    t.equal((await owner.post(`/a/${accountId}/contacts/new`, person)).status, 303)
    const { text } = await owner.get(`/a/${accountId}/audit`)
    t.match(text, `<a href="/a/${accountId}/keys/${key.id}">API key “Shop” created</a>`)
    for (const done of ['created', 'changed']) t.match(text, `>Topic “Old books” ${done}<`)
    const outside = text.replace(/<details><summary class="quiet">.*?<\/details>/g, '')
    t.notMatch(outside, json.id, 'ids and routes are for who opens the row')
    t.match(outside, /Contact “ann@x\.test” added[\s\S]*?lists<\/span> 1</)
    t.notMatch(outside, listed.json.id)
    t.notMatch(outside, /trigger|false|\[\]/)
    t.notMatch(outside, '/v1/')
  },
)

t.test('every change that the log knows is said in words', async (t) => {
  for (const { audit: action } of operations.values()) {
    if (action === undefined) continue
    const said = changeInWords({ action, target: 'x' }).says('Name')
    t.match(said, /^[A-Z].* [a-z]+$/, action)
    t.notMatch(said, /[:/]/, action)
  }
  const said = (action: string, target = 'x') => changeInWords({ action, target }).says('Name')
  t.equal(said('automation.enable'), 'Automation “Name” enabled')
  t.equal(said('key.rotate'), 'API key “Name” has a new secret')
  t.equal(said('posthorn domain add'), 'Domain “Name” added')
  t.equal(said('posthorn unheard of'), 'Unheard “Name”: of')
})

t.test('what is gone is in the log by its name, whichever way it went', async (t) => {
  const { call, store, dataDir } = await startPosthorn(t)
  const made = async (path: string, body: object) =>
    (await call('POST', `/v1/${path}`, { body })).json.id
  const said = async () => (await rowsOf(store.read)).at(-1)
  const list = await made('contacts/lists', { name: 'Readers' })
  const ann = await made(`contacts/${list}`, { email: 'ann@example.org' })
  const bob = await made(`contacts/${list}`, { email: 'bob@example.org' })
  const is = { field: 'contact.firstName', operator: 'eq', value: 'Ann' }
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const gone: [path: string, detail: RegExp][] = [
    [`contacts/${list}/${bob}`, /"email":"bob@example.org","list":"Readers"/],
    [`contacts/all/${ann}`, /"email":"ann@example.org"/],
    [`contacts/lists/${list}`, /"name":"Readers"/],
    [`segments/${await made('segments', { name: 'Anns', rule: is })}`, /"name":"Anns"/],
    [`pictures/${await made('pictures', { name: 'logo.png', content: png })}`, /"logo.png"/],
    [
      `contact-fields/${await made('contact-fields', { name: 'town', label: 'Town', type: 'text' })}`,
      /"name":"Town"/,
    ],
    [`keys/${await made('keys', { name: 'Shop' })}`, /"name":"Shop","scope":"full"/],
    [
      `webhooks/${await made('webhooks', { url: 'https://hooks.example.test/in', events: ['email.sent'] })}`,
      /"url":"https:\/\/hooks.example.test\/in"/,
    ],
  ]
  for (const [path, detail] of gone) {
    t.equal((await call('DELETE', `/v1/${path}`)).status, 200, path)
    t.match(await said(), { actor: 'api', detail }, path)
  }
  const { json: domain } = await call('POST', '/v1/domains', { body: { name: 'gone.test' } })
  await call('DELETE', `/v1/domains/${domain.id}`)
  t.match(await said(), { action: 'domain.remove', target: 'gone.test' })
  const key = await made('keys', { name: 'Till' })
  await runCli(['key', 'delete', key, '--yes', '--data', dataDir])
  t.match(await said(), { actor: 'cli', action: 'key.delete', detail: /"did":"delete .*Till/ })
})

t.test(
  'of the routes that change something only those without a row have a log of their own',
  async (t) => {
    const without = [...operations.values()]
      .filter(({ route, audit }) => !route.startsWith('GET ') && audit === undefined)
      .map(({ route }) => route)
    t.same(without.sort(), [
      'POST /v1/automations/:id/simulate',
      'POST /v1/broadcasts/:id/rehearse',
      'POST /v1/broadcasts/preview',
      'POST /v1/contacts/:listId',
      'POST /v1/emails/batch',
      'POST /v1/emails/send',
      'POST /v1/emails/ussd',
      'POST /v1/events/batch',
      'POST /v1/events/send',
      'POST /v1/forms/:id/submissions',
      'POST /v1/segments/count',
      'POST /v1/templates/:slug/render',
    ])
  },
)

t.test(
  'a command that changes something is one row, without its secrets; one that reads is none',
  async (t) => {
    const { store, dataDir, accountId } = await startPosthorn(t)
    const data = ['--data', dataDir]
    await jsonOf(t, ['topic', 'add', 'New books', '--description', 'Monthly', ...data])
    t.match((await rowsOf(store.read)).at(-1), {
      actor: 'cli',
      account_id: accountId,
      action: 'topic.create',
      target: 'New books',
      detail: JSON.stringify({ description: 'Monthly' }),
    })
    const url = 'https://user:hush@hooks.example.test/in?token=hush'
    await runCli(['webhook', 'add', url, '--event', 'delivered', ...data])
    for (const { detail, target } of await rowsOf(store.read))
      t.notMatch(`${detail} ${target}`, /hush/)
    const { url: link } = await jsonOf<{ url: string }>(t, [
      'user',
      'add',
      'eve@example.test',
      '--operator',
      ...data,
    ])
    t.match(link, /\/reset\/[\w-]{43}$/)
    const rows = await rowsOf(store.read)
    t.match(rows.at(-1), {
      action: 'posthorn user add',
      target: 'eve@example.test',
      account_id: null,
    })
    t.not(rows.at(-1)?.name, '', 'who ran it')
    for (const { detail } of rows) t.notMatch(detail, link.slice(-43))
    t.equal((await runCli(['account', 'suspend', 'Test', ...data])).status, 0)
    t.match((await rowsOf(store.read)).at(-1), {
      action: 'posthorn account suspend',
      account_id: accountId,
    })
    const count = (await rowsOf(store.read)).length
    for (const words of [
      ['topic', 'list'],
      ['user', 'list'],
      ['account', 'suspend', 'Nobody'],
    ]) {
      await runCli([...words, ...data])
    }
    t.equal((await rowsOf(store.read)).length, count, 'what reads, or is refused, leaves none')
  },
)

t.test('people are added, listed, given a role and switched off by commands', async (t) => {
  const posthorn = await startPosthorn(t)
  const { dataDir, store } = posthorn
  const data = ['--data', dataDir]
  await firstOperator(t, posthorn, systemClock)
  t.match((await runCli(['user', 'first', ...data])).stderr, /Somebody can log in already/)
  await jsonOf(t, [
    'user',
    'add',
    'eve@example.test',
    '--name',
    'Eve',
    '--account',
    'Test',
    ...data,
  ])
  t.match(await jsonOf(t, ['user', 'list', ...data]), [
    { email: 'eve@example.test', name: 'Eve', hasPassword: false, in: ['Test (owner)'] },
    { email: 'olga@example.test', isOperator: true },
  ])
  await jsonOf(t, ['user', 'role', 'eve@example.test', 'viewer', ...data])
  const last = await runCli(['user', 'role', 'olga@example.test', 'none', ...data])
  t.equal(last.status, 1)
  t.match(last.stderr, /no other owner/)
  t.match(
    (await runCli(['user', 'role', 'eve@example.test', 'king', ...data])).stderr,
    /a role is one of/,
  )
  await jsonOf(t, ['user', 'operator', 'eve@example.test', ...data])
  await jsonOf(t, ['user', 'disable', 'eve@example.test', ...data])
  t.match(
    (await runCli(['user', 'operator', 'olga@example.test', '--remove', ...data])).stderr,
    /no other operator/,
  )
  await jsonOf(t, ['user', 'enable', 'eve@example.test', ...data])
  const { url } = await jsonOf<{ url: string }>(t, [
    'user',
    'reset',
    'eve@example.test',
    '--mfa',
    ...data,
  ])
  t.match(url, /\/reset\//)
  t.match(
    (await jsonOf<{ url: string }>(t, ['user', 'invite', 'ida@example.test', ...data])).url,
    /\/invite\//,
  )
  t.match((await runCli(['user', 'reset', 'nobody@example.test', ...data])).stderr, /user list/)
  t.match(await store.read.selectFrom('memberships').select('role').orderBy('role').execute(), [
    { role: 'owner' },
    { role: 'viewer' },
  ])
})

t.test(
  'the audit page is read page by page, filtered, and shows an account its own rows alone',
  async (t) => {
    const started = await startPeople(t)
    const { store, clock, accountId } = started
    const owner = await firstOperator(t, started, clock)
    await store.write(async (tx) => {
      for (let i = 0; i < 120; i++) {
        const actor = {
          kind: 'api',
          userId: null,
          name: `key ${i % 2}`,
          clientAddressKey: null,
        } as const
        const action = i % 10 === 0 ? 'topic.delete' : 'topic.create'
        const change = {
          actor,
          accountId: i === 60 ? 'another' : accountId,
          action,
          target: `t${i}`,
        }
        await noteAudit(tx, { ...change, at: clock.now() })
      }
    })
    const seen: string[] = []
    let path: string | undefined = `/a/${accountId}/audit?kind=api`
    let pages = 0
    while (path !== undefined) {
      const { text }: { text: string } = await owner.get(path)
      seen.push(
        ...[...text.matchAll(/Topic “(t\d+)” (?:created|deleted)/g)].map(([, id = '']) => id),
      )
      path = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
      pages++
    }
    t.equal(pages, 3)
    t.same(
      seen,
      Array.from({ length: 120 }, (_, i) => `t${119 - i}`).filter((id) => id !== 't60'),
    )
    const few = await owner.get(`/a/${accountId}/audit?action=topic.delete&name=key+0`)
    t.equal([...few.text.matchAll(/scope="row"/g)].length, 11)
    t.match((await owner.get('/operator/audit?action=topic.delete')).text, /Topic “t60” deleted/)
    t.equal(
      (
        await readChanges(store.read, accountId, {
          filter: { kind: 'system' },
          before: undefined,
          limit: 5,
        })
      ).changes.length,
      0,
    )
  },
)

const rowsOf = (read: Awaited<ReturnType<typeof startPosthorn>>['store']['read']) =>
  read.selectFrom('audit_log').selectAll().orderBy('id').execute()

t.test('what is too long for a row is cut, and not left out', async (t) => {
  const { store, accountId } = await startPosthorn(t)
  const actor = { kind: 'user', userId: null, name: 'ann@x.test', clientAddressKey: null } as const
  const to = Array.from({ length: 400 }, (_, n) => `somebody-${n}@example.test`)
  const details: Record<string, unknown>[] = [
    { note: 'n'.repeat(9_000), kept: 'yes' },
    { to, kept: 'yes' },
    { to: to.map(String).join(', '), kept: 'yes' },
    { all: to.map((one) => ({ one, more: to })), kept: 'yes' },
    Object.fromEntries(to.map((one) => [one, one])),
  ]
  for (const detail of details) {
    await store.write((tx) => noteAudit(tx, { actor, accountId, action: 'x.long', detail, at: 1 }))
  }
  const rows = (await rowsOf(store.read)).filter(({ action }) => action === 'x.long')
  const kept = rows.map(({ detail }) => JSON.parse(detail))
  t.match(kept[0], { note: /^n{2000}…$/, kept: 'yes' })
  t.match(kept[1], { to: { 0: 'somebody-0@example.test', 100: '… and 300 more' }, kept: 'yes' })
  t.match(kept[2], { to: /^somebody-0@example\.test, .*…$/, kept: 'yes' })
  t.match(kept[3], { kept: 'yes' })
  t.same(kept[4], { cut: true })
  for (const { detail } of rows) t.ok(detail.length <= 8_000, `${detail.length} characters`)
})
