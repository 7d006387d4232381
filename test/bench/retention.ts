import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { loadPlans } from '../../src/billing/index.js'
import { systemClock } from '../../src/clock/index.js'
import { loadConfig, packageFile } from '../../src/config/index.js'
import { silentLog } from '../../src/log/index.js'
import { runRetention } from '../../src/retention/index.js'
import { rollUp } from '../../src/stats/index.js'
import { databaseFile, makeTurns, migrateStore, openStore } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { day, openMailLog } from '../support/mail-log.js'
import { initSandbox } from '../support/process.js'
import { benchTest } from './bench-test.js'
import { fillLog } from './fill-log.js'

/*
 * What retention costs, and whether the file stays as it is.
 *     node dist/test/bench/retention.js --days 60 --mails 300000 --log 10000000 --seconds 60
 *   --days, --mails: a simulated time of so many mails a day of 4 KB on the plan Growth (30 days), by a clock
 *     that is moved; a line a day with the size of the file and what is free in it (0 days: none). From
 *     day 31 on it is to be flat.
 *   --log: so many old mails in the log; then batches over HTTP for --seconds without retention, and with it
 *     under way in a thread of its own: mails a second, and p99 of a single GET beside them (0: none).
 */
const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '60' },
    mails: { type: 'string', default: '300' },
    log: { type: 'string', default: '0' },
    seconds: { type: 'string', default: '10' },
  },
})
const port = 18_092
const cli = fileURLToPath(new URL('../../../bin/posthorn', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'posthorn-retention-'))
const { t, end } = benchTest()
try {
  if (Number(values.days) > 0) await simulate(Number(values.days), Number(values.mails))
  if (Number(values.log) > 0) await besideLoad(Number(values.log), Number(values.seconds))
} finally {
  await end()
  rmSync(root, { recursive: true, force: true })
}

async function simulate(days: number, mails: number): Promise<void> {
  const dataDir = join(root, 'month')
  await migrateStore(dataDir)
  const clock = new FakeClock()
  const store = openStore({ dataDir, clock, turns: makeTurns(), slot: 0 })
  const log = await openMailLog(t, { store, clock, dataDir })
  const filler = 'word '.repeat(700)
  for (let today = 1; today <= days; today++) {
    const began = performance.now()
    for (let n = 0; n < mails; n += 500) {
      await log.accept(
        Array.from({ length: Math.min(500, mails - n) }, (_, i) => ({
          html: `<p>${today} ${n + i} ${filler}</p>`,
          to: [`r${n + i}@d${i % 20}.test`],
        })),
      )
      await log.deliver()
      await clock.advance((day / mails) * 500)
      store.checkpoint()
    }
    const filled = performance.now()
    const { summary } = await log.run()
    store.checkpoint()
    const mib = statSync(databaseFile(dataDir)).size / 1_048_576
    const took = ((performance.now() - filled) / 1_000).toFixed(1)
    const fill = ((filled - began) / 1_000).toFixed(1)
    console.log(`day ${today}: ${mib.toFixed(1)} MiB; filled in ${fill} s, ${took} s: ${summary}`)
  }
  await store.close()
}

async function besideLoad(mails: number, seconds: number): Promise<void> {
  const dataDir = join(root, 'load')
  const { apiKey } = initSandbox(dataDir)
  console.log(`filled a log of ${mails} mails in ${fillLog(dataDir, mails)} s`)
  const config = join(root, 'load.toml')
  writeFileSync(
    config,
    `[http.private]\nport = ${port}\n[http.public]\nport = ${port + 1}\nhost = "127.0.0.1"\n` +
      '[http.rate_limit]\nrequests = 0\n[log]\nlevel = "error"\n[sandbox]\nsmtp_port = 0\n' +
      '[jobs]\nretention = "off"\n',
  )
  const serving = spawn(process.execPath, [cli, 'serve', '--data', dataDir, '--config', config], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  try {
    await up(serving)
    await load(apiKey, seconds / 4)
    const without = await load(apiKey, seconds)
    const deleting = startDeleting(dataDir)
    const withIt = await load(apiKey, seconds)
    const gone = await deleting.stop()
    const shown = ({ rate, p99 }: Load) =>
      `${rate.toFixed(0)} mails/s, GET p99 ${p99.toFixed(1)} ms`
    console.log(`without: ${shown(without)}\nwith:    ${shown(withIt)}; ${gone}`)
    console.log(`ratio:   ${(withIt.rate / without.rate).toFixed(2)}`)
  } finally {
    serving.kill('SIGTERM')
    await new Promise((resolve) => serving.once('exit', resolve))
  }
}

/** In this process, which is another one than the appliance: SQLite's own lock stands for the turns. */
function startDeleting(dataDir: string): { stop(): Promise<string> } {
  const clock = systemClock
  const store = openStore({ dataDir, clock, turns: makeTurns(), slot: 12, background: true })
  const stopping = new AbortController()
  const plans = loadPlans(packageFile('config/plans.toml'))
  const ages = loadConfig({ env: {} }).retention
  const run = async () => {
    while (await rollUp(store, 5_000)) {}
    return await runRetention(
      { store, clock, log: silentLog, plans, ages, dataDir },
      stopping.signal,
    )
  }
  const running = run()
  return {
    async stop() {
      stopping.abort()
      const { summary, figures } = await running
      await store.close()
      return `${summary} ${JSON.stringify(figures)}`
    },
  }
}

interface Load {
  rate: number
  p99: number
}

/** Eight clients send batches of 100 as fast as they are answered; a ninth reads a mail now and then. */
async function load(apiKey: string, seconds: number): Promise<Load> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const url = `http://127.0.0.1:${port}/v1/emails`
  const until = performance.now() + seconds * 1_000
  let accepted = 0
  let known = ''
  const html = `<p>${'word '.repeat(700)}</p>`
  const sender = async (client: number) => {
    for (let n = 0; performance.now() < until; n++) {
      const emails = Array.from({ length: 100 }, (_, i) => ({
        ...{ from: 'a@example.test', to: `r${i}@d${i % 20}.test`, subject: 's' },
        html: `${client} ${n} ${html}`,
      }))
      const body = JSON.stringify({ emails })
      const response = await fetch(`${url}/batch`, { method: 'POST', headers, body })
      const { ids = [] } = (await response.json()) as { ids?: string[] }
      accepted += ids.length
      known = ids[0] ?? known
    }
  }
  const tookMs: number[] = []
  const reader = async () => {
    while (performance.now() < until) {
      const began = performance.now()
      await (await fetch(`${url}/${known}`, { headers })).arrayBuffer()
      tookMs.push(performance.now() - began)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  await Promise.all([...Array.from({ length: 8 }, (_, client) => sender(client)), reader()])
  tookMs.sort((a, b) => a - b)
  return { rate: accepted / seconds, p99: tookMs[Math.floor(0.99 * tookMs.length)] ?? 0 }
}

async function up(serving: ChildProcess): Promise<void> {
  for (let i = 0; i < 600; i++) {
    if (serving.exitCode !== null) throw new Error('The appliance has ended')
    const is = await fetch(`http://127.0.0.1:${port}`).then(
      () => true,
      () => false,
    )
    if (is) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('The appliance does not start')
}
