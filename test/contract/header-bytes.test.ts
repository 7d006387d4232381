// Issue 'What a review, an attacker, a client and a corpus found', 12: values of headers are never cut.
import t from 'tap'
import { startPosthorn } from '../support/posthorn.js'
import { RawConnection, rawRequest } from '../support/raw-http.js'

const posthorn = await startPosthorn(t)
const port = Number(new URL(posthorn.url).port)
const good = { from: 'a@sender.test', to: 'ann@example.com', subject: 'x', html: '<p>x</p>' }
const body = JSON.stringify(good)
const bearer = `Bearer ${posthorn.apiKey}`
const mails = async () =>
  (await posthorn.store.read.selectFrom('emails').select('id').execute()).length

/** A send as it goes over the wire; each char of it is a byte. */
function send(headers: Record<string, string> = {}): string {
  const all = {
    Host: 'localhost',
    Authorization: bearer,
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST /v1/emails/send HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

const answer = async (headers: Record<string, string>) => {
  const got = await rawRequest(port, send(headers))
  return { status: got?.status, code: JSON.parse(got?.body.toString() || '{}').code }
}

// As UTF-8, as latin1, and what no encoding has.
const ends = ['\xc3\xa9', '\xe9', '\xc3\xa8', '\xe8', '\xff\xfe', '\xa0', '\x80']

t.test('keys that differ at their ends are refused, not taken for one', async (t) => {
  t.match(await answer({ 'Idempotency-Key': 'order-1' }), { status: 200 })
  const before = await mails()
  for (const end of ends) {
    for (const key of [`order-1${end}`, `${end}order-1`, `order${end}-1`, end]) {
      const refused = { status: 400, code: 'validation_error' }
      t.same(await answer({ 'Idempotency-Key': key }), refused, JSON.stringify(key))
    }
  }
  t.equal(await mails(), before)
})

t.test('an API key with more behind it is none', async (t) => {
  for (const end of ends) {
    for (const value of [`${bearer}${end}`, `${end}${bearer}`]) {
      const refused = { status: 401, code: 'invalid_api_key' }
      t.same(await answer({ Authorization: value }), refused, JSON.stringify(end))
    }
  }
})

t.test('types, codings and lengths with more behind them are refused', async (t) => {
  for (const end of ends) {
    const type = await answer({ 'Content-Type': `application/json${end}` })
    t.same(type, { status: 415, code: 'unsupported_media_type' })
    const coding = await answer({ 'Content-Encoding': `identity${end}` })
    t.same(coding, { status: 415, code: 'unsupported_media_type' })
    const length = await answer({ 'Content-Length': `${body.length}${end}` })
    t.same(length, { status: 400, code: 'validation_error' })
  }
  const head = `POST /v1/emails/send HTTP/1.1\r\nHost: a\r\nAuthorization: ${bearer}\r\n`
  const chunked = `${head}Transfer-Encoding: chunked\xc3\xa9\r\n\r\n0\r\n\r\n`
  const got = await rawRequest(port, chunked)
  t.equal(got?.status, 501)
  t.match(got?.headers.get('connection'), ['close'])
})

t.test('a name in another header may have any letters', async (t) => {
  t.match(await answer({ 'User-Agent': 'Caf\xc3\xa9', 'X-Name': '\xe9' }), { status: 200 })
})

t.test('a head in pieces is served, with a good key too', async (t) => {
  const given: Record<string, string>[] = [{}, { 'Idempotency-Key': 'order-2' }]
  for (const headers of given) {
    const connection = await RawConnection.open(port)
    const whole = send(headers)
    connection.write(whole.slice(0, 40))
    // Until the first piece has been read: what comes now is another.
    await posthorn.call('GET', '/v1/billing/plans', { key: null })
    connection.write(whole.slice(40))
    t.equal((await connection.response())?.status, 200)
    await connection.destroy()
  }
  const repeat = await rawRequest(port, send({ 'Idempotency-Key': 'order-2' }))
  t.same(repeat?.headers.get('idempotency-replay'), ['true'], 'it is the same key in one piece')
})
