/*
 * What the API takes in, durably, with nothing going out: `node dist/test/bench/accept.js`
 *   --seconds 10 a saturated run   --mails 1000000 of the memory run (0: none)
 *   --log 10000000 mails already in the log for the last run (0: none; needs 6 GB of disk)
 * 10 KB mails (html and text), scheduled for tomorrow so that outbound is idle; rate limit off; wrk
 * with 50 connections on the same machine. Beside it, in the same run: a bare hyper-express handler
 * that parses the same JSON, and better-sqlite3 alone writing the same bytes, 100 rows a commit.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { fillLog } from './fill-log.js'
import { launched, loadAverage, rsaSignatures } from './rig.js'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    mails: { type: 'string', default: '1000000' },
    log: { type: 'string', default: '10000000' },
  },
})
const seconds = Number(values.seconds)
const memoryMails = Number(values.mails)
const logMails = Number(values.log)
const port = 18_082
const url = `http://127.0.0.1:${port}`
const cli = fileURLToPath(new URL('../../../bin/posthorn', import.meta.url))
const bareServer = fileURLToPath(new URL('./bare-server.js', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'posthorn-accept-'))
const content = { html: `<p>${'word '.repeat(1_020)}</p>`, text: 'word '.repeat(1_020) }
const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()

try {
  line('RSA-2048 signatures/s of a core, load average', `${rsaSignatures()}, ${loadAverage()}`)
  const bare = await withProcess([bareServer, String(port)], async () =>
    wrk(script('bare', '/v1/emails/send', 'none', JSON.stringify(mail(1))), 50),
  )
  line('bare hyper-express, parses the same JSON', `${bare.perSecond.toFixed(0)}/s`)
  const raw = rawCommits(join(dir, 'raw.db'))
  line('better-sqlite3 alone, 100 rows a commit', `${raw.toFixed(0)} rows/s`)

  const empty = { dir: join(dir, 'empty'), apiKey: init(join(dir, 'empty')) }
  await appliance(empty, async (running) => {
    const p = await openLoop(running, 500, 2 * seconds)
    line('open loop 500/s: p50 / p99 / max, ms', [p.p50, p.p99, p.max].map(ms).join(' / '))
  })
  const alone = await rounds([empty])
  print('', alone[0], bare.perSecond, raw)
  if (memoryMails > 0) await appliance(empty, memory)
  if (logMails > 0) {
    const full = { dir: join(dir, 'full'), apiKey: init(join(dir, 'full')) }
    line('filling a log', `${logMails} mails in ${fillLog(full.dir, logMails)} s`)
    const both = await rounds([empty, full])
    line(
      'with them in the log, ratio to without: single sends',
      ratio(both[1].single, both[0].single),
    )
    line('  batches', ratio(both[1].batch, both[0].batch))
  }
} finally {
  rmSync(dir, { recursive: true, force: true })
}

interface Running {
  pid: number
  apiKey: string
}

interface Place {
  dir: string
  apiKey: string
}

/** The medians of three rounds, the places in turn: other work on the machine meets all of them. */
async function rounds<T extends readonly [Place, ...Place[]]>(
  places: T,
): Promise<{ [K in keyof T]: Figures }> {
  const found = places.map((): Figures[] => [])
  for (let round = 0; round < 3; round++) {
    for (const [i, place] of places.entries()) found[i]?.push(await appliance(place, saturate))
  }
  const median = (figures: Figures[], of: keyof Figures) =>
    figures.map((one) => one[of]).sort((a, b) => a - b)[1] ?? 0
  return found.map((figures) => ({
    single: median(figures, 'single'),
    singleP99: median(figures, 'singleP99'),
    batch: median(figures, 'batch'),
  })) as { [K in keyof T]: Figures }
}

interface Figures {
  /** Mails a second. */
  single: number
  batch: number
  singleP99: number
}

function mail(i: number) {
  const to = `r${i}@d${i % 20}.test`
  return { from: 'Bench <bench@example.test>', to, subject: `Mail ${i}`, ...content, scheduledAt }
}

async function saturate({ apiKey }: Running): Promise<Figures> {
  const one = JSON.stringify(mail(1))
  const hundred = JSON.stringify({ emails: Array.from({ length: 100 }, (_, i) => mail(i)) })
  const single = await wrk(script('send', '/v1/emails/send', apiKey, one), 50)
  const batch = await wrk(script('batch', '/v1/emails/batch', apiKey, hundred), 50)
  return { single: single.perSecond, singleP99: single.p99, batch: batch.perSecond * 100 }
}

function print(prefix: string, { single, singleP99, batch }: Figures, bare: number, raw: number) {
  line(`${prefix}single sends, 50 connections`, `${single.toFixed(0)}/s, p99 ${ms(singleP99)} ms`)
  line(
    '  ratio to bare hyper-express, to raw SQLite',
    `${ratio(single, bare)}, ${ratio(single, raw)}`,
  )
  line(`${prefix}batches of 100`, `${batch.toFixed(0)} mails/s`)
  line('  ratio to raw SQLite', ratio(batch, raw))
}

/** Sends at a fixed pace whatever the answers do; a request's time counts from when it was due. */
async function openLoop({ apiKey }: Running, perSecond: number, forSeconds: number) {
  const body = JSON.stringify(mail(1))
  const request = `POST /v1/emails/send HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  const free: Socket[] = []
  const waiting: number[] = []
  const dueAt = new Map<Socket, number>()
  const took: number[] = []
  const start = (socket: Socket, due: number) => {
    dueAt.set(socket, due)
    socket.write(request)
  }
  for (let i = 0; i < 50; i++) {
    const socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true)
    await new Promise((resolve) => socket.once('connect', resolve))
    let seen = ''
    socket.on('data', (chunk) => {
      seen += chunk.toString('latin1')
      if (!seen.includes('"message":"Email scheduled"}')) return
      seen = ''
      took.push(performance.now() - (dueAt.get(socket) ?? 0))
      const next = waiting.shift()
      if (next === undefined) free.push(socket)
      else start(socket, next)
    })
    free.push(socket)
  }
  const total = perSecond * forSeconds
  const began = performance.now()
  for (let sent = 0; took.length < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - began) * perSecond) / 1_000))
    for (; sent < due; sent++) {
      const at = began + (sent * 1_000) / perSecond
      // In turn: one left idle for long would be closed.
      const socket = free.shift()
      if (socket === undefined) waiting.push(at)
      else start(socket, at)
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
    if (performance.now() - began > forSeconds * 3_000)
      throw new Error(`${took.length} of ${total}`)
  }
  for (const socket of [...dueAt.keys(), ...free]) socket.destroy()
  took.sort((a, b) => a - b)
  const at = (share: number) => took[Math.min(total - 1, Math.floor(total * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99), max: at(1) }
}

/** Batches until a million mails more are in; the first fifth is the warm-up. */
async function memory({ pid, apiKey }: Running): Promise<void> {
  const hundred = JSON.stringify({ emails: Array.from({ length: 100 }, (_, i) => mail(i)) })
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  let left = memoryMails
  const samples: number[] = []
  const client = async () => {
    while (left > 0) {
      left -= 100
      if ((left / 100) % 100 === 0) samples.push(rssMb(pid))
      const response = await fetch(`${url}/v1/emails/batch`, {
        method: 'POST',
        headers,
        body: hundred,
      })
      if (response.status !== 200) throw new Error(await response.text())
      await response.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: 8 }, client))
  const warm = samples.slice(Math.floor(samples.length / 5))
  const mean = (part: number[]) => part.reduce((sum, value) => sum + value, 0) / part.length
  const fifth = Math.ceil(warm.length / 5)
  const growth = mean(warm.slice(-fifth)) - mean(warm.slice(0, fifth))
  line(
    `RSS over ${memoryMails} mails`,
    `${mean(warm).toFixed(0)} MB, growth ${growth.toFixed(0)} MB`,
  )
}

/** The bytes of a mail's rows without their SQL: what committing alone could do. */
function rawCommits(file: string): number {
  const db = new Database(file)
  db.pragma('journal_mode = wal')
  db.pragma('synchronous = full')
  db.exec('create table bodies (id integer primary key, html text, text text) strict')
  const insert = db.prepare('insert into bodies (html, text) values (?, ?)')
  const hundred = db.transaction(() => {
    for (let i = 0; i < 100; i++) insert.run(content.html, content.text)
  })
  const began = performance.now()
  let commits = 0
  for (; performance.now() - began < seconds * 500; commits++) hundred()
  const perSecond = (commits * 100) / ((performance.now() - began) / 1_000)
  db.close()
  rmSync(file)
  return perSecond
}

function init(dataDir: string): string {
  const args = [cli, 'init', '--sandbox', '--json', '--data', dataDir]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return (JSON.parse(stdout) as { apiKey: string }).apiKey
}

async function appliance<T>(
  { dir: dataDir, apiKey }: Place,
  work: (running: Running) => Promise<T>,
): Promise<T> {
  const config = join(dataDir, 'bench.toml')
  writeFileSync(
    config,
    `[http.private]\nport = ${port}\n[http.public]\nport = ${port + 1}\nhost = "127.0.0.1"\n[http.rate_limit]\n` +
      'requests = 0\n[log]\nlevel = "warn"\n[outbound]\nroute = "direct"\nhelo_name = "bench.test"\n' +
      'max_queued = 100000000\n',
  )
  return await withProcess([cli, 'serve', '--data', dataDir, '--config', config], (pid) =>
    work({ pid, apiKey }),
  )
}

async function withProcess<T>(args: string[], work: (pid: number) => Promise<T>): Promise<T> {
  const { flags, env } = launched(cli)
  const stdio = ['ignore', 'ignore', 'inherit'] as const
  const child = spawn(process.execPath, [...flags, ...args], { env, stdio: [...stdio] })
  try {
    await answers(child)
    return await work(child.pid ?? 0)
  } finally {
    child.kill('SIGTERM')
    await new Promise((resolve) => child.once('exit', resolve))
  }
}

async function answers(child: ChildProcess): Promise<void> {
  for (let i = 0; i < 600; i++) {
    if (child.exitCode !== null) throw new Error(`${child.spawnargs.join(' ')} ended`)
    const up = await fetch(url).then(
      () => true,
      () => false,
    )
    if (up) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('The server does not start')
}

/** A wrk script that posts one body and stops the run on anything but a 200. */
function script(name: string, path: string, apiKey: string, body: string): string {
  const file = join(dir, `${name}.lua`)
  writeFileSync(
    file,
    `wrk.method = "POST"\nwrk.path = "${path}"\nwrk.headers["Authorization"] = "Bearer ${apiKey}"\n` +
      `wrk.headers["Content-Type"] = "application/json"\nwrk.body = [==[${body}]==]\n` +
      'response = function(status) if status ~= 200 then print("status", status) os.exit(1) end end\n',
  )
  return file
}

async function wrk(file: string, connections: number): Promise<{ perSecond: number; p99: number }> {
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '--timeout', '30s']
  const child = spawn('wrk', [...args, '-s', file, url], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  await new Promise((resolve) => child.once('close', resolve))
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1])
  const p99 = /99%\s+([\d.]+)(us|ms|s)/.exec(output)
  if (!perSecond || p99 === null) throw new Error(output)
  const unit = { us: 0.001, ms: 1, s: 1_000 }[p99[2] ?? 'ms'] ?? 1
  return { perSecond, p99: Number(p99[1]) * unit }
}

function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
}

function ms(value: number): string {
  return value.toFixed(1)
}

function ratio(a: number, b: number): string {
  return (a / b).toFixed(2)
}

function line(name: string, value: string): void {
  console.log(`${name.padEnd(56)} ${value}`)
}
