// Issue 'What a review, an attacker, a client and a corpus found', 14: what clients rely upon.
import { gzipSync } from 'node:zlib'
import t from 'tap'
import {
  findPlan,
  loadPlans,
  setMarketingPlan,
  suspend,
  unsuspend,
} from '../../src/billing/index.js'
import { loadConfig, packageFile } from '../../src/config/index.js'
import { hold } from '../../src/deliveries/index.js'
import { maxSendBytes } from '../../src/emails/index.js'
import { type Answer, startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const { store, accountId } = posthorn
const good = { from: 'a@sender.test', to: 'ann@example.com', subject: 'x', html: '<p>x</p>' }
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()
const plan = findPlan(loadPlans(packageFile('config/plans.toml')).marketing, 'Marketing Plus')
await store.write((tx) => setMarketingPlan(tx, accountId, plan))

const post = (path: string, body: object | string | Buffer, headers: Record<string, string> = {}) =>
  posthorn.call('POST', path, { body, headers })
const made = async (path: string, body: object) => (await post(path, body)).json.id as string
const list = await made('/v1/contacts/lists', { name: 'Readers' })
await made(`/v1/contacts/${list}`, { email: 'bob@example.com' })
const campaign = { listId: list, from: good.from, subject: 'x', html: '<p>x</p>' }
const mails = async () => (await store.read.selectFrom('emails').select('id').execute()).length

t.test('null in an optional field means absent, everywhere', async (t) => {
  const [html, text] = ['<p>x</p>', null]
  const all = { text, replyTo: null, metadata: null, scheduledAt: null, topicId: null, type: null }
  const mail = { ...good, ...all, template: null, variables: null, cc: null }
  t.equal((await post('/v1/emails/send', mail)).status, 200)
  t.equal((await post('/v1/emails/batch', { emails: [mail, mail] })).status, 200)
  const ussd = { ...good, phoneNumber: null, text, replyTo: null, metadata: null }
  t.equal((await post('/v1/emails/ussd', ussd)).status, 200)
  t.match(await post('/v1/emails/ussd', { ...ussd, to: null }), { status: 400 })
  const contact = {
    email: 'cy@x.test',
    firstName: 'Cy',
    lastName: null,
    phone: null,
    metadata: null,
  }
  t.equal((await post(`/v1/contacts/${list}`, contact)).status, 201)
  const path = `/v1/contacts/${list}`
  t.equal((await post(path, { email: 'cy@x.test', firstName: null })).status, 200)
  const { json } = await posthorn.call('GET', `${path}?email=cy@x.test`)
  t.equal(json.contacts[0].firstName, 'Cy', 'what is absent stays')
  const topic = await made('/v1/topics', { name: 'News', description: null, position: null })
  const described = { description: 'Weekly', position: 3 }
  const patch = (body: object) => posthorn.call('PATCH', `/v1/topics/${topic}`, { body })
  await patch(described)
  const nulls = { name: null, description: null, position: null, archived: null }
  t.match((await patch(nulls)).json, { name: 'News', ...described, archived: false })
  const more = { topicId: null, name: null, replyTo: null, scheduledAt: inAnHour(), draft: null }
  t.match(await post('/v1/broadcasts', { ...campaign, ...more }), { status: 200 })
  const to = 'me@sender.test'
  t.match(await post('/v1/broadcasts/test', { ...campaign, topicId: null, to }), { status: 200 })
  t.match(await post('/v1/broadcasts/preview', { listId: list, topicId: null }), { status: 200 })
  const missing = await post('/v1/emails/send', { ...good, from: null, html })
  t.match(missing.json.error.issues, [{ path: ['from'], received: 'null' }])
})

t.test(
  'fields that other mail APIs know are a 422 that names them, and nothing is sent',
  async (t) => {
    const before = await mails()
    const everywhere = { reply_to: 'x@y.test' }
    const copies = { cc: ['x@y.test'], bcc: 'x@y.test' }
    const to = 'me@sender.test'
    for (const [path, body, foreign] of [
      ['/v1/emails/send', good, everywhere],
      [
        '/v1/emails/ussd',
        good,
        { ...copies, attachments: [], ...everywhere, headers: { 'X-A': 'b' }, tags: [] },
      ],
      ['/v1/broadcasts', campaign, { ...copies, ...everywhere }],
      ['/v1/broadcasts/test', { ...campaign, to }, { ...copies, ...everywhere }],
    ] as const) {
      for (const [name, value] of Object.entries(foreign)) {
        const answer = await post(path, { ...body, [name]: value })
        const error = new RegExp(`not supported: ${name}[;.]`)
        t.match(
          answer,
          { status: 422, json: { code: 'validation_error', error } },
          `${path} ${name}`,
        )
      }
      const { json } = await post(path, { ...body, ...foreign })
      t.match(json.error, `not supported: ${Object.keys(foreign).join(', ')}`)
      t.match(json.error, 'write replyTo')
    }
    for (const name of ['Bcc', 'CC', 'replyto', 'reply-to', 'Attachments', 'topic_id', 'Headers']) {
      t.match(await post('/v1/emails/send', { ...good, [name]: 'x@y.test' }), { status: 422 }, name)
    }
    t.match(await post('/v1/emails/send', { ...good, Bcc: 'x@y.test' }), {
      json: {
        error: 'This field is not supported: Bcc; write bcc in place of Bcc. Nothing was sent',
      },
    })
    for (const name of ['scheduled_at', 'send_at', 'scheduledat']) {
      const error = `not supported: ${name}; write scheduledAt in place of ${name}. Nothing was sent`
      for (const [path, body] of [
        ['/v1/emails/send', good],
        ['/v1/broadcasts', campaign],
      ] as const) {
        t.match(await post(path, { ...body, [name]: inAnHour() }), { status: 422, json: { error } })
      }
    }
    // What this endpoint cannot put off must not leave at once either.
    t.match(await post('/v1/emails/ussd', { ...good, scheduledAt: inAnHour() }), {
      status: 422,
      json: { error: 'This field is not supported: scheduledAt. Nothing was sent' },
    })
    // Fields of a send that this endpoint does not have: other mail would leave, or to others.
    const own = { text: 't', template: 'welcome', variables: { a: 1 }, to, type: 'marketing' }
    for (const [path, body, names] of [
      ['/v1/broadcasts', campaign, ['text', 'template', 'variables', 'to', 'type']],
      ['/v1/broadcasts/test', { ...campaign, to }, ['text', 'template', 'variables', 'type']],
      ['/v1/emails/ussd', good, ['template', 'variables', 'type']],
    ] as const) {
      for (const name of names) {
        const error = `This field is not supported: ${name}. Nothing was sent`
        const answer = await post(path, { ...body, [name]: own[name] })
        t.match(answer, { status: 422, json: { error } }, `${path} ${name}`)
      }
    }
    const { status, json } = await post('/v1/emails/batch', {
      emails: [good, { ...good, CC: 'x@y.test' }, { ...good, BCC: [], to: 'nobody' }],
    })
    t.equal(status, 422)
    t.match(json.errors, [
      { index: 1, error: /^This field is not supported: CC; write cc/ },
      { index: 2, error: /^to: Expected .*; This field is not supported: BCC; write bcc/ },
    ])
    t.equal(await mails(), before)
    t.match(await post('/v1/emails/send', { ...good, futureField: 1 }), { status: 200 })
  },
)

t.test('every fault of an item is told, with what came', async (t) => {
  const { json } = await post('/v1/emails/batch', {
    emails: [
      { from: 7, to: ['ann@x.test', 'nobody'], subject: '', html: good.html, type: 'bulk' },
      { ...good, from: 'a@other.test', scheduledAt: 'soon', topicId: 'x' },
    ],
  })
  for (const fault of [
    /from: Expected a string.*, but got 7/,
    /to\.1: Expected an address.*, but got "nobody"/,
    /subject: Expected .*, but got ""/,
    /type: Expected "transactional" or "marketing", but got "bulk"/,
  ]) {
    t.match(json.errors[0].error, fault)
  }
  const paths = async (path: string, body: object) =>
    (await post(path, body)).json.error.issues.map((issue: { path: string[] }) => issue.path[0])
  t.same(await paths('/v1/emails/send', { html: 'x' }), ['from', 'to', 'subject'])
  t.same(await paths('/v1/emails/ussd', { html: 'x', subject: 'x' }), ['from', 'to'])
  t.same(await paths('/v1/events/send', { event: 'a b' }), ['event', 'contactId'])
  for (const fault of [
    /other\.test is not verified/,
    /scheduledAt is not a date/,
    /topicId is only for/,
  ]) {
    t.match(json.errors[1].error, fault)
  }
})

t.test('an id in a body that is no UUID is a 404, like one that does not exist', async (t) => {
  const marketing = { ...good, type: 'marketing' }
  for (const topicId of ['x', '', "'; --", 'x'.repeat(10_000), '\ud800']) {
    const answers = [
      await post('/v1/emails/send', { ...marketing, topicId }),
      await post('/v1/broadcasts', { ...campaign, topicId }),
      await post('/v1/broadcasts/preview', { listId: list, topicId }),
      await post('/v1/broadcasts/preview', { listId: topicId }),
      await post('/v1/broadcasts/test', { ...campaign, listId: topicId, to: 'me@sender.test' }),
    ]
    for (const answer of answers) t.match(answer, { status: 404, json: { code: 'not_found' } })
  }
})

t.test('a campaign may be scheduled for any time to come; a mail for 90 days', async (t) => {
  const scheduledAt = new Date(Date.now() + 400 * 86_400_000).toISOString()
  const far = await post('/v1/broadcasts', { ...campaign, scheduledAt })
  t.match(far, { status: 200, json: { status: 'scheduled', scheduledAt } })
  await post(`/v1/broadcasts/${far.json.id}/cancel`, '')
  t.match(await post('/v1/emails/send', { ...good, scheduledAt }), { status: 400 })
  const past = { ...campaign, scheduledAt: '2020-01-01T00:00:00Z' }
  t.match(await post('/v1/broadcasts', past), { status: 400, json: { error: /past/ } })
})

t.test('a phone number is taken in any notation, and finds the contact', async (t) => {
  const path = `/v1/contacts/${list}`
  const added = { email: 'phone@x.test', phone: '0803 111 2222' }
  t.equal((await post(path, added)).status, 201)
  const { json } = await posthorn.call('GET', `${path}?email=phone@x.test`)
  t.equal(json.contacts[0].phone, '+2348031112222')
  const mail = { ...good, to: undefined, phoneNumber: '+234 803 111 2222' }
  t.equal((await post('/v1/emails/ussd', mail)).status, 200)
  for (const phone of ['', 'call me', 8031112222]) {
    const answer = await post(path, { ...added, phone })
    t.equal(answer.status, 400)
    t.match(answer.json.error.issues, [
      { path: ['phone'], message: /of NG \(the setting contacts\.default_country\)/ },
    ])
  }
})

t.test('a gzipped body is read within its limit; another coding is a 415', async (t) => {
  const gzip = (body: string | object, coding = 'gzip') =>
    post('/v1/emails/send', gzipSync(typeof body === 'string' ? body : JSON.stringify(body)), {
      'content-encoding': coding,
    })
  t.equal((await gzip(good)).status, 200)
  t.equal((await gzip(good, 'X-GZIP')).status, 200)
  t.match(await gzip('{'), { status: 400, json: { error: /^Malformed JSON/ } })
  const max = maxSendBytes(loadConfig({ env: {} }).attachments.maxBytes)
  t.match(await gzip(' '.repeat(max + 1)), { status: 413, json: { code: 'validation_error', max } })
  const headers = { 'content-encoding': 'gzip' }
  const whole = gzipSync(JSON.stringify(good))
  for (const broken of [JSON.stringify(good), whole.subarray(0, -9), Buffer.from('x')]) {
    const answer = await post('/v1/emails/send', broken, headers)
    t.match(answer, { status: 400, json: { error: 'The body is not valid gzip' } })
  }
  for (const coding of ['br', 'deflate', 'gzip, gzip', 'x']) {
    const answer = await post('/v1/emails/send', whole, { 'content-encoding': coding })
    t.match(answer, { status: 415, json: { code: 'unsupported_media_type' } }, coding)
    t.equal(answer.headers.get('accept-encoding'), 'gzip')
  }
  t.equal((await post('/v1/emails/send', good, { 'content-encoding': 'identity' })).status, 200)

  t.comment('a file too')
  const csv = (rows: number) =>
    `--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail\n${Array.from({ length: rows }, (_, i) => `z${i}@x.test\n`).join('')}\r\n--x--`
  const multipart = { ...headers, 'content-type': 'multipart/form-data; boundary=x' }
  const path = `/v1/contacts/${list}/import`
  const file = gzipSync(csv(500))
  t.match((await post(path, file, multipart)).json, { imported: 500 })
  t.match(await post(path, file.subarray(0, -20), multipart), { status: 400 })
  // Lines of blanks are passed over.
  const blanks = `${' '.repeat(16_383)}\n`.repeat(70 * 64)
  const large = gzipSync(`${csv(1).slice(0, -7)}\n${blanks}`)
  t.match(await post(path, large, multipart), { status: 413 })
  t.match(await post(path, file, { ...multipart, 'content-encoding': 'br' }), { status: 415 })
})

t.test('a slash at the end of a path says nothing', async (t) => {
  for (const path of [
    '/v1/topics',
    '/v1/contacts/lists',
    `/v1/contacts/${list}`,
    '/v1/billing/plans',
  ]) {
    const [without, slashed] = [
      await posthorn.call('GET', path),
      await posthorn.call('GET', `${path}/`),
    ]
    t.same([slashed.status, slashed.json], [200, without.json], path)
  }
  const { json } = await post('/v1/emails/send/', good)
  t.equal((await posthorn.call('GET', `/v1/emails/${json.id}/`)).json.email.id, json.id)
  t.equal((await posthorn.call('DELETE', `/v1/emails/${json.id}/cancel/`)).status, 400)
  t.equal((await posthorn.call('PUT', '/v1/topics/')).status, 405)
  t.equal((await posthorn.call('GET', '/v1/topics//')).status, 404)
})

t.test('?includeArchived=1 is true, and =0 is not', async (t) => {
  const id = await made('/v1/topics', { name: 'Old' })
  await posthorn.call('DELETE', `/v1/topics/${id}`)
  const names = async (value: string) => {
    const { json } = await posthorn.call('GET', `/v1/topics?includeArchived=${value}`)
    return json.topics.some((topic: { id: string }) => topic.id === id)
  }
  t.same(await Promise.all(['1', 'true', '0', 'false'].map(names)), [true, true, false, false])
  t.same(await Promise.all(['True', 'FALSE'].map(names)), [true, false], 'as Python writes them')
  t.equal((await posthorn.call('GET', '/v1/topics?includeArchived=2')).status, 400)
})

t.test('a cursor belongs to its list', async (t) => {
  const other = await made('/v1/contacts/lists', { name: 'Other' })
  for (const email of ['a@x.test', 'b@x.test']) {
    for (const id of [list, other]) await post(`/v1/contacts/${id}`, { email })
  }
  const page = (path: string) => posthorn.call('GET', path)
  const { nextCursor } = (await page(`/v1/contacts/${list}?limit=1`)).json
  t.equal((await page(`/v1/contacts/${list}?cursor=${nextCursor}`)).status, 200)
  for (let i = 0; i < 2; i++) await post('/v1/broadcasts', { ...campaign, draft: true })
  const ofCampaigns = (await page('/v1/broadcasts?limit=1')).json.nextCursor
  t.equal((await page(`/v1/broadcasts?cursor=${ofCampaigns}`)).status, 200)
  const old = Buffer.from(list.replaceAll('-', ''), 'hex').toString('base64url')
  for (const path of [
    `/v1/contacts/${other}?cursor=${nextCursor}`,
    `/v1/contacts/${list}?cursor=${ofCampaigns}`,
    `/v1/contacts/${list}?cursor=${nextCursor}A`,
    `/v1/contacts/${list}?cursor=${old}`,
    `/v1/contacts/${list}?cursor=`,
    `/v1/broadcasts?cursor=${nextCursor}`,
  ]) {
    const error = 'The cursor does not belong to this list'
    t.same((await page(path)).json, { code: 'validation_error', error }, path)
  }
})

t.test('GET /v1/emails/:id says that a mail is held, and why', async (t) => {
  const { json } = await post('/v1/emails/send', { ...good, scheduledAt: inAnHour() })
  t.match(await posthorn.email(json.id), { held: null, recipients: [{ held: null }] })
  const now = Date.now()
  await store.write(async (tx) => {
    const rows = await tx.selectFrom('queue').select('id').where('email_id', '=', json.id).execute()
    const ids = rows.map(({ id }) => id)
    await hold(tx, ids, { reason: 'the postmaster asked', now })
  })
  const held = { since: new Date(now).toISOString(), reason: 'the postmaster asked' }
  t.match(await posthorn.email(json.id), { held, recipients: [{ held, nextAttemptAt: null }] })
  await store.write((tx) => suspend(tx, accountId, 'a note that is not for the client'))
  const stopped = { since: null, reason: 'The account is suspended; contact the operator' }
  t.match(await posthorn.email(json.id), { held: stopped, recipients: [{ held }] })
  await store.write((tx) => unsuspend(tx, accountId))
})

t.test(
  'every answer under /v1 has rate-limit headers: of the key, or of the address',
  async (t) => {
    const limited = await startPosthorn(t, { env: { POSTHORN_HTTP_RATE_LIMIT_REQUESTS: '50' } })
    const left = ({ headers }: Answer) => Number(headers.get('x-ratelimit-remaining'))
    const json = { 'content-type': 'application/json' }
    const path = '/v1/emails/send'
    const asked = [
      [200, 'POST', path, { body: good }],
      [400, 'POST', path, { body: '{' }],
      [404, 'GET', '/v1/nowhere', {}],
      [405, 'PUT', path, {}],
      [413, 'POST', path, { body: Buffer.alloc(25 * 1024 * 1024, ' ') }],
      [415, 'POST', path, { body: '{}', headers: { 'content-type': 'text/plain' } }],
      [415, 'POST', path, { body: '{}', headers: { ...json, 'content-encoding': 'br' } }],
      [422, 'POST', path, { body: { ...good, reply_to: 'x@y.test' } }],
    ] as const
    for (const [at, [status, method, to, options]] of asked.entries()) {
      const answer = await limited.call(method, to, options)
      t.equal(answer.status, status)
      t.equal(left(answer), 49 - at, `${status} counts for the key`)
    }
    const strangers = [
      [401, 'POST', path, { key: null, body: good }],
      [401, 'POST', path, { key: 'ph_wrong', body: good }],
      [404, 'GET', '/v1/nowhere', { key: null }],
      [404, 'GET', '/v1/nowhere', { key: 'ph_wrong' }],
      [405, 'PUT', path, { key: null }],
    ] as const
    for (const [at, [status, method, to, options]] of strangers.entries()) {
      const answer = await limited.call(method, to, options)
      t.equal(answer.status, status)
      t.equal(left(answer), 49 - at, `${status} counts for the address`)
    }
    for (const open of ['/v1/billing/plans', '/v1/openapi.json']) {
      t.equal(left(await limited.call('GET', open, { key: null })), 45, `${open} does not count`)
    }
    const options = await fetch(limited.url + path, { method: 'OPTIONS' })
    t.equal(options.headers.get('x-ratelimit-remaining'), '44')
  },
)
