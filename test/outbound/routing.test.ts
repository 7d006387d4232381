import t from 'tap'
import { silentLog } from '../../src/log/index.js'
import { makeLanes } from '../../src/outbound/admission/lanes.js'
import { makeSiteLookups } from '../../src/outbound/admission/site-lookups.js'
import type { Stream } from '../../src/outbound/admission/waiting.js'
import type { SiteName } from '../../src/outbound/shaping/index.js'

const siteOf = (key: string): SiteName => ({
  key,
  provider: undefined,
  mx: undefined,
  domain: undefined,
})

/** Look-ups that end when the test says so. */
function open() {
  const lanes = makeLanes()
  const asked: string[] = []
  const answers = new Map<string, (key: string) => void>()
  const routing = makeSiteLookups({
    log: silentLog,
    findRoute: (domain) => {
      asked.push(domain)
      return new Promise((resolve) => {
        answers.set(domain, (key) => resolve({ hosts: [], site: siteOf(key) }))
      })
    },
    onRouted: (lane, site) => {
      lane.site = site
    },
  })
  const streamOf = (lane: string, accountId: string): Stream => {
    lanes.note({ lane, class: 0, accountId, dueAt: 0 })
    const stream = lanes.find(lane, 0, accountId)
    if (stream === undefined) throw new Error('no stream')
    return stream
  }
  return {
    asked,
    routing,
    streamOf,
    async answer(domain: string, key: string) {
      answers.get(domain)?.(key)
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

t.test('accounts have their look-ups in turn, whatever one of them asks for', async (t) => {
  const { asked, routing, streamOf, answer } = open()
  for (let i = 0; i < 1_000; i++) routing.add(streamOf(`big${i}.test`, 'big'))
  routing.pump(() => true)
  t.equal(asked.length, 64)
  routing.add(streamOf('small.test', 'small'))
  await answer('big0.test', 'mx')
  await answer('big1.test', 'mx')
  routing.pump(() => true)
  t.ok(asked.includes('small.test'))
  t.equal(asked.length, 66)
})

t.test('what is known comes first, what failed last and never takes all', async (t) => {
  const { asked, routing, streamOf, answer } = open()
  const failed = Array.from({ length: 100 }, (_, i) => streamOf(`dead${i}.test`, 'x'))
  for (const stream of failed) stream.lane.site = siteOf(`dns of ${stream.lane.name}`)
  for (const stream of failed) routing.add(stream)
  routing.pump(() => true)
  t.equal(asked.length, 32)
  const known = streamOf('known.test', 'x')
  known.lane.site = siteOf('mx')
  routing.add(streamOf('fresh.test', 'x'))
  routing.add(known)
  routing.pump(() => false)
  t.same(asked.slice(32), ['known.test'], 'also where no more is wanted')
  routing.pump(() => true)
  t.same(asked.slice(32), ['known.test', 'fresh.test'])
  await answer('dead0.test', 'dns of dead0.test')
  routing.pump(() => true)
  t.equal(asked.length, 35)
  t.match(asked.at(-1), /^dead/)
})

t.test('a lane whose site changes while it waits is looked up once', async (t) => {
  const { asked, routing, streamOf, answer } = open()
  const stream = streamOf('a.test', 'x')
  stream.lane.site = siteOf('mx')
  routing.add(stream)
  stream.lane.site = undefined
  routing.add(stream)
  routing.pump(() => true)
  routing.pump(() => true)
  t.same(asked, ['a.test'])
  t.ok(routing.has(stream))
  await answer('a.test', 'mx')
  routing.pump(() => true)
  t.same(asked, ['a.test'])
  t.notOk(routing.has(stream))
})
