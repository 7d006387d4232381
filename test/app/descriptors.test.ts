import t from 'tap'
import { fitDescriptors, openFilesLimit } from '../../src/app/descriptors.js'
import { loadConfig } from '../../src/config/index.js'

const env = { POSTHORN_OUTBOUND_THREADS: '1' }
const config = loadConfig({ env })

t.test(
  'connections are limited to what the descriptors allow, with some kept for HTTP',
  async (t) => {
    t.same(fitDescriptors(config, undefined), { config }, 'where the system does not tell')
    t.same(fitDescriptors(config, 65_536), { config })
    // 500 connections out, 500 in, and what the process and HTTP need.
    t.same(fitDescriptors(config, 1_370), { config })
    const { config: fitted, warning } = fitDescriptors(config, 1_369)
    t.match(fitted, { outbound: { maxConnections: 499 }, inbound: { maxConnections: 499 } })
    t.match(warning, /may open 1369 files and its settings need 1370: .*LimitNOFILE=.* ulimit/)
    t.same(
      { ...fitted, outbound: config.outbound, inbound: config.inbound },
      config,
      'nothing else is touched',
    )
    const alone = loadConfig({ env: { ...env, POSTHORN_INBOUND_ENABLED: 'false' } })
    t.same(fitDescriptors(alone, 870), { config: alone }, 'what does not listen needs none')
    const tight = fitDescriptors(alone, 600)
    t.equal(tight.config.outbound.maxConnections, 230)
    t.notMatch(tight.warning, /inbound/)

    for (const threads of [1, 2, 8]) {
      const many = loadConfig({ env: { POSTHORN_OUTBOUND_THREADS: String(threads) } })
      for (let limit = 256 + 256 * threads; limit < 6_000; limit += 7) {
        const { outbound, inbound } = fitDescriptors(many, limit).config
        const open = threads * outbound.maxConnections + inbound.maxConnections
        if (open > limit - 360 - 10 * threads) t.fail(`${open} of ${limit}`)
      }
    }
  },
)

t.test('with too few to load its modules it says so', async (t) => {
  t.throws(() => fitDescriptors(config, 511), {
    name: 'OperatorError',
    message: /may open 511 files; with outbound.threads = 1 it needs 512 to start/,
  })
  const eight = loadConfig({ env: { POSTHORN_OUTBOUND_THREADS: '8' } })
  t.throws(() => fitDescriptors(eight, 2_303), { message: /threads = 8 it needs 2304/ })
})

t.test('the limit is that of the process', async (t) => {
  const limit = openFilesLimit()
  t.equal(limit === undefined, process.platform !== 'linux')
})
