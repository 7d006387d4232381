import t from 'tap'
import { IncomingBody, makeBodyMemory } from '../../src/http/incoming-body.js'
import { makeLargeBodies } from '../../src/http/large-bodies.js'
import { FakeClock } from '../support/clock.js'
import { eventually } from '../support/eventually.js'
import { Anything, request, startServer } from './start.js'

/** Which of the bodies have had their turns, in that order, each with the way to end it. */
function turns(clock: FakeClock) {
  const take = makeLargeBodies(clock, 100, 1_000)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const come = (name: string, bytes: number) => {
    void take(bytes).then((end) => {
      begun.push(name)
      ends.set(name, end)
    })
  }
  return { begun, come, end: (name: string) => ends.get(name)?.() }
}

t.test('large bodies become values in order, as far as there is room', async (t) => {
  const clock = new FakeClock()
  const { begun, come, end } = turns(clock)
  for (const [name, bytes] of [
    ['a', 40],
    ['b', 60],
    ['huge', 500],
    ['c', 10],
  ] as const) {
    come(name, bytes)
  }
  await clock.advance(0)
  t.same(begun, ['a', 'b'])
  end('a')
  end('a')
  await clock.advance(0)
  t.same(begun, ['a', 'b'], 'one that is larger than all the room waits until it is alone')
  end('b')
  await clock.advance(0)
  t.same(begun, ['a', 'b', 'huge'], 'and nobody passes it')
  end('huge')
  await clock.advance(0)
  t.same(begun, ['a', 'b', 'huge', 'c'])
  end('c')
  t.notOk(clock.isAwaited)
})

t.test('nobody waits for longer than a second, however many slow ones are before', async (t) => {
  const clock = new FakeClock()
  const { begun, come, end } = turns(clock)
  for (let i = 0; i < 50; i++) come(`slow ${i}`, 100)
  await clock.advance(400)
  come('mine', 100)
  await clock.advance(999)
  t.notOk(begun.includes('mine'))
  await clock.advance(1)
  t.ok(begun.includes('mine'))
  for (const name of begun) end(name)
  await clock.advance(1_000)
  t.equal(begun.length, 51)
  for (const name of begun) end(name)
  t.notOk(clock.isAwaited)
  come('after', 100)
  await clock.advance(0)
  t.ok(begun.includes('after'), 'and all room is there again')
})

t.test('a request that takes long holds nobody up after a second', async (t) => {
  const clock = new FakeClock()
  const { begun, come, end } = turns(clock)
  come('slow', 100)
  come('next', 100)
  await clock.advance(999)
  t.same(begun, ['slow'])
  await clock.advance(1)
  t.same(begun, ['slow', 'next'])
  end('slow')
  come('third', 100)
  await clock.advance(0)
  t.same(begun, ['slow', 'next'], 'its end counts once')
})

t.test('a server takes a small body at once, and a large one after those under way', async (t) => {
  const clock = new FakeClock()
  const begun: number[] = []
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const { raw, connect, server } = await startServer(
    t,
    ({ api }) =>
      api.post('/slow', { body: Anything, maxBodyBytes: 4_000_000 }, async ({ body }) => {
        const { length } = (body as { a: string }).a
        begun.push(length)
        if (length > 100) await answered
        return {}
      }),
    { clock },
  )
  const of = (length: number) => {
    const text = JSON.stringify({ a: 'x'.repeat(length) })
    const head = ['Content-Type: application/json', `Content-Length: ${text.length}`]
    return request('POST /slow', head, text)
  }
  const first = (await connect()).write(of(2_000_000))
  while (begun.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  const second = (await connect()).write(of(1_900_000))
  const leaver = (await connect()).write(of(1_800_000))
  await new Promise((resolve) => setTimeout(resolve, 300))
  t.equal((await raw(of(10)))?.status, 200)
  t.same(begun, [2_000_000, 10])
  await leaver.destroy()
  answer()
  t.equal((await first.response())?.status, 200)
  t.equal((await second.response())?.status, 200)
  t.same(begun, [2_000_000, 10, 1_900_000], 'who has left gets no turn')
  await server.close(1_000)
})

t.test('the next large body is read into the buffer of the last one', async (t) => {
  const bodyMemory = makeBodyMemory(10_000_000)
  const context = { bodyMemory, bodyTimer: () => () => {} }
  const receive = (bytes: number, letter: string) => {
    const flow = { pause() {}, resume() {} }
    const body = new IncomingBody(5_000_000, bytes, context, flow)
    body.receive(new Uint8Array(Buffer.alloc(bytes, letter)).buffer, true)
    return body
  }
  const first = receive(1_000_000, 'a')
  const memory = first.bytes().buffer
  const beside = receive(1_000_000, 'b')
  t.not(beside.bytes().buffer, memory, 'not while it is in use')
  first.recycle()
  const next = receive(1_000_100, 'c')
  t.equal(next.bytes().buffer, memory)
  t.ok(next.bytes().equals(Buffer.alloc(1_000_100, 'c')))
  t.ok(beside.bytes().equals(Buffer.alloc(1_000_000, 'b')))
  next.recycle()
  t.not(receive(3_000_000, 'd').bytes().buffer, memory, 'it is too small')
})

t.test('a large body that is let go of before its answer holds nobody up', async (t) => {
  const clock = new FakeClock()
  const begun: number[] = []
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const { connect, server } = await startServer(
    t,
    ({ api }) =>
      api.post('/kept', { body: Anything, maxBodyBytes: 4_000_000 }, async ({ body, letGo }) => {
        begun.push((body as { a: string }).a.length)
        letGo()
        await answered
        return {}
      }),
    { clock },
  )
  const sent = []
  for (const length of [2_000_000, 1_900_000]) {
    const text = JSON.stringify({ a: 'x'.repeat(length) })
    const head = ['Content-Type: application/json', `Content-Length: ${text.length}`]
    sent.push((await connect()).write(request('POST /kept', head, text)))
    // The clock stands still: only a turn that has ended lets the second in.
    await eventually(async () => begun.includes(length), 10_000)
  }
  answer()
  for (const connection of sent) t.equal((await connection.response())?.status, 200)
  await server.close(1_000)
})
