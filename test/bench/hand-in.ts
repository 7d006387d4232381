import { parseArgs } from 'node:util'
import { loadPlans } from '../../src/billing/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { loadConfig, packageFile } from '../../src/config/index.js'
import { acceptEmail } from '../../src/emails/index.js'
import { silentLog } from '../../src/log/index.js'
import type { Renderer } from '../../src/templates/index.js'
import { attachmentRules } from '../support/attachment-rules.js'
import { outboundRig } from '../support/outbound.js'
import { benchTest } from './bench-test.js'
import { loadAverage, rsaSignatures } from './rig.js'

/*
 * What limits by the hour and by the minute of a key, and the look for a surge, cost a mail that is accepted: in one process,
 * in turn, medians of a processor's time. To be held: 1 µs a mail, ratio ≥ 0.99.
 *     node dist/test/bench/hand-in.js --mails 2000 --rounds 15
 */
const { values } = parseArgs({
  options: {
    mails: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '15' },
  },
})
const mails = Number(values.mails)
const rounds = Number(values.rounds)
const { t, end } = benchTest()
const rig = await outboundRig(t, { stopped: true })
const noRenderer: Renderer = {
  render: async () => ({ kind: 'unavailable', cause: 'no renderer here' }),
  close: async () => {},
}
const common = {
  store: rig.store,
  clock,
  log: silentLog,
  plans: loadPlans(packageFile('config/plans.toml')),
  defaultCountry: 'NG',
  attachments: attachmentRules,
  renderer: noRenderer,
  backlog: rig.backlog,
  maxQueued: Number.MAX_SAFE_INTEGER,
  ring: () => {},
  retry: loadConfig({ env: {} }).outbound.retry,
}
const many = 1_000_000_000
const key = (limit: number | null) => ({
  keyId: '0191a000-0000-7000-8000-000000000001',
  perHour: limit,
  perMinute: limit,
  address: () => '127.0.0.1',
})
const ways = {
  without: { deps: { ...common, surges: { minimum: 0, times: 10 } }, by: key(null) },
  with: { deps: { ...common, surges: { minimum: many, times: 10 } }, by: key(many) },
} as const
type Way = keyof typeof ways
const words = 'word '.repeat(1_020)
const { from } = await rig.email(await rig.send({ to: 'first@example.test' }))

/** µs of a processor a mail, so many at once, which share their commits. */
async function perMail(way: Way, atOnce: number): Promise<number> {
  // The same object each time: by it mails that come together share a commit.
  const { deps, by } = ways[way]
  const send = (n: number) =>
    acceptEmail(
      deps,
      rig.accountId,
      { from, to: `r${n}@d${n % 50}.test`, subject: 'Hello', html: `<p>${words}</p>` },
      undefined,
      { by },
    )
  const began = process.cpuUsage()
  for (let n = 0; n < mails; n += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, (_, i) => send(n + i)))
  }
  const { user, system } = process.cpuUsage(began)
  return (user + system) / mails
}

const median = (some: number[]) => some.sort((a, b) => a - b)[some.length >> 1] ?? 0
console.log(`${rsaSignatures()} RSA signatures/s, load ${loadAverage()}`)
for (const atOnce of [1, 50]) {
  const took: Record<Way, number[]> = { without: [], with: [] }
  await perMail('with', atOnce)
  for (let round = 0; round < rounds; round++) {
    // In turn, and each first as often as second.
    const order: Way[] = round % 2 === 0 ? ['without', 'with'] : ['with', 'without']
    for (const way of order) took[way].push(await perMail(way, atOnce))
  }
  const pairs = took.without.map((one, i) => (took.with[i] ?? 0) - one)
  const [none, some] = [median([...took.without]), median([...took.with])]
  console.log(
    `${atOnce} at once: ${none.toFixed(1)} µs a mail without, ${some.toFixed(1)} with; of pairs ${median(pairs).toFixed(1)} more: ratio ${(none / (none + median(pairs))).toFixed(3)}`,
  )
}
console.log(`${rsaSignatures()} RSA signatures/s, load ${loadAverage()}`)
await end()
process.exit(0)
