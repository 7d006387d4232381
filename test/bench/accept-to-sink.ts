/*
 * From the first API request to the last mail at the sink: `node dist/test/bench/accept-to-sink.js`
 *   --n 5000 mails  --domains 20  --connections 50 HTTP clients at once  --batch 1 mails a request
 * Durable (every 200 is committed, synchronous=FULL), signed with RSA-2048 and Ed25519, 10 KB each,
 * counted by smtp-sink itself. The appliance is a process of its own; the sink and this load
 * generator share the machine with it. For comparison the same run sends the same number of 10 KB
 * mails with smtp-source straight to the sink: what the receiving side alone can take.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '5000' },
    domains: { type: 'string', default: '20' },
    connections: { type: 'string', default: '50' },
    batch: { type: 'string', default: '1' },
  },
})
const [n, domains, connections, batch] = [
  values.n,
  values.domains,
  values.connections,
  values.batch,
].map(Number) as [number, number, number, number]
const sinkPort = 26_25
const cli = fileURLToPath(new URL('../../../bin/posthorn', import.meta.url))
const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-bench-'))

const sink = openSink(sinkPort)
try {
  await sleep(500)
  const rig = await sinkAlone()
  const appliance = await startAppliance()
  try {
    report(rig, await measure(appliance))
  } finally {
    appliance.process.kill('SIGTERM')
    await new Promise((resolve) => appliance.process.once('exit', resolve))
  }
} finally {
  sink.process.kill()
  rmSync(dataDir, { recursive: true, force: true })
}

interface Running {
  process: ChildProcess
  url: string
  apiKey: string
}

interface Figures {
  acceptSeconds: number
  totalSeconds: number
  cpuSeconds: number
  peakRssMb: number
  latencies: number[]
}

async function startAppliance(): Promise<Running> {
  const init = spawnSync(
    process.execPath,
    [cli, 'init', '--sandbox', '--json', '--data', dataDir],
    {
      encoding: 'utf8',
    },
  )
  if (init.status !== 0) throw new Error(init.stderr)
  const { apiKey } = JSON.parse(init.stdout) as { apiKey: string }
  const config = join(dataDir, 'bench.toml')
  writeFileSync(
    config,
    `[http.private]\nport = 18080\n[http.public]\nport = 18081\nhost = "127.0.0.1"\n[http.rate_limit]\nrequests = 0\n` +
      `[log]\nlevel = "warn"\n[outbound]\nroute = "direct"\nwarm_up = "off"\nport = ${sinkPort}\nhelo_name = "bench.test"\n` +
      `allow_private_addresses = true\n[dns.static."*"]\nmx = [{ preference = 10, exchange = "sink.test" }]\n` +
      `[dns.static."sink.test"]\na = ["127.0.0.1"]\n`,
  )
  writeFileSync(
    join(dataDir, 'shaping.toml'),
    '[providers.sink]\nmx = ["sink.test"]\nconnections = 50\n' +
      'messages_per_connection = 10000\nmessages_per_minute = 1000000\n',
  )
  const child = spawn(process.execPath, [cli, 'serve', '--data', dataDir, '--config', config], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const url = 'http://127.0.0.1:18080'
  for (let i = 0; i < 100; i++) {
    const up = await fetch(url).then(
      () => true,
      () => false,
    )
    if (up) return { process: child, url, apiKey }
    await sleep(100)
  }
  throw new Error('The appliance does not start')
}

async function measure({ process: child, url, apiKey }: Running): Promise<Figures> {
  const pid = child.pid ?? 0
  const before = sink.count()
  const cpuBefore = cpuSeconds(pid)
  const content = { html: `<p>${'word '.repeat(1_020)}</p>`, text: 'word '.repeat(1_020) }
  let next = 0
  const latencies: number[] = []
  const mail = () => {
    const i = next++
    const to = `r${i}@d${i % domains}.test`
    return { from: 'Bench <bench@example.test>', to, subject: `Mail ${i}`, ...content }
  }
  const client = async () => {
    while (next < n) {
      const mails = Array.from({ length: Math.min(batch, n - next) }, mail)
      const path = batch === 1 ? '/v1/emails/send' : '/v1/emails/batch'
      const body = JSON.stringify(batch === 1 ? mails[0] : { emails: mails })
      const began = performance.now()
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body,
      })
      const text = await response.text()
      if (response.status !== 200) throw new Error(text)
      latencies.push(performance.now() - began)
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: connections }, client))
  const accepted = performance.now()
  for (let last = 0, lastAt = performance.now(); sink.count() - before < n; ) {
    const arrived = sink.count() - before
    if (arrived > last) [last, lastAt] = [arrived, performance.now()]
    if (performance.now() - lastAt > 30_000) throw new Error(`Only ${arrived} of ${n} arrived`)
    await sleep(10)
  }
  const done = performance.now()
  await sleep(1_000)
  if (sink.count() - before !== n) throw new Error(`${sink.count() - before} arrived, sent ${n}`)
  return {
    acceptSeconds: (accepted - began) / 1_000,
    totalSeconds: (done - began) / 1_000,
    cpuSeconds: cpuSeconds(pid) - cpuBefore,
    peakRssMb: peakRssMb(pid),
    latencies: latencies.sort((a, b) => a - b),
  }
}

function report(rigPerSecond: number, figures: Figures): void {
  const { acceptSeconds, totalSeconds, latencies } = figures
  const at = (share: number) => latencies[Math.floor(latencies.length * share)]?.toFixed(1)
  const rate = n / totalSeconds
  const lines: [string, string][] = [
    ['mails, domains, clients, per request', `${n}, ${domains}, ${connections}, ${batch}`],
    ['accepts/s', (n / acceptSeconds).toFixed(0)],
    ['request p50 / p99 / max, ms', `${at(0.5)} / ${at(0.99)} / ${at(0.99999)}`],
    ['deliveries/s, first request to last mail', rate.toFixed(0)],
    ['CPU seconds per 1,000', ((figures.cpuSeconds / n) * 1_000).toFixed(2)],
    ['peak RSS, MB', figures.peakRssMb.toFixed(0)],
    ['smtp-source straight to the sink, mails/s', rigPerSecond.toFixed(0)],
    ['ratio to that', (rate / rigPerSecond).toFixed(3)],
  ]
  for (const [name, value] of lines) console.log(`${name.padEnd(44)} ${value}`)
}

/** What the sink takes when nobody has to accept, store, compose or sign anything. */
async function sinkAlone(): Promise<number> {
  const began = performance.now()
  const args = ['-s', '20', '-m', String(n), '-l', '10240', '-d', `127.0.0.1:${sinkPort}`]
  const source = spawn('smtp-source', args, { stdio: 'ignore' })
  await new Promise((resolve) => source.once('exit', resolve))
  return n / ((performance.now() - began) / 1_000)
}

function openSink(port: number) {
  let seen = ''
  const child = spawn('smtp-sink', ['-c', '-u', 'root', `127.0.0.1:${port}`, '1000'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.on('data', (chunk: Buffer) => {
    seen = (seen + chunk.toString('latin1')).slice(-400)
  })
  return {
    process: child,
    count: () => Number([...seen.matchAll(/mesg=(\d+)/g)].at(-1)?.[1] ?? 0),
  }
}

/** User and system time of the process with all its threads (proc(5), fields 14 and 15). */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

function peakRssMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
