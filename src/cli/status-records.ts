import { listenerCertificates } from '../app/listener-certificates.js'
import type { Overview } from '../app/overview.js'
import { findBackups } from '../backup/index.js'
import { lastRuns } from '../calendar/index.js'
import { dayMs } from '../clock/index.js'
import type { Config } from '../config/index.js'
import { countHeldUpTo, depthUpTo } from '../deliveries/index.js'
import { type Notice, openNotices } from '../notices/index.js'
import { troubledAccounts } from '../protection/index.js'
import type { Read } from '../store/index.js'

export interface QueueClassState {
  name: string
  /** A number; `more than 100,000` where nothing runs that keeps count. */
  waiting: string
  oldestMs: number | null
  /** For how long the first mail has been due that is not under way; null when none is. */
  dueMs: number | null
}

export interface TroubledSite {
  site: string
  gate: string
  until: number | null
  why: string
}

/** One thing that is wrong, and the command or page that mends it. */
export interface Trouble {
  burning: boolean
  text: string
  fix: string
}

// Rows are looked at one by one: a command that counts ten million is no help while something burns.
const mostCounted = 100_000
const certificateDays = 14
// Mail that has been due for so long is not merely waiting for its turn.
const stuckMs = 900_000

/** What the database knows, by few rows or along an index, together with what the running appliance says. */
export async function readRecords(
  read: Read,
  now: number,
  config: Config,
  overview: Overview | undefined,
) {
  const alive = await read.selectFrom('appliance').select('alive_at').executeTakeFirst()
  const classes = overview?.rates ? classesOf(overview) : await countClasses(read, now)
  const heldCount = await countHeldUpTo(read, mostCounted)
  const certificates = listenerCertificates(config)
  const { dir } = config.backup
  const [backup] = dir === '' ? [] : await findBackups(dir, now)
  const sites = (overview?.sites ?? []).flatMap(({ site, gate, until, why }) =>
    gate === 'suspended' ? [{ site, gate, until, why }] : [],
  )
  const notices = await openNotices(read)
  const troubles = [
    ...ofHealth(overview),
    ...ofQueue(classes),
    ...notices.map(ofNotice),
    ...(await ofAccounts(read, now, config)),
    ...(await ofJobs(read, notices)),
    ...ofSites(sites),
    ...ofCertificates(certificates, now),
  ]
  if (heldCount > 0) {
    const text = `${deliveries(heldCount)} ${heldCount === 1 ? 'is' : 'are'} held until somebody decides`
    troubles.push({
      burning: false,
      text,
      fix: 'posthorn queue held, then queue release or queue fail',
    })
  }
  return {
    ...{ now, aliveAt: alive?.alive_at ?? 0, classes, sites, certificates },
    held: heldCount === 0 ? 'none' : deliveries(heldCount),
    backupAt: backup?.madeAt ?? null,
    troubles: troubles.sort((a, b) => Number(b.burning) - Number(a.burning)),
  }
}

const deliveries = (count: number) => `${upTo(count)} ${count === 1 ? 'delivery' : 'deliveries'}`

const upTo = (count: number) =>
  count > mostCounted
    ? `more than ${mostCounted.toLocaleString('en-GB')}`
    : count.toLocaleString('en-GB')

function classesOf({ series }: Overview): QueueClassState[] {
  const gaugeOf = (name: string, of: string) =>
    series.find(({ metricName, labels }) => metricName === name && labels.class === of)?.value ?? 0
  return ['transactional', 'automation', 'campaign'].map((name) => {
    const waiting = gaugeOf('posthorn_queue_deliveries', name)
    const dueMs = gaugeOf('posthorn_queue_due_seconds', name) * 1_000
    return {
      name,
      waiting: waiting.toLocaleString('en-GB'),
      oldestMs: waiting === 0 ? null : gaugeOf('posthorn_queue_oldest_seconds', name) * 1_000,
      dueMs: dueMs === 0 ? null : dueMs,
    }
  })
}

async function countClasses(read: Read, now: number): Promise<QueueClassState[]> {
  const { counted, depth } = await depthUpTo(read, mostCounted)
  return Object.entries(depth).map(([name, { deliveries, oldestAt, dueAt }]) => ({
    name,
    waiting: counted > mostCounted ? `${upTo(counted)} in all` : deliveries.toLocaleString('en-GB'),
    oldestMs: oldestAt === undefined ? null : now - oldestAt,
    dueMs: dueAt === undefined || dueAt > now ? null : now - dueAt,
  }))
}

function ofHealth(overview: Overview | undefined): Trouble[] {
  const fixes = {
    disk: "make room: 'df -h', 'du -xh --max-depth=2 / | sort -h'",
    database: 'look for who holds it (fuser -v posthorn.db) and at the disk (dmesg)',
    thread: "journalctl -u posthorn -n 100 shows why; 'systemctl restart posthorn' starts all anew",
    queue: "'posthorn queue summary' shows what waits; raise outbound.max_queued if that is right",
  } as const
  const { unhealthy = [], unready = [] } = overview ?? {}
  const reasons = new Map([...unhealthy, ...unready].map((reason) => [reason.says, reason]))
  return [...reasons.values()].map(({ what, says }) => ({
    burning: true,
    text: says,
    fix: what === 'starting' || what === 'stopping' ? 'wait a moment' : fixes[what],
  }))
}

function ofQueue(classes: readonly QueueClassState[]): Trouble[] {
  return classes.flatMap(({ name, dueMs }) =>
    name === 'transactional' && dueMs !== null && dueMs > stuckMs
      ? [
          {
            burning: true,
            text: `Transactional mail has been due for ${Math.round(dueMs / 60_000)} min`,
            fix: "'posthorn queue summary' names the gate by domain, 'posthorn queue show ID' says why",
          },
        ]
      : [],
  )
}

const ofNotice = ({ severity, text, fix }: Notice): Trouble => ({
  burning: severity === 'burning',
  text: text.split('\n')[0] ?? '',
  fix: fix.split('\n').join('; '),
})

const shownAccounts = 20

async function ofAccounts(read: Read, now: number, config: Config): Promise<Trouble[]> {
  const since = now - config.protection.window
  const accounts = await troubledAccounts(read, { since, limit: shownAccounts })
  return accounts.map(({ name, state }) => ({
    burning: state === 'paused',
    text: `The account ${name} is ${state === 'warned' ? 'near a pause' : state}`,
    fix: `posthorn account protection '${name}' says why${state === 'warned' ? '' : ', posthorn account unpause lets it go on'}`,
  }))
}

/** Those of which no notice tells yet, as nothing runs that would have looked. */
async function ofJobs(read: Read, notices: readonly Notice[]): Promise<Trouble[]> {
  const told = new Set(
    notices.filter(({ kind }) => kind === 'job' || kind === 'backup').map(({ key }) => key),
  )
  return [...(await lastRuns(read)).values()].flatMap(({ name, result, error, endedAt }) =>
    // What a stop has cut off comes again by itself, or was the operator's own.
    told.has(name) || (result !== 'failed' && result !== 'timed out') || endedAt === null
      ? []
      : [
          {
            burning: name === 'backup',
            text: `The job ${name}: ${result}${error === null ? '' : `, ${error}`}`,
            fix: `posthorn job show ${name}`,
          },
        ],
  )
}

const ofSites = (sites: readonly TroubledSite[]): Trouble[] =>
  sites.slice(0, 10).map(({ site }) => ({
    burning: false,
    text: `No mail goes to ${site} for now`,
    fix: `posthorn queue list --domain DOMAIN shows the replies, posthorn shaping show DOMAIN what was learned`,
  }))

const ofCertificates = (
  certificates: readonly { name: string; endsAt: number }[],
  now: number,
): Trouble[] =>
  certificates.flatMap(({ name, endsAt }) =>
    endsAt - now > certificateDays * dayMs
      ? []
      : [
          {
            burning: endsAt <= now,
            text: `The certificate of the ${name} listener ${endsAt <= now ? 'has ended or is no use' : 'ends soon'}`,
            fix: "renew it (certbot renew), then 'systemctl reload posthorn'",
          },
        ],
  )
