/*
 * What the brake costs a mail: the calls that each mail makes of its site, with the count and a brake on elsewhere, against
 * what a mail costs in all (1,000 µs of a processor, `notes/performance.md`). And how long a rehearsal of a million takes.
 *   node dist/test/bench/brake.js
 */
import { performance } from 'node:perf_hooks'
import { packageFile } from '../../src/config/index.js'
import { loadShaping, makeShaping, policyFor, runRehearsal } from '../../src/outbound/index.js'
import { queueClass } from '../../src/store/index.js'

const data = loadShaping([packageFile('config/shaping.toml')])
const name = { key: 'google', provider: 'google', mx: undefined, domain: undefined }
const clock = { now: () => Date.now(), after: () => () => {} }
const mails = 300_000
const rounds = 7

/** µs a mail: what the thread asks of the site. */
function perMail(isWatched: boolean): number {
  const shaping = makeShaping({
    data,
    clock,
    random: () => 0,
    thread: 0,
    threads: 1,
    ...(isWatched && { brakeOf: () => undefined }),
  })
  const site = shaping.site(name, 'default')
  const began = process.cpuUsage()
  for (let i = 0; i < mails; i++) {
    site.mayStart(queueClass.campaign)
    site.started(queueClass.campaign)
    site.ended(queueClass.campaign, { kind: 'delivered', reply: '250 ok' })
    if (isWatched && i % 5_000 === 0) shaping.takeTallies()
  }
  const { user, system } = process.cpuUsage(began)
  return (user + system) / mails
}

const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0
perMail(true)
const watched = median(Array.from({ length: rounds }, () => perMail(true)))
console.log(
  `shaping of a mail, brake watched: ${watched.toFixed(2)} µs: ${(100 - watched / 10).toFixed(2)} % of a mail of 1 ms are left to all else`,
)

const policy = { ...policyFor(data, name), messagesPerMinute: 60_000 }
const sites = Array.from({ length: 80 }, (_, i) => ({
  key: `site${i}`,
  thread: 0,
  mails: 12_500,
  ahead: 0,
  beside: 0,
  policy,
  says: { rate: { why: '' }, connections: { why: '' } },
  sources: [{ name: 'default', learned: undefined, brake: undefined }],
  attemptMs: 100,
  deferred: 0.02,
}))
for (let i = 0; i < 5; i++) {
  const began = performance.now()
  await runRehearsal({
    startsAt: 0,
    leavesAt: () => 0,
    opensAt: (now) => now,
    sites,
    maxConnections: 200,
    threads: 1,
    perSecond: 1_000,
    warmUp: undefined,
    retries: [300_000],
  })
  console.log(`a run of 1,000,000 mails to 80 sites: ${Math.round(performance.now() - began)} ms`)
}
