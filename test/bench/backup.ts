/*
 * Accepting and delivering with a backup running : without. `node dist/test/bench/backup.js`
 *   --mails 300000 in the log before  --seconds 20 a round  --rounds 3  --rate 60 requests/s for the latencies
 * Each round loads the appliance once without and once with backups one after another, in turn first. What is signed a second
 * (openssl) stands beside, as the machine's measure.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { cliEntry } from '../support/process.js'
import { benchContent } from './content.js'
import { fillLog } from './fill-log.js'
import {
  type Appliance,
  initDataDir,
  openSink,
  quantile,
  report,
  rsaSignatures,
  serveAppliance,
  sleep,
} from './rig.js'

const { values } = parseArgs({
  options: {
    mails: { type: 'string', default: '300000' },
    seconds: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '50' },
    rate: { type: 'string', default: '60' },
  },
})
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
const sinkPort = 2_627
const sink = openSink('127.0.0.1', sinkPort)
const { dataDir, apiKey } = initDataDir()
console.log(`filled in ${fillLog(dataDir, Number(values.mails))} s`)
const appliance = await serveAppliance({ dataDir, apiKey, sinkPort, connections: 50 })
const databaseMb = statSync(join(dataDir, 'posthorn.db')).size / 1e6
const sums = { without: newSum(), with: newSum() }
for (let round = 0; round < rounds; round++) {
  // The log grows from round to round: who is first changes.
  const order = [() => measure(appliance, sums.without), measureBeside]
  for (const step of round % 2 === 0 ? order : order.reverse()) await step()
}
await appliance.stop()
const { without, with: beside } = sums
const ratio = (of: (sum: Sum) => number) => (of(beside) / of(without)).toFixed(3)
const latencies = ({ tookMs }: Sum) =>
  [0.5, 0.99, 1].map((share) => quantile(tookMs, share).toFixed(1)).join(' / ')
report([
  ['database, MB', databaseMb.toFixed(0)],
  ['RSA-2048 signatures/s', rsaSignatures().toFixed(0)],
  ['accepted/s without, with', `${rateOf(without.accepted)}, ${rateOf(beside.accepted)}`],
  ['delivered/s without, with', `${rateOf(without.delivered)}, ${rateOf(beside.delivered)}`],
  ['accepted, ratio (bar 0.9)', ratio(({ accepted }) => accepted)],
  ['delivered, ratio (bar 0.9)', ratio(({ delivered }) => delivered)],
  ['API at a set rate, p50 / p99 / max ms, without', latencies(without)],
  ['the same with backups (bar: p99 < 50)', latencies(beside)],
  ['backups ended meanwhile', String(beside.backups)],
  ['largest log, MB, without, with', `${without.walMb.toFixed(0)}, ${beside.walMb.toFixed(0)}`],
])
process.exit(0)

async function measureBeside(): Promise<void> {
  const backups = startBackups()
  await measure(appliance, sums.with)
  sums.with.backups += await backups.stop()
}

interface Sum {
  accepted: number
  delivered: number
  tookMs: number[]
  backups: number
  walMb: number
}

function newSum(): Sum {
  return { accepted: 0, delivered: 0, tookMs: [], backups: 0, walMb: 0 }
}

function rateOf(count: number): string {
  return (count / (seconds * rounds)).toFixed(0)
}

/** As much as goes in for the whole time, then for half of it at a set rate, for the latencies. */
async function measure({ post }: Appliance, sum: Sum): Promise<void> {
  const { text, html } = benchContent()
  const mail = () => {
    const to = `r@d${Math.floor(Math.random() * 20)}.test`
    return post('/v1/emails/send', {
      from: 'Bench <bench@example.test>',
      to,
      subject: 'Mail',
      text,
      html,
    })
  }
  const before = sink.count()
  const end = performance.now() + seconds * 1_000
  const client = async () => {
    for (; performance.now() < end; sum.accepted++) await mail()
  }
  await Promise.all(Array.from({ length: Number(values.clients) }, client))
  sum.walMb = Math.max(sum.walMb, statSync(join(dataDir, 'posthorn.db-wal')).size / 1e6)
  sum.delivered += sink.count() - before
  // What is left leaves before the next measure begins.
  for (let last = -1; last !== sink.count(); await sleep(2_000)) last = sink.count()
  const pending: Promise<void>[] = []
  for (let i = 0; i < (seconds / 2) * Number(values.rate); i++) {
    const asked = performance.now()
    pending.push(mail().then(() => void sum.tookMs.push(performance.now() - asked)))
    await sleep(1_000 / Number(values.rate))
  }
  await Promise.all(pending)
}

/** One after another, each by a process of its own, as the job makes them. */
function startBackups() {
  const dir = join(dataDir, 'bench-backups')
  mkdirSync(dir, { recursive: true })
  let ended = 0
  let stopped = false
  const run = async () => {
    while (!stopped) {
      const args = [cliEntry, 'backup', dir, '--data', dataDir]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
      let said = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
      const status = await new Promise((resolve) => child.once('close', resolve))
      if (status !== 0) throw new Error(`A backup ended with ${status}: ${said}`)
      ended++
    }
  }
  const running = run()
  return {
    /** How many there were; waits for the one under way. */
    async stop() {
      stopped = true
      await running
      return ended
    },
  }
}
