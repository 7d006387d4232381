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

t.test('people of an account read no settings, and the operator reads which', async (t) => {
  const stands = (held: object | undefined, more: object = {}) =>
    explainGate(
      {
        lane: { name: 'one.test' },
        class: 0,
        path: { site: 'mx.one.test', held: { 0: held, 1: undefined, 2: undefined } },
      } as unknown as Stream,
      { ...thread, ...more },
    )
  t.match(stands(undefined, { isFull: true }), {
    says: 'All 100 connections (outbound.max_connections) are in use',
    plain: 'All 100 connections are in use',
  })
  const used = { why: '50 mails are used (outbound.warm_up)', plain: '50 mails are used' }
  const held = stands({ gate: 'warm-up', until: 5, ...used })
  t.match(held.says, /mx\.one\.test.*: 50 mails are used \(outbound\.warm_up\)$/)
  t.equal(`${held.plain} (outbound.warm_up)`, held.says)
  t.equal(held.until, 5)
  const brake = stands({ gate: 'brake', until: null, why: 'it blocked (again)' })
  t.match(brake.says, /it blocked \(again\)$/)
  t.notOk('plain' in brake, 'what others wrote in brackets stays')
})
