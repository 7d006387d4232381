// Results that the storage does not take are kept, and the log, often on the disk that is full, is spared.
import { setImmediate, setTimeout } from 'node:timers/promises'
import t from 'tap'
import { joinBacklog, makeBacklogMemory } from '../../src/deliveries/index.js'
import { ApiError } from '../../src/errors/index.js'
import { makeLandEvents } from '../../src/events/index.js'
import { silentLog } from '../../src/log/index.js'
import { silentMeter } from '../../src/metrics/index.js'
import { makeRecorder } from '../../src/outbound/claims/recorder.js'
import type { Store } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

t.test('while results cannot be written the log has a line a minute', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  let isFull = true
  let tries = 0
  const write: Store['write'] = (work) => {
    tries++
    const full = new ApiError('service_unavailable', 'The disk is full', {})
    return isFull ? Promise.reject(full) : store.write(work)
  }
  const fragile: Store = { ...store, write, byRow: write }
  const lines: string[] = []
  const log = { ...silentLog, error: (_: object, text: string) => void lines.push(text) }
  const recorder = makeRecorder({
    store: fragile,
    clock,
    log,
    meter: silentMeter,
    thread: 0,
    backlog: joinBacklog(makeBacklogMemory()),
    land: makeLandEvents([]),
  })
  let how: string | undefined
  const startedAt = clock.now()
  recorder.record({
    settlement: {
      kind: 'delivered',
      id: 1,
      emailId: 'x',
      accountId: 'a',
      class: 0,
      attempts: 1,
      startedAt,
      recipient: 'b@one.test',
      reply: '250 ok',
      remote: null,
      tls: null,
      transcript: '',
    },
    done: (end) => {
      how = end
    },
  })
  const pass = async (seconds: number) => {
    for (let n = 0; n < seconds; n++) {
      await setImmediate()
      await clock.advance(1_000)
    }
  }
  await pass(150)
  t.ok(recorder.stuck())
  t.ok(tries > 100, `${tries} tries`)
  t.equal(lines.length, 3)
  t.match(lines[0], /^Results could not be written/)
  isFull = false
  // The write takes the disk's time.
  while (how === undefined) {
    await pass(1)
    await setTimeout(10)
  }
  t.equal(how, 'written')
  t.notOk(recorder.stuck())
})
