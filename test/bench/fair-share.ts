/*
 * Fifty accounts at one site, one of which queues a hundred times as much:
 *   node dist/test/bench/fair-share.js --accounts 50 --small 100 --times 100
 * Each small account's last mail against the time at which it would be done if all accounts shared the
 * site's rate evenly: accounts × small ÷ rate, by the rate of that time. Bar: within 1.2.
 */
import { parseArgs } from 'node:util'
import { createAccount } from '../../src/accounts/index.js'
import { systemClock } from '../../src/clock/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { openDelaySink } from './delay-sink.js'
import { fillQueue } from './fill-queue.js'
import { initDataDir, loadAverage, quantile, report, serveAppliance, sleep } from './rig.js'

const { values } = parseArgs({
  options: {
    accounts: { type: 'string', default: '50' },
    small: { type: 'string', default: '100' },
    times: { type: 'string', default: '100' },
    connections: { type: 'string', default: '20' },
  },
})
const accounts = Number(values.accounts)
const small = Number(values.small)
const sinkPort = 2_629

const { dataDir, apiKey, accountId } = initDataDir()
const store = await openStore({ dataDir, clock: systemClock, turns: makeTurns(), slot: 0 })
const ids: string[] = []
for (let i = 1; i < accounts; i++) {
  ids.push((await createAccount({ store, clock: systemClock }, `Small ${i}`)).id)
}
await store.close()
const queue = { domains: 1, class: 0 } as const
await fillQueue(dataDir, {
  ...queue,
  accountId,
  deliveries: small * Number(values.times),
  name: 'big',
})
for (const [i, id] of ids.entries()) {
  await fillQueue(dataDir, { ...queue, accountId: id, deliveries: small, name: `small${i}x` })
}

const left = new Map(ids.map((_, i) => [`small${i}`, small]))
const doneAt: number[] = []
let first = 0
let arrived = 0
await openDelaySink(sinkPort, 10, (recipient) => {
  first ||= performance.now()
  arrived++
  const name = recipient.split('x')[0] ?? ''
  const more = (left.get(name) ?? 0) - 1
  if (!left.has(name)) return
  left.set(name, more)
  if (more === 0) doneAt.push(performance.now())
})
const connections = Number(values.connections)
const appliance = await serveAppliance({ dataDir, apiKey, sinkPort, connections })
while (doneAt.length < ids.length) await sleep(20)
const last = doneAt.at(-1) ?? 0
const rate = arrived / ((last - first) / 1_000)
const fairMs = ((accounts * small) / rate) * 1_000
const shares = doneAt.map((at) => (at - first) / fairMs)
report([
  [
    'accounts, mails of a small one, of the big one',
    `${accounts}, ${small}, ${small * Number(values.times)}`,
  ],
  ['mails/s', rate.toFixed(0)],
  ['fair-share time, s', (fairMs / 1_000).toFixed(2)],
  ['done after that share of it, median', quantile(shares, 0.5).toFixed(2)],
  ['the slowest small one', quantile(shares, 1).toFixed(2)],
  ['load average', loadAverage()],
])
await appliance.stop()
process.exit(0)
