// Issue 'For developers' 2: templates by the API.
import t from 'tap'
import { startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const { call } = posthorn
const draft = { slug: 'welcome', subject: 'Hi {{ name }}', html: '<p>Dear {{ name }}</p>' }
await call('POST', '/v1/templates', { body: draft })

t.test('each save is a version, an older one comes back, and mails use the newest', async (t) => {
  const at = '/v1/templates/welcome'
  const changed = await call('PATCH', at, { body: { html: '<p>Hello {{ name }}</p>' } })
  t.match(changed.json, { version: 2, subject: draft.subject, automations: [] })
  const text = await call('PATCH', at, { body: { textBody: 'Hello {{ name }}' } })
  t.match(text.json, { version: 3, html: '<p>Hello {{ name }}</p>', textBody: 'Hello {{ name }}' })
  t.match((await call('PATCH', at, { body: { textBody: '' } })).json, { textBody: null })
  const back = await call('POST', `${at}/versions/1/restore`)
  t.match(back.json, { version: 5, html: draft.html, textBody: null })
  t.match((await call('GET', at)).json, { version: 5, html: draft.html })
  t.match((await call('GET', `${at}/versions/2`)).json, { html: '<p>Hello {{ name }}</p>' })
  const seen: number[] = []
  for (let cursor = ''; ; ) {
    const { json } = await call('GET', `${at}/versions?limit=2${cursor}`)
    seen.push(...json.versions.map(({ version }: { version: number }) => version))
    if (!json.hasMore) break
    cursor = `&cursor=${json.nextCursor}`
  }
  t.same(seen, [5, 4, 3, 2, 1])
  const body = { from: 'a@sender.test', to: 'ann@example.com', template: 'welcome' }
  const sent = await posthorn.send({ ...body, variables: { name: 'Ann' } })
  t.equal((await posthorn.email(sent.json.id)).subject, 'Hi Ann')
})

t.test('a change that changes nothing, and a part of another name, are refused', async (t) => {
  const at = '/v1/templates/welcome'
  const { version } = (await call('GET', at)).json
  for (const body of [{}, { text: 'Hi' }, { subject: null }, { subject: 'Hi', text: 'Hi' }]) {
    t.equal((await call('PATCH', at, { body })).status, 400, JSON.stringify(body))
  }
  const { status, text } = await call('POST', '/v1/templates', {
    body: { ...draft, slug: 'misnamed', text: 'Hi' },
  })
  t.match({ status, text }, { status: 400, text: /Expected textBody in place of text/ })
  t.equal((await call('GET', at)).json.version, version)
})

t.test('what it makes of variables is shown, of an older version too', async (t) => {
  const at = '/v1/templates/welcome/render'
  const variables = { name: '<Ann>' }
  t.match((await call('POST', at, { body: { variables } })).json, {
    subject: 'Hi <Ann>',
    html: '<p>Dear &lt;Ann&gt;</p>',
    text: null,
  })
  const older = { variables, version: 2, subject: 'To {{ name }}' }
  t.match((await call('POST', at, { body: older })).json, {
    subject: 'To <Ann>',
    html: '<p>Hello &lt;Ann&gt;</p>',
  })
  const long = await call('POST', at, { body: { variables: { name: 2 ** 53 } } })
  t.match(long, { status: 422, json: { error: /variables\.name: numbers beyond/ } })
  const missing = await call('POST', at, { body: {} })
  t.match(missing, { status: 422, json: { error: /name/ } })
  t.equal((await call('POST', at, { body: { variables, version: 99 } })).status, 404)
  for (const body of [{ variables: [] }, { variables: 'x' }, { version: 0 }, { version: 1.5 }]) {
    t.equal((await call('POST', at, { body })).status, 400, JSON.stringify(body))
  }
})

t.test('a list goes on where its page ends, and takes no cursor of another', async (t) => {
  for (const slug of ['b', 'c', 'd']) {
    await call('POST', '/v1/templates', { body: { ...draft, slug } })
  }
  const first = (await call('GET', '/v1/templates?limit=2')).json
  t.match(first, { templates: [{ slug: 'b' }, { slug: 'c' }], hasMore: true })
  const rest = await call('GET', `/v1/templates?limit=2&cursor=${first.nextCursor}`)
  t.match(rest.json, { templates: [{ slug: 'd' }, { slug: 'welcome' }], nextCursor: null })
  const versions = (await call('GET', '/v1/templates/welcome/versions?limit=1')).json
  const stranger = await posthorn.addAccount('Stranger')
  for (const [path, key] of [
    [`/v1/templates?cursor=${versions.nextCursor}`, posthorn.apiKey],
    [`/v1/templates/welcome/versions?cursor=${first.nextCursor}`, posthorn.apiKey],
    [`/v1/templates?cursor=${first.nextCursor}`, stranger.apiKey],
    [`/v1/broadcasts?cursor=${first.nextCursor}`, posthorn.apiKey],
    ['/v1/templates?cursor=', posthorn.apiKey],
  ] as const) {
    t.equal((await call('GET', path, { key })).status, 400, path)
  }
})

t.test('of two who change a part each at the same time, both parts change', async (t) => {
  const at = '/v1/templates/z-twice'
  await call('POST', '/v1/templates', { body: { ...draft, slug: 'z-twice' } })
  for (let n = 1; n <= 10; n++) {
    const [subject, html, textBody] = [`Hi ${n}`, `<p>${n}</p>`, `Text ${n}`]
    const changes = [{ subject }, { html }, { textBody }]
    const answers = await Promise.all(changes.map((body) => call('PATCH', at, { body })))
    t.same(
      answers.map(({ status }) => status),
      [200, 200, 200],
    )
    t.match((await call('GET', at)).json, { subject, html, textBody })
  }
})

t.test('hostile templates are refused and say where', async (t) => {
  for (const [more, fault] of [
    [{ slug: 'Upper' }, { field: 'slug' }],
    [{ slug: '../x' }, { field: 'slug' }],
    [{ slug: '' }, { field: 'slug' }],
    [{ html: '' }, { field: 'html' }],
    [{ html: `\u0000` }, { field: 'html' }],
    [{ html: 'x'.repeat(256 * 1024 + 1) }, { field: 'html' }],
    [{ subject: 'x'.repeat(5_000) }, { field: 'subject' }],
    [{ html: 'a\n{% if %}' }, { part: 'html', line: 2 }],
    [{ html: "{% include '/etc/passwd' %}" }, { part: 'html' }],
  ] as const) {
    const answer = await call('POST', '/v1/templates', { body: { ...draft, slug: 'bad', ...more } })
    t.match(answer, { status: 422, json: fault }, JSON.stringify(more).slice(0, 80))
  }
  t.equal((await call('GET', '/v1/templates/bad')).status, 404, 'nothing is saved')
  const slow = { ...draft, slug: 'slow', html: '{% for i in (1..100000000) %}{{ i }}{% endfor %}' }
  t.equal((await call('POST', '/v1/templates', { body: slow })).status, 201)
  t.equal((await call('POST', '/v1/templates/slow/render', { body: {} })).status, 422)
})

t.test("another account's templates do not exist", async (t) => {
  const { apiKey: key } = await posthorn.addAccount('Other')
  for (const [method, path, body] of [
    ['GET', '/v1/templates/welcome'],
    ['GET', '/v1/templates/welcome/versions'],
    ['GET', '/v1/templates/welcome/versions/1'],
    ['PATCH', '/v1/templates/welcome', { subject: 'x' }],
    ['POST', '/v1/templates/welcome/render', {}],
    ['POST', '/v1/templates/welcome/versions/1/restore'],
    ['DELETE', '/v1/templates/welcome'],
    ['GET', '/v1/templates/WELCOME'],
    ['GET', '/v1/templates/welcome%00'],
    ['GET', '/v1/templates/welcome/versions/one'],
  ] as const) {
    const given = body === undefined ? {} : { body }
    t.equal((await call(method, path, { key, ...given })).status, 404, `${method} ${path}`)
  }
  t.equal((await call('GET', '/v1/templates/welcome')).status, 200)
})
