/*
 * What memory an appliance has: `node dist/test/bench/memory.js`
 *   --n 20000 mails to send  --accepted 20000 more that are accepted for tomorrow  --batch 100 mails a request
 * Prints the PSS (proc(5): a page that several processes have is shared among them) fresh and idle, at most while the
 * mails are sent, idle after that, and idle with the others in the queue; and the CPU time of a minute in which nothing
 * happens.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { benchContent } from './content.js'
import {
  type Appliance,
  cpuSeconds,
  initDataDir,
  loadAverage,
  openSink,
  report,
  rsaSignatures,
  serveAppliance,
  sleep,
  untilArrived,
} from './rig.js'

const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '20000' },
    accepted: { type: 'string', default: '20000' },
    batch: { type: 'string', default: '100' },
  },
})
const n = Number(values.n)
const accepted = Number(values.accepted)
const batch = Number(values.batch)
const sinkPort = 2_636
const clients = 8
// Longer than a thread has to be quiet until it gives back its memory (src/app/thread-meter.ts).
const quietMs = 45_000
// Mail is entered by its recipients a minute behind; the checkpoint thread ends half a minute after that.
const doneMs = 150_000
const dayMs = 86_400_000

const sink = openSink('127.0.0.1', sinkPort)
const { dataDir, apiKey } = initDataDir()
const appliance = await serveAppliance({ dataDir, apiKey, sinkPort, connections: 50 })
await sleep(quietMs)
const fresh = pss()
const before = cpuSeconds(appliance.pid)
await sleep(60_000)
const idleCpu = (cpuSeconds(appliance.pid) - before) / 60

let most = 0
const look = setInterval(() => {
  most = Math.max(most, pss())
}, 250)
const began = performance.now()
await send(appliance, n)
await untilArrived(sink, 0, n)
const rate = n / ((performance.now() - began) / 1_000)
clearInterval(look)
await sleep(doneMs)
const afterSent = pss()
await send(appliance, accepted, { scheduledAt: new Date(Date.now() + dayMs).toISOString() })
await sleep(doneMs)
report([
  ['PSS fresh and idle, MB', fresh.toFixed(0)],
  ['CPU when idle, % of a core', (idleCpu * 100).toFixed(2)],
  [`PSS at most while ${n} are sent, MB`, most.toFixed(0)],
  ['deliveries/s', rate.toFixed(0)],
  ['PSS idle after that, MB', afterSent.toFixed(0)],
  [`PSS idle with ${accepted} more accepted, MB`, pss().toFixed(0)],
  ['RSA-2048 signatures/s of a core, load average', `${rsaSignatures()}, ${loadAverage()}`],
])
await appliance.stop()
sink.process.kill()
process.exit(0)

async function send({ post }: Appliance, mails: number, more: object = {}) {
  const { text, html } = benchContent()
  let next = 0
  const client = async () => {
    while (next < mails) {
      const emails = Array.from({ length: Math.min(batch, mails - next) }, () => {
        const i = next++
        const to = `r${i}@d${i % 20}.test`
        return { from: 'Bench <bench@example.test>', to, subject: `Mail ${i}`, text, html, ...more }
      })
      await post('/v1/emails/batch', { emails })
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
}

/** Of the appliance, in MB. */
function pss(): number {
  const rollup = readFileSync(`/proc/${appliance.pid}/smaps_rollup`, 'utf8')
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1]) / 1_024
}
