// Issue 15: what is told of a mail that waits is true at that moment.
import t from 'tap'
import { explainGate } from '../../src/outbound/admission/explain.js'
import type { Stream } from '../../src/outbound/admission/waiting.js'

const thread = { isRouting: false, isClaiming: false, isFull: false, total: 100 }

t.test('slots that a claim has taken are not told as connections in use', async (t) => {
  const why = '20 at once'
  const held = { 0: { gate: 'connections', until: null, why }, 1: undefined, 2: undefined }
  const stream = { lane: { name: 'one.test' }, class: 0, path: { site: 'mx.one.test', held } }
  const told = (isClaiming: boolean) =>
    explainGate(stream as unknown as Stream, { ...thread, isClaiming })
  t.match(told(false), { gate: 'connections', says: /All connections are in use.*20 at once/ })
  t.same(told(true), { gate: 'turn', says: 'The next of the mail for one.test are being claimed' })
})
