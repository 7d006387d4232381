import t from 'tap'
import { loadConfig } from '../../src/config/index.js'
import { makeRoutes } from '../../src/outbound/routing/index.js'
import { FakeClock } from '../support/clock.js'
import { fakeResolver } from '../support/resolver.js'

t.test(
  'a route is kept for a second, where there is an order to shuffle for eight mails',
  async (t) => {
    const { outbound } = loadConfig({ env: {} })
    const clock = new FakeClock()
    const resolver = fakeResolver({
      'one.test': { mx: [{ preference: 10, exchange: 'mx.one.test' }] },
      'mx.one.test': { a: ['8.8.8.8'] },
      'two.test': {
        mx: [
          { preference: 10, exchange: 'mx1.two.test' },
          { preference: 10, exchange: 'mx2.two.test' },
        ],
      },
      'mx1.two.test': { a: ['8.8.4.4'] },
      'mx2.two.test': { a: ['9.9.9.9'] },
    })
    const site = { key: 'a site', provider: undefined, mx: undefined, domain: undefined }
    const address = async () => ({ host: '127.0.0.1', port: 25 })
    const { findRoute } = makeRoutes(
      {
        clock,
        resolver,
        random: Math.random,
        simulator: { address },
        testInbox: { address },
        config: { ...outbound, route: 'direct' },
      },
      { siteOf: () => site },
    )
    for (let mail = 0; mail < 16; mail++) {
      await findRoute('one.test')
      await findRoute('two.test')
    }
    t.equal(resolver.count('one.test', 'mx'), 1)
    t.equal(resolver.count('two.test', 'mx'), 2)
    await clock.advance(1_001)
    await findRoute('one.test')
    t.equal(resolver.count('one.test', 'mx'), 2)
  },
)
