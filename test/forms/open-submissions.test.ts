// Forms that front ends send in without a key.
import t from 'tap'
import { entriesOf, formLimits } from '../../src/forms/index.js'
import { linkTo, makeForm, startWithForms } from '../support/signup-forms.js'

const posthorn = await startWithForms(t)
const { store } = posthorn
const origins = ['https://shop.test']
const form = await makeForm(posthorn, { api: 'open', origins })
let network = 0
const submit = async (
  { id }: { id: string },
  body: object | string,
  headers: Record<string, string> = {},
) => {
  const answer = await fetch(`${posthorn.publicUrl}/v1/forms/${id}/submissions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': `192.0.${++network}.1`,
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return {
    status: answer.status,
    allowed: answer.headers.get('access-control-allow-origin'),
    json: JSON.parse(await answer.text()),
  }
}
const ada = { email: 'ada@reader.test', agreed: true }
const mails = async () => (await store.read.selectFrom('emails').select('id').execute()).length

t.test('a page of the account sends it in by script', async (t) => {
  t.match(form.submissions, new RegExp(`/v1/forms/${form.id}/submissions$`))
  const before = await fetch(`${posthorn.publicUrl}/v1/forms/${form.id}/submissions`, {
    method: 'OPTIONS',
    headers: { origin: 'https://shop.test', 'access-control-request-method': 'POST' },
  })
  t.equal(before.status, 204)
  t.equal(before.headers.get('access-control-allow-headers'), 'Content-Type')
  const sent = await submit(form, ada, { origin: 'https://shop.test' })
  t.match([sent.status, sent.allowed], [202, 'https://shop.test'])
  await fetch(await linkTo(posthorn, ada.email), { method: 'POST' })
  const known = await submit(form, ada, { origin: 'https://shop.test' })
  const stranger = await submit(form, { ...ada, email: 'eve@reader.test' })
  t.same([known.json, stranger.json], [sent.json, sent.json], 'everybody is told the same')
  const other = await submit(form, ada, { origin: 'https://evil.test' })
  t.match([other.status, other.json.code], [403, 'forbidden'])
})

t.test('the page in the consent record is an address of the web, or none', async (t) => {
  const origin = 'https://shop.test'
  for (const [name, page, headers, kept] of [
    ['named', 'https://shop.test/news', { origin }, 'https://shop.test/news'],
    ['script', 'javascript:alert(1)', { origin }, origin],
    ['words', 'the front page', { origin, referer: 'http://shop.test/a' }, 'http://shop.test/a'],
    ['none', 'mailto:a@shop.test', {}, ''],
  ] as const) {
    const email = `${name}@reader.test`
    const sent = await submit(form, { email, agreed: true, page }, headers)
    t.equal(sent.status, 202, JSON.stringify(sent.json))
    const [entry] = await entriesOf(store.read, posthorn.accountId, email)
    t.equal(entry?.agreed.page, kept, name)
  }
})

t.test('what is wrong is told as the API does', async (t) => {
  const empty = await submit(form, { email: 'x', agreed: true })
  t.match([empty.status, empty.json.field], [422, 'email'])
  t.equal((await submit(form, '{')).status, 400)
  t.equal((await submit(form, { email: 1 })).status, 400)
  t.equal((await submit(form, ada, { 'content-type': 'text/plain' })).status, 415)
})

t.test(
  'what is refused before the form is looked at is JSON, for other pages to read',
  async (t) => {
    const at = `${posthorn.publicUrl}/v1/forms/${form.id}/submissions`
    const refused: [number, RequestInit][] = [
      [405, { method: 'GET' }],
      [415, { method: 'POST', body: '{}', headers: { 'content-encoding': 'gzip' } }],
      [413, { method: 'POST', body: 'x'.repeat(70_000) }],
    ]
    for (const [status, asked] of refused) {
      const answer = await fetch(at, asked)
      t.equal(answer.status, status)
      t.match(answer.headers.get('content-type'), 'application/json', String(status))
      t.equal(answer.headers.get('access-control-allow-origin'), '*')
      t.ok(JSON.parse(await answer.text()).code)
    }
  },
)

t.test('a form that wants a key, or is archived, is not there', async (t) => {
  const closed = await makeForm(posthorn)
  t.equal(closed.submissions, '')
  t.equal((await submit(closed, ada)).status, 404)
  t.equal((await submit({ id: 'x' }, ada)).status, 404)
  const path = `/v1/forms/${closed.id}`
  const open = await posthorn.call('PATCH', path, { body: { api: 'open' } })
  t.equal((await submit(open.json, { ...ada, email: 'one@reader.test' })).status, 202)
  await posthorn.call('PATCH', path, { body: { archived: true } })
  t.equal((await submit(closed, ada)).status, 404)
  const wrong = await posthorn.call('PATCH', path, { body: { origins: ['https://a.test/x'] } })
  t.equal(wrong.status, 400)
})

t.test('the limits are those of the page, whoever they say they are', async (t) => {
  const flooded = await makeForm(posthorn, { api: 'open' })
  const before = await mails()
  for (let n = 0; n < formLimits.networkAnHour + 5; n++) {
    const body = { email: `v${n}@reader.test`, agreed: true, visitor: `198.51.100.${n}` }
    const { status } = await submit(flooded, body, { 'x-forwarded-for': '203.0.113.7' })
    t.equal(status, 202)
  }
  t.equal((await mails()) - before, formLimits.networkAtOnce)
  const kept = await posthorn.store.read
    .selectFrom('form_entries')
    .select('fields')
    .where('form_id', '=', flooded.id)
    .execute()
  const { networkAnHour, networkAtOnce } = formLimits
  const later = kept.filter(({ fields }) => fields.includes('"later":true'))
  t.equal(
    later.length,
    networkAnHour - networkAtOnce,
    'the others are asked later, up to the limit',
  )
})
