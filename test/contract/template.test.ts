// interface.md: template mode of send and batch; decisions.md: Templates.
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { silentLog } from '../../src/log/index.js'
import { openRenderer, putTemplate } from '../../src/templates/index.js'
import { startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const renderer = openRenderer({ log: silentLog, clock: systemClock })
t.teardown(() => renderer.close())
const save = (slug: string, html: string, more: { subject?: string; textBody?: string } = {}) =>
  putTemplate({ store: posthorn.store, clock: systemClock, renderer }, posthorn.accountId, {
    slug,
    subject: more.subject ?? 'Hello {{ name }}',
    html,
    ...(more.textBody === undefined ? {} : { textBody: more.textBody }),
  })
await save('welcome', '<p>Hi {{ name }}{% if plan %}, plan {{ plan }}{% endif %}</p>', {
  textBody: 'Hi {{ name }}',
})
await save('plain', '<p>{{ name }}</p>')
const good = {
  from: 'a@sender.test',
  to: 'ann@example.com',
  template: 'welcome',
  variables: { name: 'Ann & Bob' },
}

const bodyOf = async (id: string) =>
  posthorn.store.read
    .selectFrom('emails')
    .innerJoin('bodies', 'bodies.id', 'emails.body_id')
    .select(['subject', 'html', 'text'])
    .where('emails.id', '=', id)
    .executeTakeFirstOrThrow()

t.test('a template is filled in: escaped in HTML, plain in subject and text', async (t) => {
  const { status, json } = await posthorn.send(good)
  t.equal(status, 200)
  t.same(await bodyOf(json.id), {
    subject: 'Hello Ann & Bob',
    html: '<p>Hi Ann &amp; Bob</p>',
    text: 'Hi Ann & Bob',
  })
})

t.test(
  "a given subject overrides the template's; its textBody wins over a given text",
  async (t) => {
    const own = await posthorn.send({ ...good, subject: 'Own', text: 'given' })
    t.match(await bodyOf(own.json.id), { subject: 'Own', text: 'Hi Ann & Bob' })
    const without = await posthorn.send({ ...good, template: 'plain', text: 'given' })
    t.match(await bodyOf(without.json.id), { text: 'given' })
  },
)

t.test(
  'a referenced variable with no key: 422 { error } naming it; in a conditional it is not required',
  async (t) => {
    const { status, json } = await posthorn.send({ ...good, variables: {} })
    t.equal(status, 422)
    t.match(json, { code: 'validation_error', error: /name/ })
    t.notOk('errors' in json)
    t.equal((await posthorn.send({ ...good, variables: { name: 'x' } })).status, 200)
    await save('taken', '<p>{% if true %}{{ plan }}{% elsif x %}{{ y }}{% endif %}.</p>')
    const taken = await posthorn.send({ ...good, template: 'taken' })
    t.match(await bodyOf(taken.json.id), { html: '<p>.</p>' }, 'taken or not')
  },
)

t.test(
  'a number that loses digits is refused by its name, in variables and metadata',
  async (t) => {
    const sent = (json: string, path = '/v1/emails/send') =>
      posthorn.call('POST', path, {
        body: Buffer.from(json),
        headers: { 'content-type': 'application/json' },
      })
    const mail = (name: string, order: string) =>
      `{"from":"a@sender.test","to":"ann@example.com","template":"plain","variables":{"name":${name}},"metadata":{"order":${order}}}`
    t.match(await sent(mail('9007199254740993', '1')), {
      status: 422,
      json: { code: 'validation_error', error: /variables\.name: .* send it as text/ },
    })
    const order = /metadata\.order: .* send it as text/
    t.match(await sent(mail('1', '12345678901234567890')), { status: 422, json: { error: order } })
    t.match(
      await sent(`{"emails":[${mail('1', '1')},${mail('1', '1e400')}]}`, '/v1/emails/batch'),
      {
        status: 422,
        json: { errors: [{ index: 1, error: order }] },
      },
    )
    t.equal((await sent(mail('9007199254740991', '"12345678901234567890"'))).status, 200)
  },
)

t.test('a text beside a template without one is rendered too', async (t) => {
  const mail = { ...good, template: 'plain' }
  const text = 'Hi {{ name }}{% if plan %}, {{ plan }}{% endif %} <b>'
  const { json } = await posthorn.send({ ...mail, text, subject: 'For {{ name }}' })
  t.match(await bodyOf(json.id), { subject: 'For Ann & Bob', text: 'Hi Ann & Bob <b>' })
  const raw = await posthorn.send({ ...good, template: undefined, html: 'x', subject: 'x', text })
  t.match(await bodyOf(raw.json.id), { text }, 'beside HTML it is as given')
  for (const [bad, error] of [
    ['{{ gone }}', /"gone" is missing \(text, line 1/],
    ['{% if %}', /syntax error.*\(text/],
    ['x'.repeat(256 * 1024 + 1), /the given text has more than 262144 bytes \(text\)/],
  ] as const) {
    t.match(await posthorn.send({ ...mail, text: bad }), { status: 422, json: { error } })
  }
})

t.test("an unknown slug, one in other case and another account's: 404", async (t) => {
  for (const template of ['nope', 'Welcome', 'WELCOME', '../x', 'x'.repeat(1_000)]) {
    const { status, json } = await posthorn.send({ ...good, template })
    t.match({ status, json }, { status: 404, json: { code: 'not_found', error: String } }, template)
  }
})

t.test('both or neither of html and template: 422', async (t) => {
  const { template: _, ...neither } = { ...good, subject: 'x' }
  for (const body of [{ ...good, html: '<p>x</p>' }, neither]) {
    const { status, json } = await posthorn.send(body)
    t.match(
      { status, json },
      { status: 422, json: { code: 'validation_error', error: /html and template/ } },
    )
  }
})

t.test('variables that are no object, or too many: 400', async (t) => {
  for (const variables of [1, 'x', [], { x: 'y'.repeat(256 * 1024) }]) {
    const { status, json } = await posthorn.send({ ...good, variables })
    t.equal(status, 400)
    t.same(json.error.issues[0].path, ['variables'])
  }
})

t.test('batch items may use templates; a failing one fails the batch', async (t) => {
  const call = (emails: object[]) => posthorn.call('POST', '/v1/emails/batch', { body: { emails } })
  const { status, json } = await call([
    good,
    { ...good, to: 'bob@example.com', variables: { name: 'Bob' } },
  ])
  t.equal(status, 200)
  t.match(await bodyOf(json.ids[1]), { html: '<p>Hi Bob</p>' })
  const bad = await call([good, { ...good, variables: {} }, { ...good, template: 'nope' }])
  t.equal(bad.status, 422)
  t.match(bad.json.errors, [
    { index: 1, error: /name/ },
    { index: 2, error: /nope/ },
  ])
})

t.test('a hostile template ends in 422 while others are served', async (t) => {
  await save('hostile', '{% for i in (1..1000000000) %}{{ i }}{% endfor %}', { subject: 'x' })
  const hostile = Array.from({ length: 5 }, () => posthorn.send({ ...good, template: 'hostile' }))
  const began = Date.now()
  const { html: _, ...raw } = { ...good, html: '' }
  const served = await posthorn.send({ from: raw.from, to: raw.to, subject: 'x', html: '<p>x</p>' })
  t.equal(served.status, 200)
  t.ok(Date.now() - began < 2_000, 'the API is not held up')
  for (const answer of await Promise.all(hostile)) {
    t.match(answer, { status: 422, json: { code: 'validation_error' } })
  }
  t.equal((await posthorn.send(good)).status, 200)
})
