/*
 * Password resets beside a campaign: `node dist/test/bench/saturated-campaign.js`
 *   --n 1000000 deliveries of the campaign  --seconds 30  --connections 20  --delay 200 ms a message
 * A campaign fills one site, whose receiver takes 200 ms for each message; five transactional mails a
 * second go to the same site and five to another one. Measured from the request until their MAIL
 * comes to the receiver. Bar: p99 below 500 ms.
 */
import { parseArgs } from 'node:util'
import { openDelaySink } from './delay-sink.js'
import { fillQueue } from './fill-queue.js'
import { initDataDir, loadAverage, quantile, report, serveAppliance, sleep } from './rig.js'

const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '30' },
    connections: { type: 'string', default: '20' },
    delay: { type: 'string', default: '200' },
  },
})
const sinkPort = 2_628
const everyMs = 200

const { dataDir, apiKey } = initDataDir()
const campaign = { deliveries: Number(values.n), domains: 20, class: 2, recipients: 50 } as const
const filledIn = await fillQueue(dataDir, campaign)
const mailAt = new Map<string, number>()
const sink = await openDelaySink(sinkPort, Number(values.delay), (recipient, at) => {
  if (recipient.startsWith('reset')) mailAt.set(recipient, at)
})
const appliance = await serveAppliance({
  dataDir,
  apiKey,
  sinkPort,
  connections: Number(values.connections),
  dns:
    `[dns.static."*"]\nmx = [{ preference = 10, exchange = "sink.test" }]\n` +
    `[dns.static."sink.test"]\na = ["127.0.0.1"]\n` +
    `[dns.static."other.test"]\nmx = [{ preference = 10, exchange = "other.example" }]\n` +
    `[dns.static."other.example"]\na = ["127.0.0.1"]\n`,
})
while (sink.count() < 200) await sleep(50)

const askedAt = new Map<string, number>()
const before = sink.count()
const began = performance.now()
for (let i = 0; performance.now() - began < Number(values.seconds) * 1_000; i++) {
  for (const domain of ['d1.test', 'other.test']) {
    const to = `reset${i}@${domain}`
    askedAt.set(to, performance.now())
    const mail = { from: 'a@example.test', to, subject: 'Your password', html: '<p>reset</p>' }
    await appliance.post('/v1/emails/send', mail)
  }
  await sleep(Math.max(0, began + (i + 1) * everyMs - performance.now()))
}
const seconds = (performance.now() - began) / 1_000
const campaignRate = (sink.count() - before - askedAt.size) / seconds
await sleep(3_000)
const waits = (domain: string) =>
  [...askedAt]
    .filter(([to]) => to.endsWith(domain))
    .map(([to, at]) => (mailAt.get(to) ?? Number.POSITIVE_INFINITY) - at)
const shown = (domain: string) =>
  [0.5, 0.99, 1].map((share) => quantile(waits(domain), share).toFixed(0)).join(' / ')
report([
  ['campaign, connections, ms a message', `${values.n}, ${values.connections}, ${values.delay}`],
  ['the queue was filled in, s', String(filledIn)],
  ['campaign mails/s meanwhile', campaignRate.toFixed(0)],
  ['transactional mails', String(askedAt.size)],
  ['request to MAIL, same site, p50 / p99 / max ms', shown('d1.test')],
  ['request to MAIL, another site, p50 / p99 / max ms', shown('other.test')],
  ['load average', loadAverage()],
])
await appliance.stop()
process.exit(0)
