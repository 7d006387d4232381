// Thorough: every operation of the document is asked for, and its answer held against it; other tests of the contract do so for theirs.
// Issue 'The transactional contract' 10: the OpenAPI document is what the appliance does.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import t, { type Test } from 'tap'
import { createKey } from '../../src/accounts/index.js'
import {
  findPlan,
  loadPlans,
  setBillingState,
  setMarketingPlan,
  setPlan,
  suspend,
  unsuspend,
} from '../../src/billing/index.js'
import { packageFile } from '../../src/config/index.js'
import { listLists } from '../../src/contacts/index.js'
import { addStoredBytes } from '../../src/contents/index.js'
import type { Described } from '../../src/contract/index.js'
import { errorCatalogue } from '../../src/errors/index.js'
import type { ApiRoute } from '../../src/http/index.js'
import { silentLog } from '../../src/log/index.js'
import { contracts } from '../../src/openapi/contract.js'
import { type Document, makeDocument } from '../../src/openapi/index.js'
import type { Tx } from '../../src/store/index.js'
import { suppress } from '../../src/suppression/index.js'
import { createTask, removeTask } from '../../src/tasks/index.js'
import { openRenderer, putTemplate, type TemplateDraft } from '../../src/templates/index.js'
import { FakeClock } from '../support/clock.js'
import { contractOf, escaped, makeContract, type Observed } from '../support/contract.js'
import { eventually } from '../support/eventually.js'
import { management, managementAnew, managementAnswers } from '../support/management.js'
import { type Answer, type Posthorn, startPosthorn } from '../support/posthorn.js'
import { RawConnection, type RawResponse } from '../support/raw-http.js'
import { giveMail, receiveAt, whenRead } from '../support/receiving.js'
import { makeTempDir } from '../support/store.js'

// Not far from the threads' own clock, or what is scheduled would be due already.
const clock = new FakeClock(Date.now())
const env = { POSTHORN_WEBHOOKS_ALLOW: '127.0.0.1' }
const dataDir = makeTempDir(t)
// A plan with every limit that there is.
const usualPlans = readFileSync(packageFile('config/plans.toml'), 'utf8')
writeFileSync(
  join(dataDir, 'plans.toml'),
  `${usualPlans}
[[email]]
id = "019a9b10-0000-7000-8000-0000000000ff"
name = "Slow"
monthly_mails = 3_000
daily_cap = false
per_hour = 2
price_naira = 0
retention_days = 7
domains = 1
webhooks = true
features = []
`,
)
const posthorn = await startPosthorn(t, { clock, env, dataDir })
const contract = await contractOf(posthorn.url)
const document: Document = (await posthorn.call('GET', '/v1/openapi.json', { key: null })).json
const nobody = '01900000-0000-7000-8000-000000000000'
const good = { from: 'a@sender.test', to: 'ann@example.com', subject: 'x', html: '<p>x</p>' }
// Rules name its addresses.
const [receiver] = (await posthorn.call('GET', '/v1/domains')).json.domains
await posthorn.call('PATCH', `/v1/domains/${receiver.id}`, {
  body: { receivingHost: 'in.sender.test' },
})
const mailWithFile = `From: Ann <ann@example.test>
Subject: Hello
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain

Hello
--b
Content-Type: application/pdf; name="bill.pdf"
Content-Disposition: attachment
Content-Transfer-Encoding: base64

JVBERg==
--b--
`
const inAnHour = () => new Date(clock.now() + 3_600_000).toISOString()

const made = async (path: string, name: string): Promise<string> =>
  (await posthorn.call('POST', path, { body: { name } })).json.id
const list = await made('/v1/contacts/lists', 'Readers')
const topic = await made('/v1/topics', 'News')
const crowd = await made('/v1/contacts/lists', 'Crowd')
await posthorn.call('POST', `/v1/contacts/${crowd}`, { body: { email: 'cy@example.com' } })
const begin = { key: 'start', type: 'trigger', config: { eventName: 'signup' } }
const automation = {
  name: 'Welcome',
  steps: [begin, { key: 'end', type: 'exit' }],
  connections: [{ from: 'start', to: 'end', type: 'default' }],
}
const signup = { name: 'Sign up', lists: [list], consent: 'News, please.' }
const form = (await posthorn.call('POST', '/v1/forms', { body: signup })).json.id
const mailed = { field: 'mailable', operator: 'eq', value: true }
const dot = {
  name: 'dot.gif',
  content: 'R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=',
}
const campaign = { listId: crowd, from: good.from, subject: 'x', html: '<p>x</p>' }

/** A request to each endpoint that would do something, were it let through. */
const requests: Record<string, object | undefined> = {
  'POST /v1/emails/send': good,
  'POST /v1/emails/batch': { emails: [good, good] },
  'POST /v1/emails/ussd': good,
  'GET /v1/emails': undefined,
  [`GET /v1/emails/${nobody}`]: undefined,
  [`DELETE /v1/emails/${nobody}/cancel`]: undefined,
  'GET /v1/contacts/lists': undefined,
  'POST /v1/contacts/lists': { name: 'Readers' },
  [`GET /v1/contacts/lists/${nobody}`]: undefined,
  [`DELETE /v1/contacts/lists/${nobody}`]: undefined,
  'GET /v1/contacts/all': undefined,
  [`GET /v1/contacts/all/${nobody}`]: undefined,
  [`PATCH /v1/contacts/all/${nobody}`]: { firstName: 'Ann' },
  [`DELETE /v1/contacts/all/${nobody}`]: undefined,
  'GET /v1/contacts/downloads/gone@example.com': undefined,
  'POST /v1/contacts/erasures': { address: 'gone@example.com' },
  'GET /v1/contacts/erasures/999': undefined,
  'POST /v1/contacts/bulk': { do: 'add', state: 'complained', target: list },
  'GET /v1/contacts/bulk/999': undefined,
  'DELETE /v1/contacts/bulk/999': undefined,
  [`GET /v1/contacts/${list}`]: undefined,
  [`POST /v1/contacts/${list}`]: { email: 'ann@example.com' },
  [`POST /v1/contacts/${list}/import`]: undefined,
  [`DELETE /v1/contacts/${list}/${nobody}`]: undefined,
  'GET /v1/contact-fields': undefined,
  'POST /v1/contact-fields': { name: 'town', label: 'Town', type: 'text' },
  [`PATCH /v1/contact-fields/${nobody}`]: { label: 'Town' },
  [`DELETE /v1/contact-fields/${nobody}`]: undefined,
  'GET /v1/forms': undefined,
  'POST /v1/forms': signup,
  [`GET /v1/forms/${form}`]: undefined,
  [`PATCH /v1/forms/${form}`]: { name: 'News' },
  [`POST /v1/forms/${form}/resume`]: undefined,
  [`GET /v1/forms/${form}/work`]: undefined,
  [`POST /v1/forms/${form}/submissions`]: { email: 'ann@example.com', agreed: true },
  'GET /v1/brand': undefined,
  'PATCH /v1/brand': { senderName: 'News' },
  'GET /v1/topics': undefined,
  'POST /v1/topics': { name: 'News' },
  [`PATCH /v1/topics/${topic}`]: { name: 'News' },
  [`DELETE /v1/topics/${topic}`]: undefined,
  [`GET /v1/topics/${topic}/opt-outs`]: undefined,
  'GET /v1/segments': undefined,
  'POST /v1/segments': { name: 'Mailed', rule: mailed },
  'POST /v1/segments/count': { rule: mailed },
  [`GET /v1/segments/${nobody}`]: undefined,
  [`PATCH /v1/segments/${nobody}`]: { name: 'Mailed' },
  [`DELETE /v1/segments/${nobody}`]: undefined,
  [`GET /v1/segments/${nobody}/members`]: undefined,
  'GET /v1/pictures': undefined,
  'POST /v1/pictures': dot,
  [`GET /v1/pictures/${nobody}`]: undefined,
  [`PATCH /v1/pictures/${nobody}`]: { alt: 'A dot' },
  [`DELETE /v1/pictures/${nobody}`]: undefined,
  'POST /v1/broadcasts/preview': { listId: crowd },
  'POST /v1/broadcasts/test': { ...campaign, to: 'me@sender.test' },
  'POST /v1/broadcasts': campaign,
  'GET /v1/broadcasts': undefined,
  'GET /v1/broadcasts/plan/usage': undefined,
  [`GET /v1/broadcasts/${nobody}`]: undefined,
  [`POST /v1/broadcasts/${nobody}/send`]: undefined,
  [`POST /v1/broadcasts/${nobody}/duplicate`]: undefined,
  [`PATCH /v1/broadcasts/${nobody}`]: { subject: 'y' },
  [`POST /v1/broadcasts/${nobody}/pause`]: undefined,
  [`POST /v1/broadcasts/${nobody}/resume`]: undefined,
  [`POST /v1/broadcasts/${nobody}/cancel`]: undefined,
  [`POST /v1/broadcasts/${nobody}/cancel-rest`]: undefined,
  [`POST /v1/broadcasts/${nobody}/take-back`]: undefined,
  [`POST /v1/broadcasts/${nobody}/rehearse`]: undefined,
  [`POST /v1/broadcasts/${nobody}/variants/B/choose`]: undefined,
  'POST /v1/events/send': { event: 'signup', email: 'ann@example.com' },
  'POST /v1/events/batch': { events: [{ event: 'signup', email: 'ann@example.com' }] },
  'POST /v1/automations': automation,
  'GET /v1/events/names': undefined,
  'GET /v1/automations': undefined,
  [`GET /v1/automations/${nobody}`]: undefined,
  [`PATCH /v1/automations/${nobody}`]: { name: 'Other' },
  [`POST /v1/automations/${nobody}/duplicate`]: {},
  [`POST /v1/automations/${nobody}/enable`]: undefined,
  [`POST /v1/automations/${nobody}/disable`]: undefined,
  [`POST /v1/automations/${nobody}/archive`]: undefined,
  [`POST /v1/automations/${nobody}/pause`]: {},
  [`POST /v1/automations/${nobody}/resume`]: { dryRun: true },
  [`POST /v1/automations/${nobody}/move`]: { dryRun: true },
  [`POST /v1/automations/${nobody}/start`]: { listId: nobody },
  [`GET /v1/automations/${nobody}/start`]: undefined,
  [`DELETE /v1/automations/${nobody}/start`]: undefined,
  [`GET /v1/automations/${nobody}/standing`]: undefined,
  [`GET /v1/automations/${nobody}/draft`]: undefined,
  [`PATCH /v1/automations/${nobody}/draft`]: { name: 'Written' },
  [`POST /v1/automations/${nobody}/draft/enable`]: {},
  [`DELETE /v1/automations/${nobody}/draft`]: undefined,
  [`POST /v1/automations/${nobody}/cancel`]: { everybody: true },
  [`GET /v1/automations/${nobody}/cancel`]: undefined,
  [`DELETE /v1/automations/${nobody}/cancel`]: undefined,
  [`POST /v1/automations/${nobody}/simulate`]: { email: 'ann@example.com' },
  [`GET /v1/automations/${nobody}/runs`]: undefined,
  [`POST /v1/automations/${nobody}/runs`]: { contactId: nobody },
  [`GET /v1/automations/runs/${nobody}`]: undefined,
  [`POST /v1/automations/runs/${nobody}/cancel`]: undefined,
  ...management,
  'GET /v1/inbox': undefined,
  'GET /v1/inbox/1': undefined,
  'DELETE /v1/inbox': undefined,
  'GET /v1/stats': undefined,
  'GET /v1/billing/plans': undefined,
  'GET /v1/openapi.json': undefined,
}
const open = /plans$|openapi\.json$/
const secured = Object.keys(requests).filter((one) => !open.test(one))
const taking = Object.keys(requests).filter((one) => requests[one] !== undefined)
/** Those that refuse parameters that they do not know. */
const strict = contracts
  .flat()
  .flatMap(({ operations }) => operations.filter((one) => one.describe().refusesOthers))
  .map(({ route }) => new RegExp(`^${route.replace(/:\w+/g, '[^/]+')}$`))
const sending = taking.filter((one) => one.includes('/emails/'))
/** Fields of the wrong type: each body has one of them at least. */
const misshapen = {
  dryRun: 1,
  name: 1,
  trackOpens: 1,
  enabled: 1,
  variables: 1,
  subject: 1,
  email: 1,
  url: 1,
  overlapSeconds: '1',
  suppressions: 1,
  senderName: 1,
  label: 1,
  atOnce: 1,
  revision: 1,
  step: 1,
}
const contact = `POST /v1/contacts/${list}`
const preview = 'POST /v1/broadcasts/preview'
const testing = 'POST /v1/broadcasts/test'
const creating = 'POST /v1/broadcasts'
const eventSending = 'POST /v1/events/send'
const eventBatch = 'POST /v1/events/batch'
const automating = 'POST /v1/automations'
const importing = `${contact}/import`
const multipart = { 'content-type': 'multipart/form-data; boundary=x' }
const csv = (text: string, type = 'text/csv') =>
  `--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: ${type}\r\n\r\n${text}\r\n--x--`

interface Given {
  body?: object | string | Buffer
  headers?: Record<string, string>
  key?: string | null
  on?: Posthorn
}

const isUpload = (one: string) => /contacts.+import$/.test(one)

/** One of `requests`, with its own body unless another is given. */
function ask(one: string, { on = posthorn, ...given }: Given = {}): Promise<Answer> {
  const [method = '', path = ''] = one.split(' ')
  const body = given.body ?? (isUpload(one) ? csv('email\n') : requests[one])
  if (isUpload(one)) given.headers = { ...multipart, ...given.headers }
  return on.call(method, path, { ...given, ...(body === undefined ? {} : { body }) })
}

async function answers(t: Test, one: string, given: Given, status: number, code?: string) {
  const answer = await ask(one, given)
  t.match(answer, { status, json: code === undefined ? {} : { code } }, `${one} ${status} ${code}`)
  return answer
}

const write = (work: (tx: Tx) => Promise<unknown>, on = posthorn) => on.store.write(work)
const send = 'POST /v1/emails/send'

t.test('it is valid OpenAPI 3.1', async (t) => {
  const validator = new Validator()
  const { valid, errors } = await validator.validate(structuredClone(document))
  t.ok(valid, JSON.stringify(errors))
  t.equal(validator.version, '3.1')
  t.doesNotThrow(() => makeContract(document, { validateSchema: true }), 'its schemas are valid')
})

// As makers of types read it (openapi-typescript 7): a default makes a field of a body one that must be given, and an
// object of which nothing is said takes nothing.
t.test('types that are made of it take what the server takes', (t) => {
  const look = (schema: unknown, path: string): void => {
    if (typeof schema !== 'object' || schema === null) return
    const {
      type,
      properties,
      additionalProperties,
      default: preset,
    } = schema as Record<string, unknown>
    t.equal(preset, undefined, `${path} has no default`)
    const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'))
    if (isObject) t.ok(properties ?? additionalProperties, `${path} says what is in it`)
    for (const [key, value] of Object.entries(schema)) {
      if (key !== 'examples' && key !== 'example' && key !== 'const') look(value, `${path}/${key}`)
    }
  }
  look(document.components.schemas, 'schemas')
  t.end()
})

t.test('every example in it fits its schema, and its own alone', async (t) => {
  let count = 0
  const look = (pointer: string, value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    const { examples, schema } = value as Record<string, Record<string, unknown>>
    if (schema !== undefined && typeof examples === 'object') {
      const shown = Object.entries(examples as Record<string, { value: unknown }>)
      t.ok(shown.length > 0, pointer)
      for (const [name, example] of shown) {
        count++
        t.equal(contract.fault(`${pointer}/schema`, example.value), undefined, `${pointer} ${name}`)
      }
      return
    }
    for (const [key, child] of Object.entries(value)) look(`${pointer}/${escaped(key)}`, child)
  }
  look('#', document)
  for (const [name, schema] of Object.entries(document.components.schemas ?? {})) {
    for (const [field, property] of Object.entries(schema.properties ?? {})) {
      const { examples = [] } = property as { examples?: unknown[] }
      for (const example of examples) {
        const pointer = `#/components/schemas/${name}/properties/${field}`
        t.equal(contract.fault(pointer, example), undefined, pointer)
      }
    }
  }
  t.ok(count > 60, `${count} examples`)
})

t.test('a route without description, or the other way round, stops the start', async (t) => {
  const route = { method: 'POST', path: '/v1/x/:id', auth: true, maxBodyBytes: 1 } as const
  const form: ApiRoute = { ...route, body: 'form', bodyOptional: false }
  t.throws(() => makeDocument([form], '1', []), /POST \/v1\/x\/:id has no description/)
  const operation: Described = {
    id: 'x',
    may: 'full',
    summary: 'x',
    params: { id: 'x' },
    query: { limit: { type: 'integer' } },
    body: { shape: 'Form', examples: [] },
    answers: [{ status: 201, when: 'x', shape: 'Form', value: {} }],
    refusals: [],
  }
  const described = [
    {
      tag: { name: 'x', description: 'x' },
      schemas: { Form: { type: 'object' } },
      operations: { 'POST /v1/x/:id': operation },
    },
  ]
  t.throws(() => makeDocument([], '1', described), /no such route/)
  const made = makeDocument([form, { ...form, path: '/metrics' }], '1', described)
  t.match(made.paths['/v1/x/{id}']?.post, {
    parameters: [{ in: 'path' }, { in: 'query', name: 'limit' }],
    requestBody: { content: { 'multipart/form-data': { schema: { $ref: /Form$/ } } } },
    responses: { 201: Object, 400: Object, 413: Object, 415: Object },
  })
  t.ok((await new Validator().validate(structuredClone(made))).valid)
})

t.test('codes come with the statuses of the catalogue, which it tells', async (t) => {
  const described = String(document.info.description)
  for (const [code, { meaning }] of Object.entries(errorCatalogue)) {
    t.ok(described.includes(`\`${code}\``) && described.includes(meaning), code)
  }
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const responses = operation.responses as Record<string, { 'x-error-codes'?: string[] }>
      for (const [status, { 'x-error-codes': codes = [] }] of Object.entries(responses)) {
        t.equal(codes.length === 0, status < '400', `${method} ${path} ${status}`)
        for (const code of codes) {
          const { statuses } = errorCatalogue[code as keyof typeof errorCatalogue]
          t.ok(
            statuses.some((one) => String(one) === status),
            `${code} ${status}`,
          )
        }
      }
    }
  }
})

t.test('what differs from it is noticed', async (t) => {
  const { check } = makeContract(document)
  const headers: Record<string, string> = {
    'X-Request-Id': nobody,
    'X-RateLimit-Limit': '100',
    'X-RateLimit-Remaining': '99',
    'X-RateLimit-Reset': '1',
  }
  const observed = (more: Partial<Observed>, lacking = ''): Observed => ({
    method: 'DELETE',
    path: `/v1/emails/${nobody}/cancel`,
    status: 200,
    text: '{"message":"x"}',
    header: (name) => (name === lacking ? null : headers[name]),
    ...more,
  })
  check(observed({}))
  for (const [more, complaint] of [
    [{ text: '{"message":"x","more":1}' }, /additional properties/],
    [{ text: '{}' }, /must have required property/],
    [{ text: '{"message":1}' }, /must be string/],
    [{ status: 201 }, /not documented/],
    [{ status: 404, text: '{"code":"conflict","error":"x"}' }, /must be equal to constant/],
    [{ path: '/v1/nowhere' }, /must have required property 'code'/],
  ] as const) {
    t.throws(() => check(observed(more)), complaint)
  }
  for (const name of Object.keys(headers)) t.throws(() => check(observed({}, name)), name)
  const sent = { ...good, to: [] }
  const text = JSON.stringify({ id: nobody, message: 'x' })
  const odd = observed({ method: 'POST', path: '/v1/emails/send', text, sent })
  t.throws(() => check(odd), /the request is odd/)
  for (const wrong of [{ template: 'x' }, { html: undefined }, { subject: undefined }]) {
    const body = JSON.parse(JSON.stringify({ ...good, ...wrong }))
    t.throws(() => check({ ...odd, sent: body }), /the request is odd/)
  }
  check({ ...odd, sent: good })
})

t.test('successes', async (t) => {
  for (const one of [...sending, 'GET /v1/billing/plans', 'GET /v1/openapi.json']) {
    await answers(t, one, {}, 200)
  }
  await answers(t, 'POST /v1/contacts/lists', {}, 201)
  await answers(t, contact, {}, 201)
  const added = (await answers(t, contact, {}, 200)).json
  const imported = await answers(t, importing, { body: csv('email\nbob@x.test\nnobody\n') }, 200)
  const refused = [{ line: 3, reason: 'email "nobody" is not an email address' }]
  const columns = [{ name: 'email', became: 'email' }]
  const noMail = { unsubscribed: 0, bounced: 0, complained: 0, suppressed: 0, erased: 0 }
  const told = { refused, suppressed: 0, noMail, unreadPhones: 0, columns }
  const counts = { imported: 1, skipped: 0, invalid: 1, ...told }
  t.same(imported.json, counts)
  await answers(t, 'GET /v1/contacts/lists', {}, 200)
  await answers(t, `GET /v1/contacts/lists/${list}`, {}, 200)
  await answers(t, `GET /v1/contacts/${list}?limit=1`, {}, 200)
  await answers(t, 'GET /v1/contacts/all?q=bob', {}, 200)
  await answers(t, 'GET /v1/contacts/all?cursor=x', {}, 400)
  await answers(t, 'GET /v1/contacts/all?limit=0', {}, 400)
  await answers(t, `GET /v1/contacts/all?list=${nobody}`, {}, 404)
  const one = `/v1/contacts/all/${added.id}`
  await answers(t, `GET ${one}`, {}, 200)
  const exact = { metadata: { id: Number.MAX_SAFE_INTEGER } }
  await answers(t, `PATCH ${one}`, { body: exact }, 200)
  await answers(t, `PATCH ${one}`, { body: { metadata: { id: 2 ** 60 } } }, 422)
  await answers(t, `DELETE /v1/contacts/${list}/${added.id}`, {}, 200)
  const { json: gone } = await answers(t, contact, {}, 201)
  await answers(t, `DELETE /v1/contacts/all/${gone.id}`, {}, 200)
  await answers(t, `PATCH /v1/contacts/lists/${list}`, { body: { name: 'Renamed' } }, 200)
  const going = await made('/v1/contacts/lists', 'Going')
  const { accountId } = posthorn
  const detail = { filename: 'people.csv', order: { listId: going } }
  const paused = { accountId, kind: 'import', state: 'paused', total: 1, startedBy: 'u' } as const
  const task = await posthorn.store.write((tx) =>
    createTask(tx, { ...paused, detail }, clock.now()),
  )
  await answers(t, `DELETE /v1/contacts/lists/${going}`, {}, 409, 'conflict')
  await posthorn.store.write((tx) => removeTask(tx, task))
  await answers(t, `DELETE /v1/contacts/lists/${going}`, {}, 200)
  await answers(t, 'POST /v1/forms', { body: signup }, 201)
  await answers(t, 'GET /v1/forms', {}, 200)
  await answers(t, `GET /v1/forms/${form}`, {}, 200)
  await answers(t, `PATCH /v1/forms/${form}`, { body: { from: good.from } }, 200)
  await answers(t, `POST /v1/forms/${form}/resume`, {}, 200)
  await answers(t, `GET /v1/forms/${form}/work`, {}, 200)
  const visitor = { email: 'vi@example.com', agreed: true }
  await answers(t, `POST /v1/forms/${form}/submissions`, { body: visitor }, 202)
  const silent = { body: { ...visitor, agreed: false } }
  await answers(t, `POST /v1/forms/${form}/submissions`, silent, 422)
  await posthorn.store.write((tx) =>
    tx.updateTable('forms').set({ stopped_at: clock.now() }).where('id', '=', form).execute(),
  )
  await answers(t, `POST /v1/forms/${form}/submissions`, { body: visitor }, 409, 'conflict')
  await answers(t, 'POST /v1/forms', { body: { ...signup, doubleOptIn: false } }, 422)
  await answers(t, `PATCH /v1/forms/${form}`, { body: { doubleOptIn: false } }, 422)
  const asked = { email: 'asked@example.com', confirm: true }
  await answers(t, contact, { body: asked }, 422, 'validation_error')
  await answers(t, 'GET /v1/brand', {}, 200)
  await answers(t, 'PATCH /v1/brand', { body: { senderName: 'News' } }, 200)
  await answers(t, 'PATCH /v1/brand', { body: { defaultFrom: 'nobody' } }, 422)
  await posthorn.call('PATCH', '/v1/brand', { body: { defaultFrom: 'a@sender.test' } })
  await answers(t, contact, { body: asked }, 202)
  await answers(t, contact, { body: asked }, 409, 'conflict')
  const described = { name: 'town', label: 'Town', type: 'text' }
  const { json: field } = await answers(t, 'POST /v1/contact-fields', { body: described }, 201)
  const ours = `/v1/contact-fields/${field.id}`
  await answers(t, 'GET /v1/contact-fields', {}, 200)
  await answers(t, 'POST /v1/contact-fields', { body: described }, 409, 'conflict')
  const ofNothing = { ...described, name: 'size', label: 'Size', type: 'choice' }
  await answers(t, 'POST /v1/contact-fields', { body: ofNothing }, 422, 'validation_error')
  await answers(t, `PATCH ${ours}`, { body: { recipientsMayEdit: true } }, 200)
  await answers(t, `PATCH ${ours}`, { body: { type: 'choice' } }, 422, 'validation_error')
  await answers(t, `PATCH ${ours}`, { body: { position: -1 } }, 400)
  await answers(t, `DELETE ${ours}`, {}, 200)
  await answers(t, 'POST /v1/topics', { body: { name: 'Offers' } }, 201)
  await answers(t, 'GET /v1/topics?includeArchived=true', {}, 200)
  await answers(t, `PATCH /v1/topics/${topic}`, {}, 200)
  await answers(t, `GET /v1/topics/${topic}/opt-outs`, {}, 200)
  await answers(t, `DELETE /v1/topics/${topic}`, {}, 200)
  const { json: segment } = await answers(t, 'POST /v1/segments', {}, 201)
  const theirs = `/v1/segments/${segment.id}`
  await answers(t, 'GET /v1/segments', {}, 200)
  await answers(t, 'POST /v1/segments/count', {}, 200)
  await answers(t, `GET ${theirs}`, {}, 200)
  await answers(t, `GET ${theirs}/members`, {}, 200)
  await answers(t, `GET ${theirs}/members?cursor=x`, {}, 400)
  await answers(t, `GET ${theirs}/members?limit=0`, {}, 400)
  const asking = { field: `segment.${segment.id}`, operator: 'eq', value: true }
  const { json: outer } = await answers(
    t,
    'POST /v1/segments',
    { body: { name: 'Outer', rule: asking } },
    201,
  )
  await answers(t, `PATCH ${theirs}`, { body: { rule: asking } }, 400, 'validation_error')
  await answers(t, `PATCH ${theirs}`, { body: { name: 'Inner' } }, 200)
  const unknown = { field: `list.${nobody}`, operator: 'eq', value: true }
  const wrong = { name: 'None', rule: unknown }
  await answers(t, 'POST /v1/segments', { body: wrong }, 400, 'validation_error')
  await answers(t, 'POST /v1/segments/count', { body: { rule: unknown } }, 400)
  await answers(t, `DELETE ${theirs}`, {}, 409, 'conflict')
  await answers(t, `DELETE /v1/segments/${outer.id}`, {}, 200)
  await answers(t, `DELETE ${theirs}`, {}, 200)
  const { json: picture } = await answers(t, 'POST /v1/pictures', {}, 201)
  const its = `/v1/pictures/${picture.id}`
  const svg = Buffer.from('<svg></svg>').toString('base64')
  const drawn = { body: { name: 'x.svg', content: svg } }
  await answers(t, 'POST /v1/pictures', drawn, 422, 'validation_error')
  await answers(t, 'GET /v1/pictures', {}, 200)
  await answers(t, 'GET /v1/pictures?cursor=x', {}, 400)
  await answers(t, 'GET /v1/pictures?limit=0', {}, 400)
  await answers(t, `GET ${its}`, {}, 200)
  await answers(t, `PATCH ${its}`, {}, 200)
  const showing = { slug: 'shows', subject: 'x', html: `<img src="${picture.url}">` }
  await posthorn.call('POST', '/v1/templates', { body: showing })
  await answers(t, `DELETE ${its}`, {}, 409, 'conflict')
  await posthorn.call('DELETE', '/v1/templates/shows')
  await answers(t, `DELETE ${its}`, {}, 200)
  const { json } = await answers(t, send, { body: { ...good, scheduledAt: inAnHour() } }, 200)
  await answers(t, `GET /v1/emails/${json.id}`, {}, 200)
  await answers(t, `DELETE /v1/emails/${json.id}/cancel`, {}, 200)
  const head = await posthorn.call('HEAD', `/v1/emails/${json.id}`)
  t.equal(head.status, 200)
})

t.test('nowhere', async (t) => {
  await answers(t, 'GET /v1/nowhere', {}, 404, 'not_found')
  for (const one of Object.keys(requests)) {
    const path = one.split(' ')[1]
    await answers(t, `PUT ${path}`, {}, 405, 'not_found')
  }
})

// Before the clock is moved on: the mail leaves by that of its thread.
t.test('the test inbox', async (t) => {
  const limits = { scope: 'test' } as const
  const { key } = await createKey({ store: posthorn.store, clock }, posthorn.accountId, 'CI', {
    limits,
  })
  await answers(t, send, { key }, 200)
  let id: number | undefined
  while (id === undefined) {
    const { json } = await answers(t, 'GET /v1/inbox?limit=1', { key }, 200)
    id = json.messages[0]?.id
  }
  await answers(t, `GET /v1/inbox/${id}`, { key }, 200)
  await answers(t, 'GET /v1/inbox/1', { key }, 404, 'not_found')
  await answers(t, 'GET /v1/inbox?limit=0', {}, 400)
  await answers(t, 'GET /v1/inbox?cursor=x', {}, 400, 'validation_error')
  await answers(t, 'GET /v1/stats?test=true', {}, 200)
  await answers(t, 'DELETE /v1/inbox', {}, 200)
})

t.test('keys and bodies', async (t) => {
  const limits = { networks: ['192.0.2.0/24'] }
  const elsewhere = await createKey({ store: posthorn.store, clock }, posthorn.accountId, 'far', {
    limits,
  })
  for (const one of secured) {
    await answers(t, one, { key: null }, 401, 'missing_api_key')
    await answers(t, one, { key: 'ph_wrong' }, 401, 'invalid_api_key')
    await answers(t, one, { key: elsewhere.key }, 403, 'forbidden')
  }
  // Bodies of the others are asked for below, and have the same answer.
  for (const one of secured.filter((one) => !taking.includes(one))) {
    if (strict.some((route) => route.test(one))) await answers(t, `${one}?statsu=sent`, {}, 400)
  }
  for (const one of taking) {
    t.match(await ask(one, { body: misshapen }), { status: 400, json: { success: false } })
    await answers(t, one, { body: '{' }, 400, 'validation_error')
    const headers = { 'content-type': 'text/plain' }
    await answers(t, one, { headers }, 415, 'unsupported_media_type')
    const sends = /emails\/(?:batch|send)$|broadcasts(?:\/test)?$|^PATCH \/v1\/broadcasts/.test(one)
    const large = Buffer.alloc((sends ? 33 : 10) * 1024 * 1024 + 1, ' ')
    await answers(t, one, { body: large }, 413, 'validation_error')
  }
})

t.test('a body that stays away', async (t) => {
  const { port } = new URL(posthorn.url)
  const waiting = await Promise.all(
    [...taking, importing].map(async (one) => {
      const connection = await RawConnection.open(Number(port))
      const type = one === importing ? multipart['content-type'] : 'application/json'
      connection.write(raw(one, `content-type: ${type}\r\ncontent-length: 9\r\n`))
      return { one, connection, late: connection.response() }
    }),
  )
  let answered = false
  const settled = Promise.all(waiting.map(({ late }) => late)).then(() => {
    answered = true
  })
  // Their time runs from when somebody waits for them, which is not known here. Every minute the chores run.
  while (!answered) await clock.advance(60_000)
  await settled
  for (const { one, connection, late } of waiting) {
    t.equal(observe(one, await late).status, 408)
    await connection.destroy()
  }
})

t.test('what is wrong with a mail', async (t) => {
  const many = Array.from({ length: 51 }, (_, i) => `r${i}@example.com`)
  for (const one of [send, 'POST /v1/emails/ussd']) {
    await answers(t, one, { body: { ...good, from: 'nobody' } }, 400, 'validation_error')
    await answers(t, one, { body: { ...good, from: 'a@b.test' } }, 400, 'domain_not_verified')
  }
  const unknown = { ...good, to: undefined, phoneNumber: '08030000000' }
  await answers(t, 'POST /v1/emails/ussd', { body: unknown }, 404, 'not_found')
  await answers(t, send, { body: { ...good, to: many } }, 400, 'validation_error')
  await answers(t, send, { body: { ...good, scheduledAt: 'soon' } }, 400, 'validation_error')
  await answers(t, 'GET /v1/emails?limit=1', {}, 200)
  await answers(t, 'GET /v1/emails?limit=0', {}, 400)
  await answers(t, 'GET /v1/emails?cursor=x', {}, 400, 'validation_error')
  const templated = { ...good, html: undefined, template: 'none' }
  await answers(t, send, { body: templated }, 404, 'not_found')
  await answers(t, send, { body: { ...good, template: 'x' } }, 422, 'validation_error')
  for (const one of [send, 'POST /v1/emails/ussd']) {
    await answers(t, one, { body: { ...good, reply_to: 'x@y.test' } }, 422, 'validation_error')
  }
  const emails = [good, { ...good, from: 'nobody' }]
  await answers(t, 'POST /v1/emails/batch', { body: { emails } }, 422, 'validation_error')
  for (const one of secured.filter((one) => one.includes(nobody))) {
    await answers(t, one, {}, 404, 'not_found')
  }
  for (const attachments of [[{ filename: 'a/b', content: 'eA==' }], [{ name: 'a' }]]) {
    await answers(t, send, { body: { ...good, attachments } }, 422, 'validation_error')
  }
  const shared = { emails: [good], attachments: [{ filename: 'a.txt', content: '?' }] }
  await answers(t, 'POST /v1/emails/batch', { body: shared }, 422, 'validation_error')
  const { json } = await answers(t, send, {}, 200)
  await answers(t, `DELETE /v1/emails/${json.id}/cancel`, {}, 400, 'validation_error')
})

/** Somebody's data: what is known, and what is wrong with what is asked. */
async function erasuresAnswer(t: Test): Promise<void> {
  const download = 'GET /v1/contacts/downloads'
  await answers(t, `${download}/gone@example.com`, {}, 200)
  await answers(t, `${download}/nobody`, {}, 404, 'not_found')
  for (const query of ['limit=0', 'cursor=x']) {
    await answers(t, `${download}/gone@example.com?${query}`, {}, 400)
  }
  const erase = 'POST /v1/contacts/erasures'
  const { json } = await answers(t, erase, {}, 202)
  await answers(t, `GET /v1/contacts/erasures/${json.id}`, {}, 200)
  await answers(t, 'GET /v1/contacts/erasures/999', {}, 404, 'not_found')
  await answers(t, erase, { body: { address: 'nobody' } }, 422, 'validation_error')
  const { accountId } = posthorn
  const made = { accountId, kind: 'erase', state: 'running', total: 0 } as const
  const tasks = await posthorn.store.write((tx) =>
    Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        // Their mails are yet to be looked for: they are done when the test is.
        const detail = {
          name: 'x',
          address: `x${n}@example.com`,
          place: { in: 'others', after: '' },
        }
        return createTask(tx, { ...made, detail, startedBy: 'u' }, clock.now())
      }),
    ),
  )
  await answers(t, erase, { body: { address: 'more@example.com' } }, 409, 'conflict')
  for (const id of tasks) await posthorn.store.write((tx) => removeTask(tx, id))
}

t.test('what is wrong with contacts and topics', async (t) => {
  for (const one of secured.filter(
    (one) => one.includes(list) || one.includes(topic) || one.includes(form),
  )) {
    const elsewhere = one.replace(list, nobody).replace(topic, nobody).replace(form, nobody)
    const body = requests[one]
    await answers(t, elsewhere, body === undefined ? {} : { body }, 404, 'not_found')
  }
  await erasuresAnswer(t)
  const bulk = 'POST /v1/contacts/bulk'
  await answers(t, bulk, {}, 202)
  await answers(t, bulk, { body: { do: 'delete' } }, 422, 'validation_error')
  await answers(t, bulk, { body: { do: 'add', all: true } }, 422, 'validation_error')
  await answers(t, bulk, { body: { do: 'add', all: true, target: nobody } }, 404, 'not_found')
  for (const verb of ['GET', 'DELETE']) {
    await answers(t, `${verb} /v1/contacts/bulk/999`, {}, 404, 'not_found')
  }
  const paused = { accountId: posthorn.accountId, kind: 'bulk', state: 'paused', total: 1 } as const
  const order = { do: 'delete', search: { state: 'complained' }, by: 'api' }
  const tasks = await posthorn.store.write((tx) =>
    Promise.all(
      Array.from({ length: 10 }, () =>
        createTask(tx, { ...paused, detail: { order }, startedBy: 'u' }, clock.now()),
      ),
    ),
  )
  await answers(t, bulk, {}, 409, 'conflict')
  await answers(t, `GET /v1/contacts/bulk/${tasks[0]}`, {}, 200)
  for (const id of tasks) await answers(t, `DELETE /v1/contacts/bulk/${id}`, {}, 200)
  await answers(t, `DELETE /v1/contacts/bulk/${tasks[0]}`, {}, 409, 'conflict')
  for (const query of ['limit=0', 'cursor=x']) {
    await answers(t, `GET /v1/contacts/${list}?${query}`, {}, 400)
  }
  await answers(t, 'GET /v1/topics?includeArchived=maybe', {}, 400)
  const half = (key: string) => ({ email: 'full@x.test', metadata: { [key]: 'x'.repeat(9_000) } })
  await answers(t, contact, { body: half('a') }, 201)
  await answers(t, contact, { body: half('b') }, 400, 'validation_error')
  const inexact = { email: 'full@x.test', metadata: { id: 2 ** 60 } }
  await answers(t, contact, { body: inexact }, 422, 'validation_error')
  await answers(t, 'POST /v1/topics', {}, 409, 'conflict')
  await answers(t, `PATCH /v1/topics/${topic}`, { body: { name: 'Offers' } }, 409, 'conflict')
})

t.test('what is wrong with an import', async (t) => {
  await answers(t, importing, { body: '{' }, 400, 'validation_error')
  const headers = { 'content-type': 'text/csv' }
  await answers(t, importing, { headers }, 415, 'unsupported_media_type')
  const body = csv('email\n', 'image/png')
  await answers(t, importing, { body }, 415, 'unsupported_media_type')
  await answers(t, importing, { body: csv('PK\0,x') }, 415, 'unsupported_media_type')
  const large = Buffer.alloc(64 * 1024 * 1024 + 64 * 1024 + 1, ' ')
  large.write(csv('email\nearly@x.test\n'))
  const refused = await answers(t, importing, { body: large }, 413, 'validation_error')
  t.notOk('imported' in refused.json, 'before it is read')
  const early = await posthorn.call('GET', `/v1/contacts/${list}?email=early@x.test`)
  t.same(early.json.contacts, [])
  const broken = await answers(t, importing, { body: csv('name\nAnn\n') }, 400, 'validation_error')
  t.match(broken.json, { line: 1, error: /^Line 1: there is no column "email"/, imported: 0 })
})

t.test('an import that breaks off tells what is in', async (t) => {
  const rows = Array.from({ length: 300 }, (_, n) => `cut${n}@x.test\n`).join('')
  const begun = csv(`email\nnobody\n${rows}`).slice(0, -'\r\n--x--'.length)
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
  const filler = 'x'.repeat(64 * 1024 * 1024)
  const before = `--x\r\nContent-Disposition: form-data; name="before"\r\n\r\n${filler}\r\n`
  for (const [status, framing, first, second] of [
    [400, `content-length: ${begun.length + 1}`, begun, 'x'],
    [408, `content-length: ${begun.length + 1}`, begun, ''],
    [
      413,
      'transfer-encoding: chunked',
      chunk(before + begun),
      `${chunk('x'.repeat(100_000))}0\r\n\r\n`,
    ],
  ] as const) {
    const id = await made('/v1/contacts/lists', `Broken off ${status}`)
    const one = `POST /v1/contacts/${id}/import`
    const onList = async () => {
      // The store is read at once: sockets need their turn too.
      await new Promise((resolve) => setImmediate(resolve))
      const lists = await listLists(posthorn.store.read, posthorn.accountId)
      return lists.find((known) => known.id === id)?.contactCount
    }
    const connection = await RawConnection.open(Number(new URL(posthorn.url).port))
    const type = `content-type: ${multipart['content-type']}`
    connection.write(raw(one, `${type}\r\n${framing}\r\n`)).write(first)
    while ((await onList()) === 0);
    connection.write(second)
    let answered = false
    const answer = connection.response().finally(() => {
      answered = true
    })
    while (status === 408 && !answered) await clock.advance(60_000)
    const { body } = observe(one, await answer)
    t.equal((await answer)?.status, status)
    const told = JSON.parse(body.toString())
    t.match(told, { imported: await onList(), skipped: 0, invalid: 1 }, String(status))
    t.ok(told.imported > 0)
    await connection.destroy()
  }
})

const renderer = openRenderer({ log: silentLog, clock })
t.teardown(() => renderer.close())
const plans = loadPlans(packageFile('config/plans.toml'))
const marketingPlan = (name?: string) =>
  write((tx) =>
    setMarketingPlan(
      tx,
      posthorn.accountId,
      name === undefined ? null : findPlan(plans.marketing, name),
    ),
  )
/** A campaign in two versions whose test is made. */
const testedOf = async (t: Test) => {
  const variants = [{}, { subject: 'Another' }]
  const made = await draftOf(t, { variants, variantTest: { decideAfter: 'by hand' } })
  const now = clock.now()
  await write((tx) =>
    tx
      .updateTable('broadcasts')
      .set({ status: 'sending', cursor: '~~', sent_at: now, expanded_at: now })
      .where('id', '=', made.replace(/.*\//, ''))
      .execute(),
  )
  return made
}
const draftOf = async (t: Test, more: object = {}) => {
  const { json } = await answers(t, creating, { body: { ...campaign, ...more, draft: true } }, 200)
  return `POST /v1/broadcasts/${json.id}`
}

t.test('campaigns', async (t) => {
  await answers(t, preview, {}, 200)
  await answers(t, 'GET /v1/broadcasts/plan/usage', {}, 200)
  await marketingPlan('Marketing Plus')
  await answers(t, testing, {}, 200)
  const sent = (await answers(t, creating, {}, 200)).json.id
  const scheduledAt = inAnHour()
  await answers(t, creating, { body: { ...campaign, scheduledAt } }, 200)
  const [later, now] = [await draftOf(t, { scheduledAt }), await draftOf(t)]
  const changing = (await draftOf(t)).replace('POST', 'PATCH')
  requests[changing] = { subject: 'y' }
  await answers(t, changing, {}, 200)
  await answers(t, `${now}/duplicate`, {}, 200)
  await answers(t, `${now}/rehearse`, {}, 200)
  for (const draft of [later, now]) await answers(t, `${draft}/send`, {}, 200)
  await answers(t, `${now}/rehearse`, {}, 409, 'conflict')
  await answers(t, now.replace('POST', 'PATCH'), { body: { subject: 'y' } }, 409, 'conflict')
  for (const step of ['pause', 'resume']) await answers(t, `${later}/${step}`, {}, 200)
  await answers(t, `${later}/resume`, {}, 409, 'conflict')
  await answers(t, `${later}/send`, {}, 409, 'conflict')
  await answers(t, `${later}/take-back`, {}, 200)
  await answers(t, `${later}/take-back`, {}, 409, 'conflict')
  await answers(t, `${later}/cancel`, {}, 200)
  await answers(t, `${later}/cancel`, {}, 409, 'conflict')
  await answers(t, `${await draftOf(t)}/cancel-rest`, {}, 200)
  await answers(t, `${later}/cancel-rest`, {}, 409, 'conflict')
  await answers(t, `${later}/pause`, {}, 409, 'conflict')
  const choosing = `${await testedOf(t)}/variants/B/choose`
  await answers(t, choosing, {}, 200)
  await answers(t, choosing, {}, 409, 'conflict')
  await answers(t, 'GET /v1/broadcasts?limit=1', {}, 200)
  await answers(t, 'GET /v1/broadcasts?limit=0', {}, 400)
  await answers(t, 'GET /v1/broadcasts?cursor=x', {}, 400, 'validation_error')
  await answers(t, 'GET /v1/stats?groupBy=day,type', {}, 200)
  await answers(t, 'GET /v1/stats?limit=0', {}, 400)
  await answers(t, 'GET /v1/stats?from=2026-02-30', {}, 400, 'validation_error')
  await answers(t, `GET /v1/broadcasts/${sent}`, {}, 200)
  const recipients = `GET /v1/broadcasts/${sent}/recipients`
  await answers(t, recipients, {}, 200)
  await answers(t, `${recipients}?status=lost`, {}, 400)
  await answers(t, `${recipients}?status=bounced&who=opened`, {}, 400)
  await answers(t, `GET /v1/broadcasts/${sent}/report`, {}, 200)
  await answers(t, `${recipients}?cursor=x`, {}, 400, 'validation_error')

  await answers(t, testing, { body: { ...campaign, to: 'a@x.test' } }, 403, 'forbidden')
  for (const one of [creating, testing, changing]) {
    const given = (more: object) => ({ body: { ...requests[one], ...more } })
    await answers(t, one, given({ from: 'nobody' }), 400, 'validation_error')
    await answers(t, one, given({ from: 'a@b.test' }), 400, 'domain_not_verified')
    await answers(t, one, given({ scheduledAt: 'soon' }), 400, 'validation_error')
    await answers(t, one, given({ html: '{{' }), 422, 'validation_error')
    await answers(t, one, given({ cc: 'a@b.test' }), 422, 'validation_error')
    await answers(t, one, given({ topicId: nobody }), 404, 'not_found')
    await answers(t, one, given({ topicId: topic }), 409, 'conflict')
  }
  await answers(t, preview, { body: { listId: nobody } }, 404, 'not_found')
  await answers(t, preview, { body: { listId: crowd, topicId: topic } }, 409, 'conflict')

  const draft = `${await draftOf(t)}/send`
  await write((tx) => tx.updateTable('domains').set({ status: 'pending' }).execute())
  await answers(t, draft, {}, 400, 'domain_not_verified')
  await answers(t, draft.replace('/send', '/duplicate'), {}, 400, 'domain_not_verified')
  await write((tx) => tx.updateTable('domains').set({ status: 'verified' }).execute())
  const blocked = { email: 'cy@example.com', reason: 'unsubscribe' } as const
  await write((tx) => suppress(tx, posthorn.accountId, blocked, clock.now()))
  for (const one of [creating, draft]) await answers(t, one, {}, 400, 'validation_error')
  await write((tx) => tx.deleteFrom('suppressions').execute())
  await marketingPlan('Marketing Free')
  await write((tx) => tx.updateTable('usage').set({ campaign_mails: 2_000 }).execute())
  for (const one of [creating, draft]) await answers(t, one, {}, 402, 'plan_limit_exceeded')
  await write((tx) => tx.updateTable('usage').set({ campaign_mails: 0 }).execute())
  for (let left = 19; left > 0; left--) await answers(t, testing, {}, 200)
  await answers(t, testing, {}, 429, 'rate_limit_exceeded')
  await write((tx) => tx.deleteFrom('broadcast_tests').execute())
})

const saveTemplate = (draft: TemplateDraft) => {
  const { store, accountId } = posthorn
  return putTemplate({ store, clock, renderer }, accountId, draft)
}
const automationOf = async (t: Test, more: object = {}) => {
  const { json } = await answers(t, automating, { body: { ...automation, ...more } }, 201)
  return json.id as string
}
const mailing = (config: object) => ({
  steps: [
    { key: 'start', type: 'trigger', config: { eventName: 'bought' } },
    { key: 'mail', type: 'send_email', config: { template: 'x', from: good.from, ...config } },
  ],
  connections: [{ from: 'start', to: 'mail', type: 'default' }],
})

t.test('automations', async (t) => {
  const id = await automationOf(t)
  const at = `/v1/automations/${id}`
  await answers(t, `GET ${at}`, {}, 200)
  await answers(t, 'GET /v1/events/names', {}, 200)
  await answers(t, 'GET /v1/events/names?limit=0', {}, 400)
  await answers(t, 'GET /v1/events/names?cursor=x', {}, 400, 'validation_error')
  await answers(t, 'GET /v1/automations?limit=1', {}, 200)
  await answers(t, 'GET /v1/automations?limit=0', {}, 400)
  await answers(t, 'GET /v1/automations?cursor=x', {}, 400, 'validation_error')
  await answers(t, `PATCH ${at}`, { body: { name: 'Other' } }, 200)
  await answers(t, `PATCH ${at}`, { body: { steps: [] } }, 422, 'validation_error')
  await answers(t, automating, { body: { ...automation, steps: [] } }, 422, 'validation_error')
  const walked = { email: 'ann@example.com' }
  await answers(t, `POST ${at}/simulate`, { body: walked }, 200)
  await answers(t, `POST ${at}/simulate`, { body: { listId: list } }, 200)
  await answers(t, `POST ${at}/simulate`, { body: { listId: nobody } }, 404, 'not_found')
  const draft = { ...walked, steps: [], connections: [] }
  await answers(t, `POST ${at}/simulate`, { body: draft }, 422, 'validation_error')
  const whom = { body: { contactId: nobody } }
  await answers(t, `POST ${at}/runs`, whom, 422, 'validation_error')
  await answers(t, `POST ${at}/enable`, {}, 200)
  await answers(t, `POST ${at}/runs`, whom, 404, 'not_found')
  await answers(t, `PATCH ${at}`, { body: { name: 'Other' } }, 422, 'validation_error')

  const { json } = await answers(t, eventSending, {}, 202)
  t.match(json, { started: 1, contactCreated: true })
  await answers(t, eventBatch, {}, 202)
  const [{ runId }] = json.automations
  const again = { body: { contactId: json.contactId } }
  await answers(t, `POST ${at}/runs`, again, 409, 'conflict')
  await answers(t, `GET ${at}/runs?status=running,waiting`, {}, 200)
  await answers(t, `GET ${at}/runs?status=lost`, {}, 400)
  await answers(t, `GET ${at}/runs?cursor=x`, {}, 400, 'validation_error')
  await answers(t, `GET /v1/automations/runs/${runId}`, {}, 200)
  await answers(t, `POST /v1/automations/runs/${runId}/cancel`, {}, 200)
  await answers(t, `POST /v1/automations/runs/${runId}/cancel`, {}, 409, 'conflict')
  await answers(t, `POST ${at}/runs`, again, 201)

  const unknown = { event: 'signup', contactId: nobody }
  await answers(t, eventSending, { body: unknown }, 404, 'not_found')
  const differing = { event: 'signup', contactId: json.contactId, email: 'cy@example.com' }
  await answers(t, eventSending, { body: differing }, 422, 'validation_error')
  await answers(t, eventBatch, { body: { events: [unknown] } }, 422, 'validation_error')

  await answers(t, `POST ${at}/disable`, {}, 200)
  await answers(t, `POST ${at}/archive`, {}, 200)
  for (const change of ['enable', 'disable']) {
    await answers(t, `POST ${at}/${change}`, {}, 409, 'conflict')
  }
  await answers(t, `PATCH ${at}`, { body: { name: 'Other' } }, 409, 'conflict')

  const lacking = await automationOf(t, mailing({ template: 'none' }))
  await answers(t, `POST /v1/automations/${lacking}/enable`, {}, 422, 'validation_error')
  const crowded = await automationOf(t)
  await write(async (tx) => {
    for (let n = 0; n < 50; n++) {
      const row = { account_id: posthorn.accountId, event: 'signup', version: 1 }
      await tx
        .insertInto('automation_triggers')
        .values({ ...row, automation_id: `${n}` })
        .execute()
    }
  })
  await answers(t, `POST /v1/automations/${crowded}/enable`, {}, 422, 'validation_error')
  await write((tx) => tx.deleteFrom('automation_triggers').execute())
})

/** The id of an enabled automation, whose runs wait. */
async function enabledOf(t: Test, eventName: string): Promise<string> {
  const id = await automationOf(t, {
    steps: [
      { ...begin, config: { eventName } },
      { key: 'wait', type: 'delay', config: { duration: 'P1D' } },
      { key: 'end', type: 'exit' },
    ],
    connections: [
      { from: 'start', to: 'wait', type: 'default' },
      { from: 'wait', to: 'end', type: 'default' },
    ],
  })
  await answers(t, `POST /v1/automations/${id}/enable`, {}, 200)
  return id
}

/** The id of a run that waits. */
async function runOf(t: Test, round: number): Promise<string> {
  const eventName = `begun-${round}`
  await enabledOf(t, eventName)
  const body = { event: eventName, email: 'ann@example.com' }
  return (await answers(t, eventSending, { body }, 202)).json.automations[0].runId
}

/** A request that succeeds each time that it is asked anew. */
async function anew(t: Test, one: string, round: number): Promise<[one: string, given: Given]> {
  if (one in management) return await managementAnew(posthorn, one, round)
  if (one.includes('/variants/')) return [`${await testedOf(t)}/variants/B/choose`, {}]
  if (one.includes('/runs/')) return [one.replace(nobody, await runOf(t, round)), {}]
  if (one.endsWith('/runs')) {
    const asked = one.replace(nobody, await enabledOf(t, `by-hand-${round}`))
    const { json } = await ask('GET /v1/contacts/all?email=ann@example.com')
    return [asked, { body: { contactId: json.contacts[0].id } }]
  }
  if (/\/automations\/.*\/(move|start)$/.test(one)) {
    const asked = one.replace(nobody, await enabledOf(t, `crowd-${round}`))
    const listed = { body: { name: `Crowd ${round}` } }
    const listId = (await ask('POST /v1/contacts/lists', listed)).json.id
    return [asked, { body: one.endsWith('start') ? { listId } : {} }]
  }
  if (one.endsWith('/draft/enable')) {
    const asked = one.replace(nobody, await enabledOf(t, `redrawn-${round}`))
    await ask(asked.replace('POST', 'PATCH').replace('/enable', ''), { body: { name: 'Redrawn' } })
    return [asked, { body: {} }]
  }
  if (one.includes('/automations/')) {
    const body = requests[one]
    return [one.replace(nobody, await automationOf(t)), body === undefined ? {} : { body }]
  }
  if (one.includes(nobody)) {
    const made = one.replace(/.*(?=\/)/, await draftOf(t, { scheduledAt: inAnHour() }))
    const before = one.endsWith('resume')
      ? ['send', 'pause']
      : one.endsWith('pause') || one.endsWith('take-back')
        ? ['send']
        : []
    for (const step of before) await ask(made.replace(/[\w-]+$/, step))
    return [made, {}]
  }
  if (one === 'POST /v1/contact-fields') {
    return [one, { body: { name: `field${round}`, label: `Field ${round}`, type: 'text' } }]
  }
  if (one === 'POST /v1/topics') return [one, { body: { name: `Topic ${round}` } }]
  return [one, {}]
}

t.test('what is done with an automation while people are in it', async (t) => {
  const id = await enabledOf(t, 'course')
  const at = `/v1/automations/${id}`
  await answers(t, `POST ${at}/resume`, { body: {} }, 409, 'conflict')
  await answers(t, `POST ${at}/pause`, {}, 200)
  await answers(t, `POST ${at}/cancel`, { body: { dryRun: true } }, 200)
  t.match(await ask(`POST ${at}/resume`, { body: { overdue: 'later' } }), { status: 400 })
  await answers(t, `POST ${at}/resume`, { body: { overdue: 'now' } }, 200)
  await answers(t, `POST ${at}/move`, { body: { version: 9 } }, 422, 'validation_error')
  await answers(t, `GET ${at}/runs?step=nothing`, {}, 422, 'validation_error')
  await answers(t, `POST ${at}/move`, { body: {} }, 200)
  await answers(t, `GET ${at}/standing`, {}, 200)
  await answers(t, `GET ${at}/start`, {}, 404, 'not_found')
  await answers(t, `DELETE ${at}/start`, {}, 409, 'conflict')
  t.match(await ask(`POST ${at}/start`, { body: {} }), { status: 400 })
  await answers(t, `POST ${at}/start`, { body: { listId: nobody } }, 404, 'not_found')
  const { json } = await ask('POST /v1/contacts/lists', { body: { name: 'Course' } })
  const body = { listId: json.id, perHour: 1 }
  await answers(t, `POST ${at}/start`, { body: { ...body, dryRun: true } }, 200)
  // Two, of whom the second begins in an hour: so it is not over at once.
  for (const name of ['course', 'another']) {
    await ask(`POST /v1/contacts/${json.id}`, { body: { email: `${name}@example.com` } })
  }
  await answers(t, `POST ${at}/start`, { body }, 200)
  await answers(t, `POST ${at}/start`, { body }, 409, 'conflict')
  await answers(t, `GET ${at}/start`, {}, 200)
  await answers(t, `DELETE ${at}/start`, {}, 200)
  const draft = await automationOf(t)
  await answers(t, `POST /v1/automations/${draft}/start`, { body }, 422, 'validation_error')
  await answers(t, `POST /v1/automations/${draft}/move`, { body: {} }, 409, 'conflict')
  await answers(t, `POST /v1/automations/${draft}/archive`, {}, 200)
  await answers(t, `POST /v1/automations/${draft}/pause`, {}, 409, 'conflict')
  await answers(t, `POST /v1/automations/${draft}/resume`, { body: {} }, 409, 'conflict')

  await answers(t, `GET ${at}/cancel`, {}, 404, 'not_found')
  await answers(t, `DELETE ${at}/cancel`, {}, 404, 'not_found')
  const none = { body: { step: 'nothing' } }
  await answers(t, `POST ${at}/cancel`, none, 422, 'validation_error')
  const only = { body: { only: { step: 'wait', version: 1 }, dryRun: true } }
  await answers(t, `POST ${at}/move`, only, 200)
  const paused = async (state: 'running' | 'paused') => {
    await write((tx) => tx.updateTable('tasks').set({ state }).where('kind', '=', 'runs').execute())
  }
  await answers(t, `POST ${at}/cancel`, { body: { step: 'wait' } }, 202)
  await paused('paused')
  await write((tx) =>
    tx.updateTable('tasks').set({ ended_at: null }).where('kind', '=', 'runs').execute(),
  )
  await answers(t, `DELETE ${at}/cancel`, {}, 200)
  await answers(t, `POST ${at}/cancel`, { body: { step: 'wait' } }, 202)
  await answers(t, `GET ${at}/cancel`, {}, 200)
  const isOver = async () => (await ask(`GET ${at}/cancel`)).json.state === 'done'
  await eventually(isOver, 20_000)
  await answers(t, `DELETE ${at}/cancel`, {}, 409, 'conflict')
  await write(async (tx) => {
    for (let n = 0; n < 10; n++) {
      await tx
        .insertInto('tasks')
        .values({
          account_id: posthorn.accountId,
          kind: 'runs',
          state: 'paused',
          done: 0,
          total: 0,
          detail: JSON.stringify({
            automationId: nobody,
            name: 'x',
            says: '',
            filter: {},
            before: '',
          }),
          result: null,
          started_by: 'test',
          begun_at: 1,
          ended_at: null,
        })
        .execute()
    }
  })
  await answers(t, `POST ${at}/cancel`, { body: {} }, 422, 'validation_error')
  await answers(t, `POST ${at}/cancel`, { body: { everybody: true } }, 409, 'conflict')
  await write((tx) => tx.deleteFrom('tasks').where('started_by', '=', 'test').execute())
})

t.test('a draft of an automation', async (t) => {
  const id = await enabledOf(t, 'drafted')
  const at = `/v1/automations/${id}/draft`
  const { json: before } = await answers(t, `GET ${at}`, {}, 200)
  t.match(before, { isDraft: false, errors: [] })
  const lacking = { key: 'mail', type: 'send_email', config: { template: '', from: '' } }
  const body = {
    revision: before.revision,
    steps: [...before.steps, lacking],
    connections: before.connections,
  }
  const { json: kept } = await answers(t, `PATCH ${at}`, { body }, 200)
  t.match(kept, { isDraft: true, errors: [{ key: 'mail' }, { key: 'mail' }] })
  await answers(t, `PATCH ${at}`, { body }, 409, 'conflict')
  const none = { body: { steps: [{ key: 'x' }], connections: [] } }
  await answers(t, `PATCH ${at}`, none, 422, 'validation_error')
  const typed = { ...lacking, config: { template: 5, from: '' } }
  const wrong = { body: { steps: [typed], connections: [] } }
  await answers(t, `PATCH ${at}`, wrong, 422, 'validation_error')
  await answers(t, `POST ${at}/enable`, { body: {} }, 422, 'validation_error')
  const { json: left } = await answers(t, `DELETE ${at}`, {}, 200)
  t.match(left, { isDraft: false, steps: before.steps })
  await answers(t, `DELETE ${at}`, {}, 404, 'not_found')
  await answers(t, `POST ${at}/enable`, { body: {} }, 404, 'not_found')
  await answers(t, `PATCH ${at}`, { body: { name: 'Drafted' } }, 200)
  await answers(t, `POST ${at}/enable`, { body: { revision: '1.1.1' } }, 409, 'conflict')
  await answers(t, `POST ${at}/enable`, { body: {} }, 200)
  t.match((await ask(`GET /v1/automations/${id}`)).json, { name: 'Drafted', version: 2 })
  await answers(t, `POST /v1/automations/${id}/archive`, {}, 200)
  await answers(t, `PATCH ${at}`, { body: { name: 'Late' } }, 409, 'conflict')
  await answers(t, `POST ${at}/enable`, { body: {} }, 409, 'conflict')
})

t.test('what pages and commands have too', (t) =>
  managementAnswers(t, { posthorn, clock, answers }),
)

t.test('idempotency', async (t) => {
  for (const one of secured.filter((one) => one.startsWith('POST'))) {
    await answers(t, one, { headers: { 'idempotency-key': 'a b' } }, 400, 'validation_error')
    // Until one comes while another is being committed.
    let headers = {}
    let [asked, given]: [string, Given] = [one, {}]
    for (let concurrent = false, round = 0; !concurrent && round < 50; round++) {
      headers = { 'idempotency-key': `${one.replaceAll(' ', '-')}-${round}` }
      ;[asked, given] = await anew(t, one, round)
      const race = await Promise.all(
        Array.from({ length: 10 }, () => ask(asked, { ...given, headers: { ...headers } })),
      )
      concurrent = race.some(({ json }) => json.code === 'concurrent_idempotent_request')
      const fresh = race.filter(({ status, headers }) => status < 300 && !headers.has(replay))
      t.equal(fresh.length, 1, one)
    }
    const repeated = await ask(asked, { ...given, headers: { ...headers } })
    t.equal(repeated.headers.get(replay), 'true')
    t.ok(repeated.status < 300)
    const other = { ...requests[one], another: 1 }
    const body = one === importing ? csv('email\nzoe@x.test\n') : other
    await answers(t, asked, { headers, body }, 409, 'invalid_idempotent_request')
  }
})
const replay = 'idempotency-replay'

t.test('what an account may not do', async (t) => {
  const id = posthorn.accountId
  const marketing = { ...good, type: 'marketing' }
  const draft = `${await draftOf(t)}/send`
  const changing = draft.replace('POST', 'PATCH').replace('/send', '')
  requests[changing] = { subject: 'y' }
  const copying = draft.replace('/send', '/duplicate')
  const campaigns = [creating, testing, draft, changing, copying]
  await marketingPlan()
  for (const one of campaigns) await answers(t, one, {}, 402, 'marketing_subscription_required')
  await answers(t, send, { body: marketing }, 402, 'marketing_subscription_required')
  const template = { slug: 'x', subject: 'x', html: 'x' }
  await saveTemplate(template)
  const mailer = await automationOf(t, mailing({}))
  const enable = `POST /v1/automations/${mailer}/enable`
  const twin = `POST /v1/automations/${mailer}/duplicate`
  const rename = `PATCH /v1/automations/${mailer}`
  await answers(t, enable, {}, 402, 'marketing_subscription_required')
  await marketingPlan('Marketing Free')
  await answers(t, send, { body: { ...marketing, topicId: nobody } }, 404, 'not_found')
  await answers(t, send, { body: { ...marketing, topicId: topic } }, 409, 'conflict')

  const subscription = (values: {
    paused?: null | 'bounce'
    marketing_paused?: null | 'complaint'
  }) => write((tx) => tx.updateTable('subscriptions').set(values).execute())
  await subscription({ marketing_paused: 'complaint' })
  await answers(t, send, { body: marketing }, 403, 'account_paused')
  for (const one of campaigns) await answers(t, one, {}, 403, 'account_paused')
  await subscription({ paused: 'bounce' })
  for (const one of [...sending, ...campaigns]) await answers(t, one, {}, 503, 'account_paused')
  await subscription({ paused: null, marketing_paused: null })

  const ceiling = plans.marketing[0]?.contacts ?? 0
  await write((tx) => tx.updateTable('contact_totals').set({ contacts: ceiling }).execute())
  const another = { email: 'another@x.test' }
  await answers(t, contact, { body: another }, 403, 'plan_limit_exceeded')
  const full = csv('email\nanother@x.test\n')
  await answers(t, importing, { body: full }, 403, 'plan_limit_exceeded')
  const stranger = { event: 'signup', email: another.email }
  await answers(t, eventSending, { body: stranger }, 403, 'plan_limit_exceeded')
  await write((tx) => setBillingState(tx, id, 'past_due'))
  for (const one of [contact, importing]) {
    // Told before the body is looked at.
    const body = one === contact ? another : '{'
    await answers(t, one, { body }, 403, 'subscription_past_due')
  }
  await answers(t, eventSending, { body: stranger }, 403, 'subscription_past_due')
  const others = ['POST /v1/domains', 'POST /v1/webhooks', 'POST /v1/receiving/rules']
  for (const one of ['POST /v1/keys', ...others]) {
    await answers(t, one, {}, 403, 'subscription_past_due')
  }
  const known = { body: { email: 'Cy@example.com', firstName: 'Cy' } }
  await answers(t, contact, known, 201)
  await answers(t, contact, known, 200)
  await write((tx) => setBillingState(tx, id, 'active'))

  const adds = (one: string) =>
    one.startsWith('POST') &&
    !/(simulate|duplicate|pause|resume|move|cancel|render|rotate|deliveries\/replay|suppressions|suppressions\/import|segments\/count|contacts\/erasures)$/.test(
      one,
    )
  const adding = [...taking.filter(adds), importing, draft, copying, enable, twin]
  const renamed = { body: { name: 'Other' } }
  await write((tx) => suspend(tx, id, 'abuse'))
  for (const one of adding) await answers(t, one, {}, 403, 'account_suspended')
  const save = async (code: string) => {
    const given = { body: { subject: 'y' } }
    await answers(t, 'PATCH /v1/templates/x', given, 403, code)
    await answers(t, 'POST /v1/templates/x/versions/1/restore', {}, 403, code)
  }
  await save('account_suspended')
  await answers(t, changing, {}, 403, 'account_suspended')
  await answers(t, rename, renamed, 403, 'account_suspended')
  await answers(t, `${rename}/draft`, renamed, 403, 'account_suspended')
  await write((tx) => unsuspend(tx, id))
  await write((tx) => setBillingState(tx, id, 'expired'))
  for (const one of adding) await answers(t, one, {}, 403, 'subscription_expired')
  await answers(t, rename, renamed, 403, 'subscription_expired')
  await answers(t, `${rename}/draft`, renamed, 403, 'subscription_expired')
  await save('subscription_expired')
  await answers(t, changing, {}, 403, 'subscription_expired')
  await write((tx) => setBillingState(tx, id, 'active'))

  const hook = (
    await posthorn.call('POST', '/v1/webhooks', { body: { url: 'https://127.0.0.1:1/x' } })
  ).json
  await posthorn.call('PATCH', `/v1/webhooks/${hook.id}`, { body: { enabled: false } })
  const range = { body: { from: 1, to: 2 } }
  await answers(t, `POST /v1/webhooks/${hook.id}/deliveries/replay`, range, 409, 'conflict')

  const slow = loadPlans(join(dataDir, 'plans.toml')).email.find(({ name }) => name === 'Slow')
  if (slow === undefined) throw new Error('There is no such plan')
  await write((tx) => setPlan(tx, id, slow))
  const three = ['a@sender.test', 'b@sender.test', 'c@sender.test']
  for (const one of [...sending, testing]) {
    await ask(one)
    await ask(one)
    await answers(t, one, {}, 429, 'rate_limit_exceeded')
  }
  const manyAtOnce = {
    'POST /v1/emails/send': { ...good, to: three },
    'POST /v1/emails/batch': { emails: [good, good, good] },
  }
  for (const [one, body] of Object.entries(manyAtOnce))
    await answers(t, one, { body }, 422, 'validation_error')
  await write((tx) => setPlan(tx, id, findPlan(plans.email, 'Free')))
  const second = { body: { name: 'second.test' } }
  await answers(t, 'POST /v1/domains', second, 403, 'plan_limit_exceeded')
  await answers(t, 'POST /v1/webhooks', {}, 403, 'plan_limit_exceeded')
  await write((tx) => tx.updateTable('usage').set({ mails: 100 }).execute())
  const counted = [...sending, testing]
  for (const one of counted) await answers(t, one, {}, 429, 'daily_quota_exceeded')
  await write((tx) => tx.updateTable('usage').set({ mails: 3_000 }).execute())
  for (const one of counted) await answers(t, one, {}, 402, 'monthly_quota_exceeded')
})

t.test('as many runs of automations as may be', async (t) => {
  const on = await startPosthorn(t, { settings: { automations: { max_live_runs: 1 } } })
  const { json } = await ask('POST /v1/contacts/lists', { on, body: { name: 'Readers' } })
  await answers(t, automating, { on }, 201)
  await write((tx) => tx.updateTable('automations').set({ running: 1 }).execute(), on)
  const path = `/v1/contacts/${json.id}/import?trigger=`
  const given = { body: csv('email\n'), headers: multipart }
  t.match(await on.call('POST', `${path}maybe`, given), { status: 400 })
  const full = await on.call('POST', `${path}true`, given)
  t.match(full, { status: 503, json: { code: 'service_unavailable', imported: 0 } })
})

t.test('as many as an account may have, and as much as it may store', async (t) => {
  for (let n = 0; n < 100; n++) {
    await posthorn.call('POST', '/v1/segments', { body: { name: 'Mailed', rule: mailed } })
  }
  await answers(t, 'POST /v1/segments', {}, 409, 'conflict')
  const ceilings = { topics: 1, pictures: 1, lists: 1, keys: 1, templates: 1, automations: 1 }
  const on = await startPosthorn(t, { settings: { ceilings } })
  const full = (one: string, given: Given = {}) =>
    answers(t, one, { on, ...given }, 403, 'plan_limit_exceeded')
  const template = { slug: 'x', subject: 'x', html: 'x' }
  await full('POST /v1/keys')
  await answers(t, 'POST /v1/topics', { on }, 201)
  await full('POST /v1/topics', { body: { name: 'Offers' } })
  const fieldOf = (name: string) => ({ body: { name, label: name, type: 'text' } })
  for (let n = 0; n < 50; n++) {
    await answers(t, 'POST /v1/contact-fields', { on, ...fieldOf(`f${n}`) }, 201)
  }
  await full('POST /v1/contact-fields', fieldOf('more'))
  await answers(t, 'POST /v1/pictures', { on }, 201)
  await full('POST /v1/pictures')
  await answers(t, 'POST /v1/templates', { on, body: template }, 201)
  await full('POST /v1/templates')
  const { id } = (await answers(t, automating, { on }, 201)).json
  await full(automating)
  await full(`POST /v1/automations/${id}/duplicate`)
  const listId = (await answers(t, 'POST /v1/contacts/lists', { on }, 201)).json.id
  await full('POST /v1/contacts/lists', { body: { name: 'Crowd' } })

  await write(async (tx) => {
    await setPlan(tx, on.accountId, findPlan(plans.email, 'Free'))
    await setMarketingPlan(tx, on.accountId, findPlan(plans.marketing, 'Marketing Plus'))
  }, on)
  const made = { ...campaign, listId, draft: true }
  const { json } = await answers(t, creating, { on, body: made }, 200)
  await write((tx) => addStoredBytes(tx, on.accountId, 'contents', 2 ** 50), on)
  const attachments = [{ filename: 'a.txt', content: 'eA==' }]
  const mail = { ...good, attachments }
  await full(send, { body: mail })
  await full('POST /v1/emails/batch', { body: { emails: [good, mail] } })
  await full('POST /v1/emails/batch', { body: { emails: [good], attachments } })
  await full(creating, { body: { ...made, attachments } })
  await full(testing, { body: { ...campaign, listId, to: 'me@sender.test', attachments } })
  await full(`PATCH /v1/broadcasts/${json.id}`, { body: { html: '<p>another</p>' } })
  await full('PATCH /v1/templates/x', { body: { html: 'another' } })
  await full('POST /v1/templates/x/versions/1/restore')
})

t.test('too many requests', async (t) => {
  const on = await startPosthorn(t, { env: { POSTHORN_HTTP_RATE_LIMIT_REQUESTS: '1' } })
  await answers(t, `GET /v1/emails/${nobody}`, { on }, 404)
  for (const one of secured) await answers(t, one, { on }, 429, 'rate_limit_exceeded')
  await answers(t, 'GET /v1/billing/plans', { on, key: null }, 200)
})

t.test('a fault of the service', async (t) => {
  const on = await startPosthorn(t)
  await write((tx) => tx.schema.alterTable('api_keys').renameTo('lost').execute(), on)
  for (const one of secured) await answers(t, one, { on }, 500, 'application_error')
})

t.test('while it stops', async (t) => {
  const stopping = await startPosthorn(t)
  const port = Number(new URL(stopping.url).port)
  const held = await RawConnection.open(port)
  const connections = await Promise.all(
    Object.keys(requests).map(async (one) => [one, await RawConnection.open(port)] as const),
  )
  const length = 'content-type: application/json\r\ncontent-length: 2\r\n'
  held.write(raw(send, length, stopping.apiKey))
  // Each connection is known to be open, and the held request to have come, once these are answered.
  for (const [, connection] of connections) {
    await connection.write(raw('GET /v1/nowhere')).response()
  }
  const closed = stopping.appliance.close()
  for (const [one, connection] of connections) {
    const answer = await connection.write(raw(one, '', stopping.apiKey)).response()
    t.equal(observe(one, answer).status, 503)
    t.ok(answer?.headers.has('retry-after'))
  }
  held.write('{}')
  t.equal(observe(send, await held.response()).status, 400)
  await closed
})

/** A request as it goes over the wire; with a body's headers, its body is to follow. */
function raw(one: string, headers = '', key = posthorn.apiKey): string {
  return `${one} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n${headers}\r\n`
}

/** Holds an answer from the wire to the document as well. */
function observe(one: string, answer: RawResponse | undefined): RawResponse {
  if (answer === undefined) throw new Error(`${one} was not answered`)
  const [method = '', path = ''] = one.split(' ')
  const header = (name: string) => answer.headers.get(name.toLowerCase())?.[0]
  contract.check({ method, path, status: answer.status, text: answer.body.toString(), header })
  return answer
}

t.test('mail that comes in', async (t) => {
  const adding = 'POST /v1/receiving/rules'
  const body = { pattern: 'support@in.sender.test', action: 'store' }
  const { id } = (await answers(t, adding, { body }, 201)).json
  const elsewhere = { ...body, pattern: 'support@elsewhere.test' }
  await answers(t, adding, { body: elsewhere }, 422, 'validation_error')
  await answers(t, 'GET /v1/receiving/rules', {}, 200)
  await answers(t, `GET /v1/receiving/rules/${id}`, {}, 200)
  const changing = `PATCH /v1/receiving/rules/${id}`
  await answers(t, changing, { body: { enabled: true } }, 200)
  await answers(t, changing, { body: { pattern: 'support@elsewhere.test' } }, 422)
  await answers(t, 'GET /v1/receiving/usage', {}, 200)
  const where = 'GET /v1/receiving/where'
  await answers(t, `${where}?address=support@in.sender.test`, {}, 200)
  await answers(t, where, {}, 400)
  await answers(t, `${where}?address=here`, {}, 422, 'validation_error')

  const mail = mailWithFile
  t.match(await giveMail(t, posthorn.appliance.inboundSmtpPort, body.pattern, mail), /^250 /)
  const [found] = await whenRead(posthorn)
  await answers(t, 'GET /v1/received', {}, 200)
  await answers(t, 'GET /v1/received?cursor=x', {}, 400, 'validation_error')
  for (const more of ['', '/raw', '/attachments/1']) {
    await answers(t, `GET /v1/received/${found.id}${more}`, {}, 200)
  }
  // One that waits to be read.
  const dueAt = Date.now() + 3_600_000
  await posthorn.store.write((tx) =>
    tx.updateTable('received').set({ due_at: dueAt }).where('id', '=', found.id).execute(),
  )
  await answers(t, `GET /v1/received/${found.id}/attachments/1`, {}, 409, 'conflict')
  await answers(t, `DELETE /v1/received/${found.id}`, {}, 200)
  await answers(t, `DELETE /v1/receiving/rules/${id}`, {}, 200)

  const { apiKey: key } = await posthorn.addAccount('Receiver')
  const { json } = await answers(
    t,
    'POST /v1/domains',
    { key, body: { name: 'in.sender.test' } },
    201,
  )
  const taken = { key, body: { receivingHost: 'in.sender.test' } }
  await answers(t, `PATCH /v1/domains/${json.id}`, taken, 409, 'conflict')

  const on = await startPosthorn(t, { settings: { ceilings: { receiving_rules: 1 } } })
  await receiveAt(on, 'in.sender.test')
  await answers(t, adding, { on, body }, 201)
  await answers(t, adding, { on, body }, 403, 'plan_limit_exceeded')
})

t.test('an account has at most 100 forms', async (t) => {
  for (let n = 0; n < 100; n++) await posthorn.call('POST', '/v1/forms', { body: signup })
  await answers(t, 'POST /v1/forms', { body: signup }, 403, 'plan_limit_exceeded')
})

t.test('nothing is documented that did not come', async (t) => {
  t.ok(contract.documented.size > 70, `${contract.documented.size} bodies`)
  t.same(
    [...contract.documented].filter((body) => !contract.produced.has(body)),
    [],
  )
})
