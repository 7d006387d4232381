/*
 * From the first API request to the last mail at the sink: `node dist/test/bench/accept-to-sink.js`
 *   --n 5000 mails  --domains 20  --connections 50 HTTP clients at once  --batch 1 mails a request
 * Durable (every 200 is committed, synchronous=FULL), signed with RSA-2048 and Ed25519, 10 KB each,
 * counted by smtp-sink itself. The appliance is a process of its own; the sink and this load
 * generator share the machine with it. For comparison the same run sends the same number of 10 KB
 * mails with smtp-source straight to the sink: what the receiving side alone can take.
 */
import { parseArgs } from 'node:util'
import { benchContent } from './content.js'
import {
  type Appliance,
  cpuSeconds,
  initDataDir,
  memoryMb,
  openSink,
  quantile,
  report,
  serveAppliance,
  sleep,
  sourceStraight,
  untilArrived,
} from './rig.js'

const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '5000' },
    domains: { type: 'string', default: '20' },
    connections: { type: 'string', default: '50' },
    batch: { type: 'string', default: '1' },
  },
})
const n = Number(values.n)
const domains = Number(values.domains)
const clients = Number(values.connections)
const batch = Number(values.batch)
const sinkPort = 2_625

const sink = openSink('127.0.0.1', sinkPort)
await sleep(500)
const rigPerSecond = await sourceStraight(sinkPort, n)
const { dataDir, apiKey } = initDataDir()
const appliance = await serveAppliance({ dataDir, apiKey, sinkPort, connections: 50 })
await measure(appliance)
await appliance.stop()
process.exit(0)

async function measure({ pid, post }: Appliance): Promise<void> {
  const before = sink.count()
  const cpuBefore = cpuSeconds(pid)
  const { text, html } = benchContent()
  let next = 0
  const latencies: number[] = []
  const mail = () => {
    const i = next++
    const to = `r${i}@d${i % domains}.test`
    return { from: 'Bench <bench@example.test>', to, subject: `Mail ${i}`, text, html }
  }
  const client = async () => {
    while (next < n) {
      const mails = Array.from({ length: Math.min(batch, n - next) }, mail)
      const began = performance.now()
      if (batch === 1) await post('/v1/emails/send', mails[0] ?? {})
      else await post('/v1/emails/batch', { emails: mails })
      latencies.push(performance.now() - began)
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: clients }, client))
  const acceptSeconds = (performance.now() - began) / 1_000
  await untilArrived(sink, before, n)
  const rate = n / ((performance.now() - began) / 1_000)
  await sleep(1_000)
  if (sink.count() - before !== n) throw new Error(`${sink.count() - before} arrived, sent ${n}`)
  const at = (share: number) => quantile(latencies, share).toFixed(1)
  report([
    ['mails, domains, clients, per request', `${n}, ${domains}, ${clients}, ${batch}`],
    ['accepts/s', (n / acceptSeconds).toFixed(0)],
    ['request p50 / p99 / max, ms', `${at(0.5)} / ${at(0.99)} / ${at(1)}`],
    ['deliveries/s, first request to last mail', rate.toFixed(0)],
    ['CPU seconds per 1,000', (((cpuSeconds(pid) - cpuBefore) / n) * 1_000).toFixed(2)],
    ['peak RSS, MB', memoryMb(pid, 'VmHWM').toFixed(0)],
    ['smtp-source straight to the sink, mails/s', rigPerSecond.toFixed(0)],
    ['ratio to that', (rate / rigPerSecond).toFixed(3)],
  ])
}
