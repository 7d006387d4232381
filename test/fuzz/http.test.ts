import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parseResponse, type RawResponse, rawRequest } from '../support/raw-http.js'
import { mutant, type Random, randomOf, roundsOf } from './driver.js'

// Valid requests, broken at random, fired over several connections at a server in a process of its
// own. It must stay alive, and every answer must be a well-formed response.

const cases = roundsOf(3_000)
const connections = 16
const patienceMs = 25

const auth = 'Host: localhost\r\nAuthorization: Bearer key-a\r\n'
const json = 'Content-Type: application/json\r\n'
const multipart = [
  '--b1\r\nContent-Disposition: form-data; name="kind"\r\n\r\nx\r\n',
  '--b1\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n',
  'Content-Type: text/csv\r\n\r\nemail\r\na@b.test\r\n--b1--\r\n',
].join('')
const seeds = [
  post('/v1/emails/send', '{"from":"a@b.test","to":["c@d.test"],"variables":{"a":[1,{}]}}'),
  post('/v1/emails/send', '{"from":"\\u00e9\\ud83d\\ude00","to":[]}', 'Expect: 100-continue\r\n'),
  post('/v1/slow', '{"from":"a@b.test"}'),
  `POST /v1/emails/send HTTP/1.1\r\n${auth}${json}Transfer-Encoding: chunked\r\n\r\n8\r\n{"from":\r\n4\r\n"a"}\r\n0\r\n\r\n`,
  `GET /v1/emails/0193f0a0-1111-7000-8000-00000000000a?limit=1&a=%20b HTTP/1.1\r\n${auth}\r\n`,
  `HEAD /page/one HTTP/1.1\r\n${auth}Connection: keep-alive\r\n\r\n`,
  `OPTIONS /v1/slow HTTP/1.1\r\n${auth}\r\n`,
  `DELETE /v1/slow HTTP/1.1\r\n${auth}Cookie: a=b; c=d\r\n\r\n`,
  `GET /go?to=%2Fa%0D%0Ab HTTP/1.1\r\n${auth}Accept: text/html\r\nConnection: close\r\n\r\n`,
  `GET /page/a%20b HTTP/1.1\r\n${auth}\r\n`.repeat(3),
  `POST /form HTTP/1.1\r\n${auth}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\n\r\na=b&c=d`,
  `POST /v1/import HTTP/1.1\r\n${auth}Content-Type: multipart/form-data; boundary=b1\r\nContent-Length: ${multipart.length}\r\n\r\n${multipart}`,
]
const tokens = [
  '\r\n',
  '\r\n\r\n',
  '\n',
  '\r',
  '\0',
  '\xff\xfe',
  ' ',
  '\t',
  ':',
  ';a=b',
  '%',
  '%00',
  '%ff',
  '/',
  '?',
  '--b1',
  '"',
  '{',
  '[',
  '\\u',
  '0\r\n\r\n',
  'ffffffff\r\n',
  '99999999999999999999',
  '-1',
  'Content-Length: 5\r\n',
  'Content-Length: 3\r\n',
  'Content-Length: 0\r\n',
  'Content-Length: 9000\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Host: other\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n',
  `X-Long: ${'a'.repeat(5000)}\r\n`,
  'HTTP/1.0',
  'GET ',
  'HEAD ',
]

const corpus = { seeds, tokens, maxBytes: 8_000 }

t.test(`HTTP heads and bodies: ${cases} mutants`, async (t) => {
  const child = fork(fileURLToPath(new URL('./http-target.js', import.meta.url)))
  const exited = once(child, 'exit')
  const [{ port }] = await once(child, 'message')
  const inFlight = new Map<number, string>()
  let next = 0
  const tally = { answered: 0, closed: 0 }

  async function fire(): Promise<void> {
    while (next < cases && child.exitCode === null && child.signalCode === null) {
      const number = next++
      const random = randomOf(number)
      const text = mutant(corpus, random)
      inFlight.set(number, text)
      const answer = await exchange(port, text, random)
      // Looked at only here: what is in flight when the process dies are the suspects.
      const fault = faultOf(answer, text)
      if (fault !== undefined)
        t.fail(`case ${number}: ${fault}`, { request: text, answer: `${answer}` })
      if (answer.length > 0) tally.answered++
      else tally.closed++
      inFlight.delete(number)
    }
  }

  const done = Promise.all(Array.from({ length: connections }, fire))
  const died = await Promise.race([done.then(() => undefined), exited])
  if (died !== undefined) {
    t.fail(`the server died (${died})`, { suspects: [...inFlight] })
    return
  }
  t.comment(JSON.stringify(tally))
  t.ok(tally.answered > cases / 4, 'most mutants still reach the server')
  t.equal((await rawRequest(port, seeds[0] ?? ''))?.status, 200, 'it still serves')
  child.send('errors')
  const [{ errors }] = await once(child, 'message')
  t.same(errors, [], 'no request surprised a handler')
  child.disconnect()
  t.equal((await exited)[0], 0)
})

function post(path: string, body: string, headers = ''): string {
  return `POST ${path} HTTP/1.1\r\n${auth}${json}${headers}Content-Length: ${body.length}\r\n\r\n${body}`
}

/** Sends `text` in up to three pieces; gives what came back until the end or a silence. */
function exchange(port: number, text: string, random: Random): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const leaveEarly = random(20) === 0
    const cuts = [random(text.length + 1), random(text.length + 1)].sort((a, b) => a - b)
    const pieces =
      random(2) === 0
        ? [text]
        : [text.slice(0, cuts[0]), text.slice(cuts[0], cuts[1]), text.slice(cuts[1])]
    const silence = setTimeout(() => socket.destroy(), patienceMs * 2)
    const send = () => {
      const piece = pieces.shift()
      if (piece === undefined) {
        if (leaveEarly) socket.destroy()
        return
      }
      socket.write(piece, 'latin1', () => setImmediate(send))
    }
    socket.on('connect', send)
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      silence.refresh()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(silence)
      resolve(Buffer.concat(chunks))
    })
  })
}

/** What is wrong with the bytes that came back, if anything. */
function faultOf(answer: Buffer, text: string): string | undefined {
  if (answer.length === 0) return undefined
  const fault = faultAs(answer, text, false)
  // Among pipelined requests any response may be the one to HEAD.
  return fault !== undefined && text.includes('HEAD') ? faultAs(answer, text, true) : fault
}

function faultAs(answer: Buffer, text: string, toHead: boolean): string | undefined {
  try {
    const parsed = parseResponse(answer, toHead)
    if (parsed === undefined) return `an incomplete response: ${answer.toString('latin1', 0, 300)}`
    const { response, length } = parsed
    return faultIn(response) ?? faultOf(answer.subarray(length), text)
  } catch (error) {
    return String(error)
  }
}

function faultIn({ status, headers, body }: RawResponse): string | undefined {
  if (status === 100) return undefined
  if (!headers.has('x-request-id')) return 'a response without X-Request-Id'
  if (status === 500) return 'a 500'
  const isJson = headers.get('content-type')?.[0]?.startsWith('application/json') === true
  if (!isJson || body.length === 0) return undefined
  const value = JSON.parse(body.toString())
  const told = status < 400 || typeof value.code === 'string' || value.success === false
  return told ? undefined : 'an error without code'
}
