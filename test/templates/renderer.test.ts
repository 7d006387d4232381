import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openCpuClock } from '../../src/clock/index.js'
import { silentLog } from '../../src/log/index.js'
import { makeFairQueue } from '../../src/templates/fair-queue.js'
import { openRenderer, type RenderJob, renderTemplate } from '../../src/templates/index.js'
import { FakeClock } from '../support/clock.js'
import { makeTempDir } from '../support/store.js'

const entry = new URL('../support/render-thread.js', import.meta.url)
const tooLong = {
  kind: 'failed',
  fault: { kind: 'limit', part: null, message: 'it takes too long' },
}

const jobOf = (html: string, accountId = 'account', variables = '{}'): RenderJob => ({
  accountId,
  subject: { key: null, liquid: 'Subject' },
  html: { key: null, liquid: html },
  text: null,
  variables,
  strict: true,
})

const rendered = (html: string) => ({ kind: 'rendered', rendered: { html } })

t.test('a job that ends the thread fails alone; the others are rendered by the next', async (t) => {
  const renderer = openRenderer({ log: silentLog, clock: new FakeClock(), entry })
  t.teardown(() => renderer.close())
  for (const deadly of ['die', 'spin']) {
    const html = ['a', 'b', deadly, 'c', 'd', 'e', 'f', 'g', deadly, 'h']
    const outcomes = await Promise.all(html.map((one) => renderer.render(jobOf(one))))
    for (const [index, one] of html.entries()) {
      if (one === 'die') t.match(outcomes[index], { kind: 'failed', fault: { kind: 'limit' } })
      else if (one === 'spin') t.same(outcomes[index], tooLong)
      else t.match(outcomes[index], rendered(one))
    }
  }
})

t.test(
  'a renderer that starts when it is asked renders, and closes without a thread',
  async (t) => {
    const made = { log: silentLog, clock: new FakeClock(), entry }
    const renderer = openRenderer(made)
    t.match(await renderer.render(jobOf('a')), rendered('a'))
    await renderer.close()
    const file = join(makeTempDir(t), 'broken')
    writeFileSync(file, '')
    process.env.RENDER_THREAD_BROKEN = file
    t.teardown(() => delete process.env.RENDER_THREAD_BROKEN)
    // A thread that was begun would say that it is broken.
    const errors: unknown[] = []
    const log = { ...silentLog, error: (...given: unknown[]) => errors.push(given) }
    await openRenderer({ ...made, log }).close()
    t.same(errors, [])
  },
)

t.test(
  'a thread without work ends after ten minutes, and the next job starts another',
  async (t) => {
    const clock = new FakeClock()
    const renderer = openRenderer({ log: silentLog, clock, entry })
    t.teardown(() => renderer.close())
    t.match(await renderer.render(jobOf('a')), rendered('a'))
    await clock.advance(599_000)
    t.match(await renderer.render(jobOf('b')), rendered('b'))
    await clock.advance(599_000)
    t.ok(clock.isAwaited, 'it was used ten minutes ago')
    await clock.advance(2_000)
    t.notOk(clock.isAwaited)
    t.match(await renderer.render(jobOf('c')), rendered('c'))
    t.ok(clock.isAwaited)
  },
)

t.test('a thread that is slow to start fails nobody', async (t) => {
  const file = join(makeTempDir(t), 'slow')
  process.env.RENDER_THREAD_SLOW = file
  t.teardown(() => delete process.env.RENDER_THREAD_SLOW)
  const renderer = openRenderer({ log: silentLog, clock: new FakeClock(), entry })
  t.teardown(() => renderer.close())
  const outcomes = await Promise.all(['spin', 'a', 'b'].map((one) => renderer.render(jobOf(one))))
  t.match(outcomes, [tooLong, rendered('a'), rendered('b')])
})

t.test('a thread that cannot start answers 503, and is tried again for the next', async (t) => {
  const file = join(makeTempDir(t), 'broken')
  writeFileSync(file, '')
  process.env.RENDER_THREAD_BROKEN = file
  t.teardown(() => delete process.env.RENDER_THREAD_BROKEN)
  const renderer = openRenderer({ log: silentLog, clock: new FakeClock(), entry })
  t.teardown(() => renderer.close())
  const cause = 'the renderer cannot start'
  t.same(await renderer.render(jobOf('a')), { kind: 'unavailable', cause })
  const template = {
    accountId: 'account',
    slug: 'welcome',
    version: 1,
    versionId: 'v',
    savedAt: 0,
    subject: 'Subject',
    html: 'a',
    textBody: null,
    blocks: null,
  }
  await t.rejects(renderTemplate(renderer, template, { variables: {} }), {
    code: 'service_unavailable',
    status: 503,
    headers: { 'retry-after': '5' },
    message: `Templates cannot be rendered right now: ${cause}`,
  })
  rmSync(file)
  t.match(await renderer.render(jobOf('b')), rendered('b'))
})

t.test('an account gets half of the queue, and what waits too long is given up', async (t) => {
  const clock = new FakeClock()
  const renderer = openRenderer({ log: silentLog, clock, entry })
  t.teardown(() => renderer.close())
  const slow = renderer.render(jobOf('a'))
  await clock.advance(10_001)
  t.match(await slow, rendered('a'), 'the start of the thread is waited for')
  // The thread has as many as it takes: all others wait.
  const spins = Array.from({ length: 4 }, () => renderer.render(jobOf('spin', 'spinner')))
  const variables = ' '.repeat(16 * 1024 * 1024 - 4096)
  const send = (account: string) => renderer.render(jobOf('a', account, variables))
  const early = [send('one'), send('one'), send('one'), send('two'), send('two'), send('three')]
  const full = { kind: 'unavailable', cause: 'too many are waiting' }
  t.same([await early[2], await early[5]], [full, full])
  await clock.advance(10_001)
  const late = { kind: 'unavailable', cause: 'the renderer is overloaded' }
  t.same(await Promise.all([early[0], early[1], early[3], early[4]]), [late, late, late, late])
  t.same(await Promise.all(spins), [tooLong, late, late, late])
  t.match(await renderer.render(jobOf('a')), rendered('a'), 'and there is room again')
})

t.test('closing refuses what waits and what comes later, and ends the thread', async (t) => {
  const renderer = openRenderer({ log: silentLog, clock: new FakeClock(), entry })
  const waiting = renderer.render(jobOf('a'))
  await Promise.all([renderer.close(), renderer.close()])
  const stopping = { kind: 'unavailable', cause: 'the appliance is stopping' }
  t.same(await waiting, stopping)
  t.same(await renderer.render(jobOf('b')), stopping)
})

t.test('closing waits for a thread that is held up by a job', async (t) => {
  const renderer = openRenderer({ log: silentLog, clock: new FakeClock(), entry })
  t.match(await renderer.render(jobOf('a')), rendered('a'))
  const held = renderer.render(jobOf('spin'))
  await renderer.close()
  t.same(await held, tooLong)
})

t.test('owners take turns, each in its own order', async (t) => {
  const queue = makeFairQueue<string>(100)
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) t.ok(queue.add(item[0] ?? '', item, 1))
  const first = [queue.take(), queue.take()]
  t.same(first, ['a1', 'b1'])
  queue.putBack('b', 'b1', 1)
  t.ok(queue.add('d', 'd1', 1))
  const rest = Array.from({ length: 7 }, () => queue.take())
  t.same(rest, ['c1', 'a2', 'b1', 'd1', 'a3', 'b2', undefined])
})

t.test('a queue has room for so many bytes, of one owner for half of them', async (t) => {
  const queue = makeFairQueue<number>(10)
  t.same(
    [queue.add('a', 1, 5), queue.add('a', 2, 1), queue.add('b', 3, 4), queue.add('c', 4, 2)],
    [true, false, true, false],
  )
  queue.take()
  t.ok(queue.add('a', 5, 5), 'what was taken makes room')
  queue.putBack('b', 6, 5)
  t.same([queue.take(), queue.take(), queue.take(), queue.take()], [6, 5, 3, undefined])
})

t.test('a thread that has ended before its CPU time was looked at harms nobody', async (t) => {
  const cpu = openCpuClock('/proc/self/task/0/schedstat')
  t.type(cpu.ms(), 'number')
  cpu.close()
})
