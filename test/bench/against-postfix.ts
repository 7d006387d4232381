/*
 * Posthorn and Debian's Postfix + OpenDKIM on the same machine in the same run:
 *   node dist/test/bench/against-postfix.js --n 10000 --rounds 3 --domains 1,20
 * The same 10 KB mails to the same smtp-sink, both durable, both signing with RSA-2048 alone, 20
 * connections a domain (Postfix's default). Postfix gets finished messages from smtp-source over 50
 * sessions; Posthorn gets JSON in batches of 100 (the most) from 8 clients, and composes. Rounds alternate. The
 * clock runs from the first message or request to the last mail at the sink; CPU is that of all
 * processes of each. Needs root, postfix, opendkim.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { databaseFile } from '../../src/store/sqlite/files.js'
import { benchContent } from './content.js'
import { missingForPostfix, postfixPort, startPostfix } from './postfix.js'
import {
  cpuSeconds,
  initDataDir,
  loadAverage,
  openSink,
  quantile,
  report,
  rsaSignatures,
  type Sink,
  serveAppliance,
  sleep,
  untilArrived,
} from './rig.js'

const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '3' },
    domains: { type: 'string', default: '1,20' },
  },
})
const n = Number(values.n)
const sinkPort = 2_626
const sessions = 50
const perDomain = 20
const batch = 100
const messageFile = join(mkdtempSync(join(tmpdir(), 'bench-message-')), 'mail')
writeFileSync(messageFile, benchContent().raw)

interface Figure {
  perSecond: number
  /** CPU seconds per 1,000 mails. */
  cpu: number
}

const missing = missingForPostfix()
if (missing.length > 0) throw new Error(`It needs ${missing.join(', ')}`)
for (const count of values.domains.split(',').map(Number)) await compare(count)
process.exit(0)

async function compare(domains: number): Promise<void> {
  const routes = new Map(
    Array.from({ length: domains }, (_, i) => [`d${i}.test`, `127.0.1.${i + 1}`] as const),
  )
  const sink = openSink('', sinkPort)
  await sleep(500)
  const postfix: Figure[] = []
  const posthorn: Figure[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    postfix.push(await runPostfix(routes, sink))
    posthorn.push(await runPosthorn(routes, sink))
  }
  sink.process.kill()
  const [theirs, ours] = [median(postfix), median(posthorn)]
  const limit = computedLimit()
  const each = (figures: readonly Figure[], of: keyof Figure) =>
    figures.map((figure) => figure[of].toFixed(of === 'cpu' ? 2 : 0)).join(', ')
  report([
    ['mails, domains, rounds', `${n}, ${domains}, ${values.rounds}`],
    [
      'Postfix + OpenDKIM, messages/s',
      `${theirs.perSecond.toFixed(0)} (${each(postfix, 'perSecond')})`,
    ],
    ['Posthorn, messages/s', `${ours.perSecond.toFixed(0)} (${each(posthorn, 'perSecond')})`],
    ['ratio', (ours.perSecond / theirs.perSecond).toFixed(2)],
    ['Postfix + OpenDKIM, CPU s per 1,000', `${theirs.cpu.toFixed(2)} (${each(postfix, 'cpu')})`],
    ['Posthorn, CPU s per 1,000', `${ours.cpu.toFixed(2)} (${each(posthorn, 'cpu')})`],
    ['ratio', (ours.cpu / theirs.cpu).toFixed(3)],
    ['computed limit of this machine, messages/s', limit.toFixed(0)],
    ['Posthorn’s share of it', (ours.perSecond / limit).toFixed(2)],
    ['load average', loadAverage()],
    ['', ''],
  ])
}

async function runPostfix(routes: ReadonlyMap<string, string>, sink: Sink): Promise<Figure> {
  const postfix = await startPostfix(routes, sinkPort)
  try {
    const [before, cpu, began] = [sink.count(), postfix.cpuSeconds(), performance.now()]
    for (const [i, domain] of [...routes.keys()].entries()) {
      const of = (whole: number) =>
        Math.floor(whole / routes.size) + (i < whole % routes.size ? 1 : 0)
      const args = ['-d', '-s', String(Math.max(1, of(sessions))), '-m', String(of(n))]
      const mail = ['-F', messageFile, '-f', 'bench@example.test', '-t', `rcpt@${domain}`]
      spawn('smtp-source', [...args, ...mail, `127.0.0.1:${postfixPort}`], { stdio: 'ignore' })
    }
    await untilArrived(sink, before, n)
    const seconds = (performance.now() - began) / 1_000
    await sleep(1_000)
    return { perSecond: n / seconds, cpu: ((postfix.cpuSeconds() - cpu) / n) * 1_000 }
  } finally {
    await postfix.stop()
  }
}

async function runPosthorn(routes: ReadonlyMap<string, string>, sink: Sink): Promise<Figure> {
  const { dataDir, apiKey } = initDataDir()
  signWithRsaAlone(dataDir)
  const appliance = await serveAppliance({
    dataDir,
    apiKey,
    sinkPort,
    connections: perDomain,
    // A site for each domain, as Postfix has a destination for each.
    shaping:
      `[providers.sink]\nmx = ["test"]\nper_host = true\nconnections = ${perDomain}\n` +
      'messages_per_connection = 10000\nmessages_per_minute = 1000000\n',
    dns: [...routes]
      .map(
        ([domain, ip]) =>
          `[dns.static."${domain}"]\nmx = [{ preference = 10, exchange = "mx-${domain}" }]\n` +
          `[dns.static."mx-${domain}"]\na = ["${ip}"]\n`,
      )
      .join(''),
  })
  try {
    const requests = requestsFor([...routes.keys()])
    const client = async () => {
      for (let body = requests.pop(); body !== undefined; body = requests.pop()) {
        await appliance.post('/v1/emails/batch', body)
      }
    }
    await sleep(1_500)
    const [before, cpu, began] = [sink.count(), cpuSeconds(appliance.pid), performance.now()]
    await Promise.all(Array.from({ length: 8 }, client))
    await untilArrived(sink, before, n)
    const seconds = (performance.now() - began) / 1_000
    await sleep(1_000)
    return { perSecond: n / seconds, cpu: ((cpuSeconds(appliance.pid) - cpu) / n) * 1_000 }
  } finally {
    await appliance.stop()
  }
}

/** Written before the clock runs, as smtp-source has its message from a file. */
function requestsFor(names: readonly string[]): Buffer[] {
  const { text, html } = benchContent()
  const mail = (i: number) => {
    // Not twice the same: of equal bodies in a batch only one is stored.
    const own = { subject: `Mail ${i}`, text: `Order ${i}\n${text}`, html }
    return { from: 'Bench <bench@example.test>', to: `r${i}@${names[i % names.length]}`, ...own }
  }
  return Array.from({ length: Math.ceil(n / batch) }, (_, at) => {
    const length = Math.min(batch, n - at * batch)
    const emails = Array.from({ length }, (_, i) => mail(at * batch + i))
    return Buffer.from(JSON.stringify({ emails }))
  })
}

/** Without the Ed25519 signature that Posthorn adds where the domain has published its key. */
function signWithRsaAlone(dataDir: string): void {
  const db = new Database(databaseFile(dataDir))
  db.prepare("update dkim_keys set verified = 0 where algorithm = 'ed25519-sha256'").run()
  db.close()
}

/**
 * notes/performance.md §3: two cores over 0.91 ms a message of the best parts and 0.126 ms of the rig,
 * on a machine of 4,038 RSA-2048 signatures a second. This machine's own number scales it.
 */
function computedLimit(): number {
  return 1_930 * (rsaSignatures() / 4_038)
}

function median(figures: readonly Figure[]): Figure {
  const of = (name: keyof Figure) =>
    quantile(
      figures.map((figure) => figure[name]),
      0.5,
    )
  return { perSecond: of('perSecond'), cpu: of('cpu') }
}
