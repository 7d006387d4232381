/*
 * A start with a full queue: `node dist/test/bench/million-queued.js`
 *   --n 1000000 deliveries  --domains 100000, each a site of its own  --seconds 30
 * Fills the queue of a fresh data directory by the API's own acceptance (50 recipients a mail), starts
 * the appliance on it, and prints how long it took to the first attempt at the sink, how much memory it
 * has while it delivers, and how fast sends are accepted meanwhile. MX answers come from a name server
 * on this machine. Bars: first attempt within 5 s, RSS below 1 GiB.
 */
import { parseArgs } from 'node:util'
import { fillQueue } from './fill-queue.js'
import { openNameServer } from './name-server.js'
import {
  initDataDir,
  loadAverage,
  memoryMb,
  openSink,
  quantile,
  report,
  serveAppliance,
  sleep,
} from './rig.js'

const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '1000000' },
    domains: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '30' },
  },
})
const n = Number(values.n)
const domains = Number(values.domains)
const sinkPort = 2_627

const { dataDir, apiKey } = initDataDir()
const sink = openSink('127.0.0.1', sinkPort)
const filledIn = await fillQueue(dataDir, { deliveries: n, domains, class: 2, recipients: 50 })
// Each domain a site of its own, as far as the appliance can know.
const names = await openNameServer(() => '127.0.0.1')

const began = performance.now()
const appliance = await serveAppliance({
  dataDir,
  apiKey,
  sinkPort,
  connections: 50,
  dns: `[dns]\nservers = ["127.0.0.1:${names.port}"]\n`,
})
while (sink.count() === 0) await sleep(5)
const firstMs = performance.now() - began
const latencies: number[] = []
const until = performance.now() + Number(values.seconds) * 1_000
for (let i = 0; performance.now() < until; i++) {
  const mail = { from: 'a@example.test', to: `x${i}@d1.test`, subject: 'x', html: '<p>x</p>' }
  const sentAt = performance.now()
  await appliance.post('/v1/emails/send', mail)
  latencies.push(performance.now() - sentAt)
  await sleep(100)
}
report([
  ['deliveries, domains', `${n}, ${domains} (filled in ${filledIn} s)`],
  ['start until the API answers, ms', appliance.startedInMs.toFixed(0)],
  ['start until the first mail at the sink, ms', firstMs.toFixed(0)],
  ['RSS now / at most, MB', memoryText()],
  ['delivered meanwhile', String(sink.count())],
  ['accepting meanwhile, p50 / p99 ms', `${ms(0.5)} / ${ms(0.99)}`],
  ['load average', loadAverage()],
])
await appliance.stop()
sink.process.kill()
process.exit(0)

function memoryText() {
  const { pid } = appliance
  return `${memoryMb(pid, 'VmRSS').toFixed(0)} / ${memoryMb(pid, 'VmHWM').toFixed(0)}`
}

function ms(share: number) {
  return quantile(latencies, share).toFixed(1)
}
