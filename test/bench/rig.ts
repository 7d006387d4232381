import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../support/free-port.js'

/** What the end-to-end benches share: an appliance as a process of its own, and Postfix's smtp-sink. */
export interface Appliance {
  process: ChildProcess
  pid: number
  url: string
  publicUrl: string
  apiKey: string
  /** From the start of the process until its API answered. */
  startedInMs: number
  /** A Buffer is sent as it is. */
  post(path: string, body: object): Promise<void>
  stop(): Promise<void>
}

const ownTree = fileURLToPath(new URL('../../..', import.meta.url))
const cliOf = (tree: string) => join(tree, 'bin/posthorn')

/** A data directory with an account, its key and the domain example.test; gone at the end, unless it is `kept`. */
export function initDataDir(
  kept?: string,
  tree = ownTree,
): { dataDir: string; apiKey: string; accountId: string } {
  const dataDir = kept ?? mkdtempSync(join(tmpdir(), 'posthorn-bench-'))
  if (kept === undefined) {
    process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }))
  }
  const args = [cliOf(tree), 'init', '--sandbox', '--json', '--data', dataDir]
  const init = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (init.status !== 0) throw new Error(init.stderr)
  return { dataDir, ...(JSON.parse(init.stdout) as { apiKey: string; accountId: string }) }
}

export interface ServeOptions {
  dataDir: string
  apiKey: string
  sinkPort: number
  /** Of the one site that all domains lead to, unless `hosts` has others. */
  connections: number
  /** MX host of a domain → its address; the default is one host for all. */
  dns?: string
  shaping?: string
  settings?: string
  /** Lines of `[inbound]`; it is switched off by default. */
  inbound?: string
  /** More than node's own, such as --cpu-prof. */
  nodeArgs?: readonly string[]
  /** Another built checkout than this one. */
  tree?: string | undefined
}

/** `posthorn serve`, delivering to the sink on this machine without warm-up or rate. */
export async function serveAppliance(options: ServeOptions): Promise<Appliance> {
  const { dataDir, apiKey, sinkPort, connections, nodeArgs = [], tree = ownTree } = options
  const config = join(dataDir, 'bench.toml')
  const dns =
    options.dns ??
    `[dns.static."*"]\nmx = [{ preference = 10, exchange = "sink.test" }]\n` +
      `[dns.static."sink.test"]\na = ["127.0.0.1"]\n`
  // Not 0: with the log at `warn` nothing says which ports they became.
  const [port, publicPort] = [await freePort(), await freePort()]
  const publicUrl = `http://127.0.0.1:${publicPort}`
  writeFileSync(
    config,
    `[http.private]\nport = ${port}\n[http.public]\nport = ${publicPort}\nhost = "127.0.0.1"\nurl = "${publicUrl}"\n` +
      `[http.rate_limit]\nrequests = 0\n[inbound]\n${options.inbound ?? 'enabled = false\n'}[log]\nlevel = "warn"\n` +
      // Thousands to strangers in the first hour of an account are what a bench is, and would be held.
      '[protection.surges]\nminimum = 0\n' +
      `[outbound]\nroute = "direct"\nport = ${sinkPort}\nhelo_name = "bench.test"\n` +
      `allow_private_addresses = true\nwarm_up = "off"\n${options.settings ?? ''}\n${dns}`,
  )
  writeFileSync(
    join(dataDir, 'shaping.toml'),
    options.shaping ??
      `[providers.sink]\nmx = ["sink.test"]\nconnections = ${connections}\n` +
        'messages_per_connection = 10000\nmessages_per_minute = 1000000\n',
  )
  const began = performance.now()
  const cli = cliOf(tree)
  const { flags, env } = launched(cli)
  const args = [...flags, ...nodeArgs, cli, 'serve', '--data', dataDir, '--config', config]
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'inherit', 'inherit'] })
  const url = `http://127.0.0.1:${port}`
  for (let i = 0; !(await isUp(url)); i++) {
    if (i > 6_000 || child.exitCode !== null) throw new Error('The appliance does not start')
    await sleep(10)
  }
  return {
    process: child,
    pid: child.pid ?? 0,
    url,
    publicUrl,
    apiKey,
    startedInMs: performance.now() - began,
    async post(path, body) {
      const ask = () =>
        fetch(url + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          body: Buffer.isBuffer(body) ? body : JSON.stringify(body),
        })
      // A bench that was busy itself has not seen yet that an idle connection was closed.
      const response = await ask().catch(ask)
      const text = await response.text()
      if (response.status !== 200) throw new Error(text)
    },
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    },
  }
}

/**
 * One request over at most `mostAtOnce` connections; resolves with what it took, in ms. `fetch` would cost a bench more
 * than the request costs the appliance.
 */
export function askOver(mostAtOnce: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: mostAtOnce })
  return (
    { url, apiKey }: Pick<Appliance, 'url' | 'apiKey'>,
    method: string,
    path: string,
    body: object,
    more: Record<string, string> = {},
  ): Promise<number> => {
    const usual = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    const headers = { ...usual, ...more }
    return new Promise((resolve, reject) => {
      const began = performance.now()
      const asked = request(`${url}${path}`, { method, headers, agent }, (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`${method} ${path}: ${answer.statusCode}`))
        answer.resume().once('end', () => resolve(performance.now() - began))
      })
      asked.once('error', reject).end(JSON.stringify(body))
    })
  }
}

/** Flags and environment that node has by the first line of bin/posthorn, which a bench measures with. */
export function launched(cli: string): { flags: string[]; env: NodeJS.ProcessEnv } {
  const [, settings, flags] =
    /^#!\S+ -S ((?:\w+=\S+ )+)node (.+)$/m.exec(readFileSync(cli, 'utf8')) ?? []
  if (settings === undefined || flags === undefined) throw new Error(`How does ${cli} start node?`)
  const env = settings
    .trim()
    .split(' ')
    .map((setting) => setting.split('='))
  return { flags: flags.split(' '), env: { ...process.env, ...Object.fromEntries(env) } }
}

const isUp = (url: string) =>
  fetch(url).then(
    () => true,
    () => false,
  )

export interface Sink {
  process: ChildProcess
  /** Messages taken so far, by the sink's own count. */
  count(): number
}

/** `smtp-sink` of Postfix; `delayMs` before it answers a message. */
export function openSink(host: string, port: number, options: readonly string[] = []): Sink {
  let seen = ''
  const args = ['-c', '-u', 'root', '-m', '2000', ...options, `${host}:${port}`, '2000']
  const child = spawn('smtp-sink', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  process.once('exit', () => child.kill())
  child.stdout.on('data', (chunk: Buffer) => {
    seen = (seen + chunk.toString('latin1')).slice(-400)
  })
  return {
    process: child,
    count: () => Number([...seen.matchAll(/mesg=(\d+)/g)].at(-1)?.[1] ?? 0),
  }
}

/** Until the sink has taken `count` more than `before`; throws when nothing comes for half a minute. */
export async function untilArrived(sink: Sink, before: number, count: number): Promise<void> {
  for (let last = 0, lastAt = performance.now(); sink.count() - before < count; ) {
    const arrived = sink.count() - before
    if (arrived > last) [last, lastAt] = [arrived, performance.now()]
    if (performance.now() - lastAt > 30_000) throw new Error(`Only ${arrived} of ${count} arrived`)
    await sleep(10)
  }
}

/** What the sink takes when nobody has to accept, store, compose or sign anything: mails/s. */
export async function sourceStraight(port: number, n: number): Promise<number> {
  const began = performance.now()
  const args = ['-s', '20', '-m', String(n), '-l', '10240', '-d', `127.0.0.1:${port}`]
  const source = spawn('smtp-source', args, { stdio: 'ignore' })
  await new Promise((resolve) => source.once('exit', resolve))
  return n / ((performance.now() - began) / 1_000)
}

/** User and system time of a process with all its threads, or of one of them (proc(5), fields 14 and 15). */
export function cpuSeconds(pid: number, thread?: number): number {
  const of = thread === undefined ? pid : `${pid}/task/${thread}`
  const fields = readFileSync(`/proc/${of}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** `VmHWM`: the most it ever had. `VmRSS`: what it has. */
export function memoryMb(pid: number, what: 'VmHWM' | 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)?.[1]) / 1_024
}

/** RSA-2048 signatures a second of one core: by it a figure of one machine is read on another. */
export function rsaSignatures(): number {
  const args = ['speed', '-seconds', '2', 'rsa2048']
  const { stdout } = spawnSync('openssl', args, { encoding: 'utf8' })
  return Number(/rsa 2048 bits\s+\S+\s+\S+\s+(\S+)/.exec(stdout)?.[1])
}

export const loadAverage = () => readFileSync('/proc/loadavg', 'utf8').split(' ')[0] ?? ''

/** The value below which that share of the numbers lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function report(lines: readonly (readonly [string, string])[]): void {
  for (const [name, value] of lines) console.log(`${name.padEnd(52)} ${value}`)
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
