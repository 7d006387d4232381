/*
 * Opens and clicks beside outbound delivery: `node dist/test/bench/tracking.js`   (needs wrk, smtp-sink)
 *   --n 6000 mails a round  --hits 5000 a second  --rounds 2
 * Rounds alternate: the same queue is delivered without hits and with them. A fifth of the hits are
 * clicks; every one is a person's, so that it is counted and has its event. Bars: 5,000 hits/s
 * answered, p99 below 5 ms, delivery slowed by at most 10 %. wrk, the sink and the appliance share
 * the machine, so `processor time` tells more than the rates where its cores are few.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { applianceKeyFile } from '../../src/app/index.js'
import { systemClock } from '../../src/clock/index.js'
import { openApplianceKey } from '../../src/config/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { makeTrackingTokens } from '../../src/tracking/index.js'
import { fillQueue } from './fill-queue.js'
import {
  cpuSeconds,
  initDataDir,
  loadAverage,
  openSink,
  report,
  serveAppliance,
  sleep,
  untilArrived,
} from './rig.js'

const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '6000' },
    hits: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '2' },
  },
})
const n = Number(values.n)
const hits = Number(values.hits)
const sinkPort = 2_631
// Each connection of wrk waits so long between its requests.
const pauseMs = 20
const nothingAsked = { answered: 0, hitsPerSecond: 0, p50: 0, p99: 0 }

const sink = openSink('127.0.0.1', sinkPort)
await sleep(500)
const { dataDir, apiKey, accountId } = initDataDir()
// Delivered and opened, and not measured: what the first round does not find warm.
await round(false)
const quiet: Measured[] = []
const busy: Measured[] = []
for (let i = 0; i < Number(values.rounds); i++) {
  quiet.push(await round(false))
  busy.push(await round(true))
}
const mean = (rounds: readonly Measured[], of: keyof Measured) =>
  rounds.reduce((sum, measured) => sum + measured[of], 0) / rounds.length
const ratio = mean(busy, 'mailsPerSecond') / mean(quiet, 'mailsPerSecond')
const cpuOfHits =
  (mean(busy, 'cpu') - mean(quiet, 'cpu') * (mean(busy, 'mails') / mean(quiet, 'mails'))) /
  mean(busy, 'hits')
report([
  ['mails a round, rounds', `${n}, ${values.rounds}`],
  ['delivered without hits, mails/s', mean(quiet, 'mailsPerSecond').toFixed(0)],
  ['delivered with hits, mails/s', mean(busy, 'mailsPerSecond').toFixed(0)],
  ['ratio (bar: 0.9 or more)', ratio.toFixed(2)],
  ['hits answered a second', mean(busy, 'hitsPerSecond').toFixed(0)],
  ['answer p50 / p99 ms', `${mean(busy, 'p50').toFixed(2)} / ${mean(busy, 'p99').toFixed(2)}`],
  ['hits that were not counted', mean(busy, 'lost').toFixed(0)],
  ['processor time of the appliance, ms a mail', ((1_000 * mean(quiet, 'cpu')) / n).toFixed(2)],
  ['processor time of the appliance, µs a hit', (1e6 * cpuOfHits).toFixed(0)],
  ['load average', loadAverage()],
])
process.exit(0)

interface Measured {
  mails: number
  mailsPerSecond: number
  cpu: number
  hits: number
  hitsPerSecond: number
  p50: number
  p99: number
  lost: number
}

/** Delivers a queue of n mails from the start of the appliance on, with hits on mails of theirs or not. */
async function round(withHits: boolean): Promise<Measured> {
  await fillQueue(dataDir, { deliveries: n, domains: 20, class: 0 })
  const script = await writeScript()
  const before = { mails: sink.count(), counted: await counted() }
  const appliance = await serveAppliance({
    dataDir,
    apiKey,
    sinkPort,
    connections: 50,
    settings: '[tracking]\nmachine_within = "0s"',
  })
  const wrk = withHits ? startWrk(script, appliance.publicUrl) : undefined
  // Both are at their pace.
  await untilArrived(sink, before.mails, n * 0.1)
  const [began, from, cpu] = [performance.now(), sink.count(), cpuSeconds(appliance.pid)]
  await untilArrived(sink, before.mails, n * 0.95)
  const seconds = (performance.now() - began) / 1_000
  const mails = sink.count() - from
  const cpuTaken = cpuSeconds(appliance.pid) - cpu
  const { answered, ...asked } = wrk === undefined ? nothingAsked : await wrk.stop()
  await untilArrived(sink, before.mails, n)
  await appliance.stop()
  const lost = answered - ((await counted()) - before.counted)
  return {
    mails,
    mailsPerSecond: mails / seconds,
    cpu: cpuTaken,
    ...asked,
    hits: asked.hitsPerSecond * seconds,
    lost,
  }
}

/** All opens and clicks on mails. */
async function counted(): Promise<number> {
  const store = await openStore({ dataDir, clock: systemClock, turns: makeTurns(), slot: 15 })
  const row = await store.read
    .selectFrom('emails')
    .select(({ fn }) => [
      fn.sum<number>('opens').as('opens'),
      fn.sum<number>('clicks').as('clicks'),
    ])
    .executeTakeFirstOrThrow()
  await store.close()
  return row.opens + row.clicks
}

/** The requests, as wrk wants them: one connection after another takes the next. */
async function writeScript(): Promise<string> {
  const store = await openStore({ dataDir, clock: systemClock, turns: makeTurns(), slot: 15 })
  const rows = await store.read.selectFrom('queue').select(['id', 'email_id']).execute()
  await store.close()
  const tokens = makeTrackingTokens(openApplianceKey(applianceKeyFile(dataDir)))
  const paths = rows.map(({ id: deliveryId, email_id: emailId }, i) => {
    const copy = { accountId, emailId, deliveryId }
    if (i % 5 !== 0) return `/o/${tokens.open(copy)}.gif`
    return `/c/${tokens.click({ ...copy, links: 5, target: `https://shop.test/${i % 5}` })}`
  })
  const [list, script] = [join(dataDir, 'paths.txt'), join(dataDir, 'hits.lua')]
  writeFileSync(list, paths.join('\n'))
  const headers = '["User-Agent"]="Mozilla/5.0 (X11; Linux x86_64) Thunderbird/140"'
  writeFileSync(
    script,
    `local paths = {}\nfor line in io.lines("${list}") do paths[#paths + 1] = line end\n` +
      `local i = 0\nfunction delay() return ${pauseMs} end\n` +
      `function request()\n  i = i + 1\n  return wrk.format("GET", paths[i % #paths + 1], {${headers}})\nend\n` +
      'function done(summary, latency)\n  io.write(string.format("%d %d %f %f\\n", summary.requests, ' +
      'summary.duration, latency:percentile(50) / 1000, latency:percentile(99) / 1000))\nend\n',
  )
  return script
}

function startWrk(script: string, url: string) {
  const connections = Math.round(hits / (1_000 / (pauseMs + 1)))
  const args = ['-t', '1', '-c', String(connections), '-d', '600', '-s', script]
  const child: ChildProcess = spawn('wrk', [...args, url], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk
  })
  process.once('exit', () => child.kill())
  return {
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGINT')
      await ended
      const [answered = 0, micros = 1, p50 = 0, p99 = 0] =
        /^(\d+) (\d+) ([\d.]+) ([\d.]+)$/m.exec(output)?.slice(1).map(Number) ?? []
      return { answered, hitsPerSecond: (answered / micros) * 1e6, p50, p99 }
    },
  }
}
