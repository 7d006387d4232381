import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIP } from 'node:net'
import { type Answer, AUTHENTIC_DATA, decode, encode } from 'dns-packet'
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { validatingResolver } from '../../src/dns/index.js'
import { bytesOf, mutant, randomOf, roundsOf } from './driver.js'

// A name server that answers in broken packets. The resolver must answer each question once, in what it
// promises, and believe nothing that answers another question.

const rows: Answer[] = [
  { type: 'MX', name: 'a.test', ttl: 300, data: { preference: 10, exchange: 'mx.a.test' } },
  { type: 'MX', name: 'a.test', ttl: 5, data: { preference: 0, exchange: '.' } },
  { type: 'A', name: 'a.test', ttl: 60, data: '192.0.2.1' },
  { type: 'CNAME', name: 'a.test', ttl: 60, data: 'b.test' },
  {
    type: 'TLSA',
    name: 'a.test',
    ttl: 60,
    data: { usage: 3, selector: 1, matchingType: 1, certificate: Buffer.alloc(32, 7) },
  },
]
// Pointers, lengths and counts: where a reader of packets goes astray.
const tokens = [
  '\0',
  '\xff',
  '\xc0\x0c',
  '\xc0\0',
  '\x3f',
  '\0\x01',
  '\xff\xff',
  'a.test',
  '\0\x0f',
]
const rounds = roundsOf(1_500)
const atOnce = 16
const timeoutMs = 60

t.test(`DNS answers: ${rounds} mutants`, async (t) => {
  const server = createSocket('udp4')
  t.teardown(() => server.close())
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  server.on('message', (bytes, from) => {
    const query = decode(bytes)
    const [question] = query.questions ?? []
    // The name tells the round, whatever the order in which they arrive, and a repeated one too.
    const random = randomOf(Number.parseInt(question?.name ?? '', 10))
    const reply = encode({
      type: 'response',
      id: query.id ?? 0,
      questions: query.questions ?? [],
      flags: random(2) === 0 ? AUTHENTIC_DATA : 0,
      answers: rows.filter(({ type }) => type === question?.type || random(3) === 0),
    })
    // '*.wrong.test' gets good answers to other questions: a guess of the id that is off by one bit.
    if (question?.name.endsWith('.wrong.test')) {
      const other = random(16)
      reply[other >> 3] = (reply[other >> 3] ?? 0) ^ (1 << (other & 7))
      return server.send(reply, from.port, from.address)
    }
    const broken = mutant({ seeds: [reply.toString('latin1')], tokens, maxBytes: 4_000 }, random)
    // The id mostly stays, or the answer is not looked at.
    const sent = bytesOf(broken).subarray(0, 8_000)
    if (random(8) > 0) reply.copy(sent, 0, 0, 4)
    server.send(sent, from.port, from.address)
  })
  const address = server.address()
  const resolver = validatingResolver({
    clock: systemClock,
    server: `127.0.0.1:${address.port}`,
    timeoutMs,
  })
  const wrong: string[] = []
  const tally = new Map<string, number>()
  let asked = 0
  const ask = async () => {
    while (asked < rounds && wrong.length < 3) {
      const round = asked++
      const wrongly = round % 40 === 39
      const name = `${round}.${wrongly ? 'wrong' : 'a'}.test`
      const question = (['mx', 'a', 'tlsa'] as const)[round % 3] ?? 'mx'
      const complaint = await resolver[question](name).then(
        (answer) => {
          tally.set(answer.kind, (tally.get(answer.kind) ?? 0) + 1)
          if (wrongly && answer.kind !== 'failed') return 'it believed another answer'
          return faultOf(question, answer)
        },
        (error: unknown) => `it rejects: ${error}`,
      )
      if (complaint !== undefined) wrong.push(`round ${round}, ${question}: ${complaint}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, ask))
  t.comment(JSON.stringify([...tally]))
  t.same(wrong, [])
  t.ok((tally.get('records') ?? 0) > rounds / 20, 'some are still good')
})

type Asked = 'mx' | 'a' | 'tlsa'
type Looked = Awaited<ReturnType<ReturnType<typeof validatingResolver>[Asked]>>

function faultOf(question: Asked, answer: Looked): string | undefined {
  if (answer.kind === 'failed') return answer.cause.length < 300 ? undefined : 'a long cause'
  if (answer.kind !== 'records') return undefined
  const { records, ttlMs } = answer
  if (records.length === 0 || records.length > 100) return `${records.length} records`
  if (!((ttlMs ?? -1) >= 0)) return `a TTL of ${ttlMs} ms`
  for (const record of records) {
    if (question === 'a' && (typeof record !== 'string' || isIP(record) !== 4)) {
      return `the address ${JSON.stringify(record)}`
    }
    if (typeof record === 'object' && 'exchange' in record) {
      const { exchange, preference } = record
      if (!(preference >= 0 && preference < 65_536)) return `the preference ${preference}`
      if (typeof exchange !== 'string' || exchange.length > 1_024) return 'a bad exchange'
    }
  }
  return undefined
}
