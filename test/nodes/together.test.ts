// Issue 46: two appliances on one PostgreSQL, each a process, hold back who asks too often or guesses, whichever is asked.
import t from 'tap'
import { becomes, nodesRig } from '../support/nodes.js'
import { noPostgres } from '../support/postgres.js'
import type { Serving } from '../support/process.js'

t.test('limits of two nodes', { skip: noPostgres ?? false }, async (t) => {
  const rig = await nodesRig(t)
  const env = { POSTHORN_HTTP_RATE_LIMIT_REQUESTS: '60', POSTHORN_HTTP_RATE_LIMIT_WINDOW: '1h' }
  const first = await rig.start('mail1', env)
  const second = await rig.start('mail2', env)
  const ask = (node: Serving) =>
    fetch(`${node.url}/v1/domains`, { headers: { authorization: `Bearer ${rig.apiKey}` } })
  const left = async (node: Serving) =>
    Number((await ask(node)).headers.get('x-ratelimit-remaining'))

  await t.test('requests to both are counted together', async (t) => {
    for (let n = 0; n < 20; n++) t.equal((await ask(first)).status, 200)
    const at = performance.now()
    const seen = await becomes(
      () => left(second),
      (remaining) => remaining < 40,
      5_000,
    )
    t.comment(`seen after ${Math.round(performance.now() - at)} ms, ${seen} are left`)
    await becomes(
      () => left(second),
      (remaining) => remaining === 0,
      5_000,
    )
    t.equal((await ask(second)).status, 429)
    await becomes(
      async () => (await ask(first)).status,
      (status) => status === 429,
      5_000,
    )
    const [unlogged] = await rig.ask("select relpersistence from pg_class where relname = 'rates'")
    t.match(unlogged, { relpersistence: 'u' })
  })

  await t.test('guesses at a log-in are counted together', async (t) => {
    const guess = (node: Serving, email: string) =>
      fetch(`${node.url}/login`, {
        method: 'POST',
        headers: { origin: node.url },
        body: new URLSearchParams({ email, password: 'wrong wrong wrong' }),
      })
    for (let n = 0; n < 10; n++) {
      const { status } = await guess(n % 3 === 0 ? first : second, `nobody${n}@x.test`)
      t.equal(status, 422)
    }
    const after = [await guess(first, 'a@x.test'), await guess(second, 'b@x.test')]
    t.ok(
      after.some(({ status }) => status === 429),
      `${after.map(({ status }) => status)}`,
    )
    for (let n = 0; n < 2; n++) await guess(first, `c${n}@x.test`)
    t.equal((await guess(first, 'd@x.test')).status, 429)
    t.equal((await guess(second, 'e@x.test')).status, 429)
  })
})
