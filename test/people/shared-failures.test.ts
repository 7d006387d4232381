// Issue 46: where several nodes let people in, guesses are counted together, whichever node they are made at.
import t from 'tap'
import { makeSharedCounts } from '../../src/bounded/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { makePeople } from '../../src/people/index.js'
import { FakeClock } from '../support/clock.js'
import { countStatements } from '../support/statements.js'
import { openTestStore } from '../support/store.js'

const key = makeApplianceKey(Buffer.alloc(32, 7))
const at = (n: number, who = 'olga') => ({ clientAddressKey: `192.0.2.${n}/32`, who })

async function twoNodes(t: Parameters<typeof openTestStore>[0], isOneOfSeveral = true) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const node = () =>
    makePeople({
      store,
      clock,
      key,
      asksFactorOfOperators: false,
      counts: isOneOfSeveral ? makeSharedCounts() : undefined,
    }).limits
  const rows = () => store.read.selectFrom('failed_attempts').selectAll().orderBy('count').execute()
  return { clock, store, rows, first: node(), second: node() }
}

t.test('ten failures of an address at two nodes hold it back at both', async (t) => {
  const { clock, first, second, rows } = await twoNodes(t)
  for (let n = 0; n < 2; n++) t.equal(await first.take(at(1, `a${n}`)), 0)
  t.same(await rows(), [], 'the first two are no row')
  t.equal(await first.take(at(1, 'a2')), 0)
  t.match(await rows(), [{ count: 3 }])
  for (let n = 3; n < 10; n++) t.equal(await (n % 2 === 0 ? first : second).take(at(1, `a${n}`)), 0)
  t.equal(await first.take(at(1)), 60_000)
  t.equal(await second.take(at(1)), 60_000)
  t.match(await rows(), [{ count: 10 }], 'who is refused leaves nothing behind')
  t.notMatch(JSON.stringify(await rows()), /192\.0\.2|olga/)
  t.equal(await second.take(at(2)), 0, 'nobody else is')
  await clock.advance(60_000)
  t.equal(await second.take(at(1)), 0)
  t.equal(await first.take(at(1)), 120_000, 'and the wait doubles')
})

t.test('failures at two nodes that each remembers come together with the next one', async (t) => {
  const { first, second, rows } = await twoNodes(t)
  for (let n = 0; n < 2; n++) for (const node of [first, second]) await node.take(at(1, `a${n}`))
  t.same(await rows(), [])
  await first.take(at(1, 'b'))
  t.match(await rows(), [{ count: 3 }])
  await second.take(at(1, 'c'))
  t.match(await rows(), [{ count: 6 }])
})

t.test('many at once at two nodes are not let through', async (t) => {
  const { first, second } = await twoNodes(t)
  const waits = await Promise.all(
    Array.from({ length: 29 }, (_, n) => (n % 2 === 0 ? first : second).take(at(1, `a${n}`))),
  )
  const letIn = waits.filter((waitMs) => waitMs === 0).length
  t.equal(letIn, 10)
})

t.test(
  'who gets in at one node starts anew at all, and what was not made does not count',
  async (t) => {
    const { clock, first, second, rows } = await twoNodes(t)
    // From other addresses each, so that the person alone is held back.
    for (let n = 0; n < 19; n++) t.equal(await (n % 2 === 0 ? first : second).take(at(n)), 0)
    t.equal(await second.take(at(50)), 0)
    await second.takeBack(at(50))
    t.equal(await first.take(at(51)), 0, 'the one that was taken back does not count')
    await first.forgive(at(51))
    t.same(await rows(), [])
    for (let n = 60; n < 79; n++) t.equal(await second.take(at(n)), 0)
    t.equal(await first.take(at(80)), 0)
    t.equal(await first.take(at(81)), 60_000)
    await second.forget('olga')
    t.equal(await first.take(at(82)), 0)
    await clock.advance(7 * 3_600_000)
    for (let n = 0; n < 3; n++) await first.take(at(90, 'eve'))
    t.equal((await rows()).length, 2, 'what is over goes')
  },
)

t.test('who mistypes once costs no write, and one appliance alone no statement', async (t) => {
  const { first } = await twoNodes(t)
  const alone = (await twoNodes(t, false)).first
  const ran = countStatements(t)
  await first.take(at(1))
  await first.forgive(at(1))
  t.ok(ran.size > 0)
  t.notOk([...ran.keys()].some((text) => /insert|update|delete|begin/i.test(text)))
  ran.clear()
  for (let n = 0; n < 12; n++) await alone.take(at(1))
  t.equal(await alone.take(at(1)), 60_000)
  t.equal(ran.size, 0)
})
