import t from 'tap'
import { silentLog } from '../../src/log/index.js'
import { openHandOver, recordHits } from '../../src/tracking/index.js'
import type { Click } from '../../src/tracking/token.js'
import { FakeClock } from '../support/clock.js'

const copy = { accountId: 'a', emailId: 'b', deliveryId: 7 }
const asked = { kind: 'opened', userAgent: 'x', address: '203.0.113.9', onlyHead: false } as const

/** A listener's hits, and a thread that takes them when it is told to. */
function start() {
  const clock = new FakeClock()
  const messages: { hits: string; answer: (isTaken: boolean) => void }[] = []
  const told: object[] = []
  const own: { at: number; target?: string | undefined }[] = []
  const handOver = openHandOver({
    clock,
    log: { ...silentLog, warn: (fields: object) => void told.push(fields) },
    give: (hits) => new Promise((answer) => void messages.push({ hits, answer })),
    own: {
      note: (_, { target }, at = clock.now()) => void own.push({ at, target }),
      close: async () => void own.push({ at: 0 }),
    },
  })
  return { clock, messages, told, own, handOver }
}

/** How many hits there are in a message. */
const countOf = (hits = '[]') => {
  let count = 0
  recordHits({ note: () => void count++ }, hits)
  return count
}

t.test('hits go over together, with their times, and one message at a time', async (t) => {
  const { clock, messages, own, handOver } = start()
  t.notOk(clock.isAwaited, 'as long as nobody asks no timer wakes the thread')
  const at = clock.now()
  handOver.note(copy, asked)
  await clock.advance(30)
  const clicked = { ...asked, kind: 'clicked', target: 'https://x.test/', links: 2 } as const
  // The listener gives all that it read of a link.
  const click: Click = { ...copy, links: 2, target: 'https://x.test/' }
  handOver.note(click, clicked)
  t.equal(messages.length, 0)
  await clock.advance(100)
  const noted: unknown[] = []
  recordHits({ note: (...given) => void noted.push(given) }, messages[0]?.hits ?? '')
  t.same(noted, [
    [copy, asked, at],
    [copy, clicked, at + 30],
  ])
  for (let i = 0; i < 3; i++) {
    handOver.note(copy, asked)
    await clock.advance(100)
  }
  t.equal(messages.length, 1, 'who does not answer gets no other')
  messages[0]?.answer(true)
  // It hears of that first.
  await clock.advance(0)
  await clock.advance(100)
  t.equal(countOf(messages[1]?.hits), 3)
  messages[1]?.answer(true)
  await clock.advance(0)
  t.same([clock.isAwaited, own], [false, []])
})

t.test('what no thread takes is recorded here, and a stop loses none', async (t) => {
  const { clock, messages, own, handOver } = start()
  const at = clock.now()
  handOver.note(copy, asked)
  await clock.advance(100)
  handOver.note(copy, { ...asked, target: 'https://x.test/' })
  messages[0]?.answer(false)
  await clock.advance(0)
  t.same(own, [{ at, target: undefined }])
  const closed = handOver.close()
  await clock.advance(0)
  messages[1]?.answer(false)
  await closed
  t.same(own.slice(1), [{ at: at + 100, target: 'https://x.test/' }, { at: 0 }])
})

t.test('what waits for a thread that does not answer is bounded, and told', async (t) => {
  const { clock, messages, told, handOver } = start()
  handOver.note(copy, asked)
  await clock.advance(100)
  const long = { ...asked, userAgent: 'x'.repeat(32_000) }
  for (let i = 0; i < 1_000; i++) handOver.note(copy, long)
  messages[0]?.answer(true)
  // It hears of that first.
  await clock.advance(0)
  await clock.advance(100)
  const kept = countOf(messages[1]?.hits)
  t.ok(kept > 100 && kept < 130, `${kept} of 32,000 characters`)
  t.same(told, [{ lost: 1_000 - kept }])
})
