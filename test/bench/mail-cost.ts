/*
 * What a mail costs of a processor, from the API to the sink: `node dist/test/bench/mail-cost.js`
 *   --n 20000 mails  --batch 1 mails a request (100: on 8 connections)  --domains 20  --rounds 2
 *   --warm 0 mails before those that count: V8 compiles for some 5 s of a processor in the first 30,000 or so
 *   --against DIR, another built checkout: the rounds alternate, and its figures and the ratio to them stand beside
 *   --html FILE, the HTML of each mail, in place of 10 KB with a text part: the appliance makes the text
 * 10 KB each, RSA-2048 alone, a site a domain, over bare sockets, as in the bench that compares with other mail servers.
 * By threads, and in units of one signature of this machine: what is signed a second differs by 3 times between machines,
 * and on a busy one from minute to minute, so it is measured after each round.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { databaseFile } from '../../src/store/index.js'
import { benchContent } from './content.js'
import {
  type Appliance,
  initDataDir,
  loadAverage,
  openSink,
  quantile,
  report,
  rsaSignatures,
  serveAppliance,
  sleep,
  untilArrived,
} from './rig.js'

const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '20000' },
    batch: { type: 'string', default: '1' },
    domains: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '2' },
    warm: { type: 'string', default: '0' },
    against: { type: 'string' },
    html: { type: 'string' },
  },
})
const [n, batch, domains, rounds, warm] = [
  values.n,
  values.batch,
  values.domains,
  values.rounds,
  values.warm,
].map(Number) as [number, number, number, number, number]
const sinkPort = 2_637
const content =
  values.html === undefined
    ? benchContent()
    : { text: undefined, html: readFileSync(values.html, 'utf8') }
const sink = openSink('0.0.0.0', sinkPort)
const own = fileURLToPath(new URL('../../..', import.meta.url))
const trees = values.against === undefined ? [own] : [values.against, own]
const rows = new Map(trees.map((tree) => [tree, [] as Row[]]))
for (let round = 0; round < rounds; round++) {
  for (const tree of trees) rows.get(tree)?.push(await measure(tree))
}
for (const tree of trees) show(tree, rows.get(tree) ?? [])
if (values.against !== undefined) {
  const [before, after] = trees.map((tree) => middle(rows.get(tree) ?? [], ({ ms }) => ms))
  report([['CPU a mail, ratio to the other', ((after ?? 0) / (before ?? 1)).toFixed(3)]])
}
process.exit(0)

interface Row {
  rate: number
  accepted: number
  /** Of a processor, a mail; by the thread's place among the costliest. */
  ms: number
  threadsMs: readonly number[]
  signatures: number
  units: number
  pssMb: number
}

/** An appliance of that tree, which has just started, from the first request to the last mail at the sink. */
async function measure(tree: string): Promise<Row> {
  const { dataDir, apiKey } = initDataDir(undefined, tree)
  signByRsaAlone(dataDir)
  const names = Array.from({ length: domains }, (_, i) => `d${i}.test`)
  const dns = names.map(
    (name, i) =>
      `[dns.static."${name}"]\nmx = [{ preference = 10, exchange = "mx-${name}" }]\n` +
      `[dns.static."mx-${name}"]\na = ["127.0.1.${i + 1}"]\n`,
  )
  const shaping =
    '[providers.sink]\nmx = ["test"]\nper_host = true\nconnections = 20\n' +
    'messages_per_connection = 10000\nmessages_per_minute = 1000000\n'
  const sentAtFirst = sink.count()
  const appliance = await serveAppliance({
    dataDir,
    apiKey,
    sinkPort,
    connections: 20,
    dns: dns.join(''),
    shaping,
    tree,
  })
  await sleep(1_500)
  const { pid } = appliance
  if (warm > 0) {
    await post(appliance, names, warm)
    await untilArrived(sink, sentAtFirst, warm)
    await sleep(1_000)
  }
  const [threadsBefore, sentBefore] = [threadsOf(pid), sink.count()]
  let pssMb = 0
  const look = setInterval(() => {
    pssMb = Math.max(pssMb, pss(pid))
  }, 1_000)
  const began = performance.now()
  await post(appliance, names, n)
  const accepted = n / ((performance.now() - began) / 1_000)
  await untilArrived(sink, sentBefore, n)
  const rate = n / ((performance.now() - began) / 1_000)
  clearInterval(look)
  // Until the last ones are settled.
  await sleep(1_000)
  const threadsMs = [...threadsOf(pid)]
    .map(([id, ms]) => (ms - (threadsBefore.get(id) ?? 0)) / n)
    .sort((a, b) => b - a)
  await appliance.stop()
  const ms = threadsMs.reduce((sum, one) => sum + one, 0)
  const signatures = rsaSignatures()
  return { rate, accepted, ms, threadsMs, signatures, units: (ms * signatures) / 1_000, pssMb }
}

/** Requests over bare sockets, one at a time on each, so that this process costs little. */
async function post(
  { url, apiKey }: Appliance,
  names: readonly string[],
  count: number,
): Promise<void> {
  const { text, html } = content
  const { host, hostname, port } = new URL(url)
  let next = 0
  const mail = () => {
    const to = `r${next}@${names[next % names.length]}`
    return { from: 'Bench <bench@example.test>', to, subject: `Mail ${next++}`, html, text }
  }
  const request = (): string | undefined => {
    const mails = Array.from({ length: Math.min(batch, count - next) }, mail)
    if (mails.length === 0) return undefined
    const body = JSON.stringify(batch === 1 ? mails[0] : { emails: mails })
    return (
      `POST /v1/emails/${batch === 1 ? 'send' : 'batch'} HTTP/1.1\r\nhost: ${host}\r\n` +
      `authorization: Bearer ${apiKey}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    )
  }
  const client = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(Number(port), hostname)
      let seen = ''
      const ask = () => {
        const asked = request()
        if (asked !== undefined) {
          socket.write(asked)
          return
        }
        socket.end()
        resolve()
      }
      socket.once('connect', ask)
      socket.on('error', reject)
      socket.on('data', (chunk) => {
        seen += chunk.toString('latin1')
        const head = seen.indexOf('\r\n\r\n')
        const length = Number(/content-length: (\d+)/i.exec(seen)?.[1])
        if (head < 0 || seen.length < head + 4 + length) return
        if (!seen.startsWith('HTTP/1.1 200')) reject(new Error(seen))
        else ask()
        seen = ''
      })
    })
  await Promise.all(Array.from({ length: batch === 1 ? 50 : 8 }, client))
}

function signByRsaAlone(dataDir: string): void {
  const db = new Database(databaseFile(dataDir))
  db.prepare("update dkim_keys set verified = 0 where algorithm = 'ed25519-sha256'").run()
  db.close()
}

/** User and system time of each thread, in ms (proc(5), fields 14 and 15). */
function threadsOf(pid: number): Map<string, number> {
  const ids = readdirSync(`/proc/${pid}/task`)
  return new Map(
    ids.map((id) => {
      const stat = readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8')
      const fields = stat.split(') ').at(-1)?.split(' ') ?? []
      return [id, (Number(fields[11]) + Number(fields[12])) * 10]
    }),
  )
}

function pss(pid: number): number {
  return (
    Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1_024
  )
}

/** Of few rounds: between the two in the middle. */
function middle(all: readonly Row[], of: (row: Row) => number): number {
  const found = all.map(of)
  return (
    (quantile(found, 0.5) -
      quantile(
        found.map((one) => -one),
        0.5,
      )) /
    2
  )
}

function show(tree: string, all: readonly Row[]): void {
  const shown = (of: (row: Row) => number, digits = 0) =>
    `${middle(all, of).toFixed(digits)} (${all.map((row) => of(row).toFixed(digits)).join(', ')})`
  const places = Array.from({ length: 6 }, (_, place) =>
    middle(all, ({ threadsMs }) => threadsMs[place] ?? 0).toFixed(3),
  )
  report([
    ['', ''],
    [
      tree,
      `${n} mails after ${warm}, ${domains} domains, ${batch} a request; load ${loadAverage()}`,
    ],
    ['RSA-2048 signatures/s', shown(({ signatures }) => signatures)],
    ['delivered/s, first request to last mail', shown(({ rate }) => rate)],
    ['accepted/s', shown(({ accepted }) => accepted)],
    ['CPU, ms a mail', shown(({ ms }) => ms, 3)],
    ['  of the six costliest threads', places.join(', ')],
    ['CPU, signatures a mail (bars: 3.2; batches 2.4)', shown(({ units }) => units, 2)],
    ['most memory (PSS), MB', shown(({ pssMb }) => pssMb)],
  ])
}
