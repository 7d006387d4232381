import { findBackups } from '../backup/index.js'
import { lastRuns } from '../calendar/index.js'
import { dayMs } from '../clock/index.js'
import type { Config } from '../config/index.js'
import { countHeldUpTo, depthUpTo, isRestoredReason } from '../deliveries/index.js'
import { type Notice, openNotices } from '../notices/index.js'
import { troubledAccounts } from '../protection/index.js'
import { diskRoom, type Read } from '../store/index.js'
import { countSetAside } from '../webhooks/index.js'
import type { Overview } from './overview.js'

/** How the appliance is, on one screen: what `posthorn status` and the operator's first page show. */
export interface ApplianceStatus {
  /** What the running appliance says; undefined when none answers. */
  overview: Overview | undefined
  now: number
  /** When it last wrote; 0: never. */
  aliveAt: number
  classes: QueueClassState[]
  sites: TroubledSite[]
  /** In words. */
  held: string
  backupAt: number | null
  certificates: readonly ListenerCertificate[]
  /** What burns comes first. */
  troubles: Trouble[]
  disk: { freeBytes: number; sizeBytes: number; daysLeft: number | null }
}

/** The certificate of a listener with TLS; `endsAt` is 0 where it cannot be used. */
export interface ListenerCertificate {
  name: string
  endsAt: number
}

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
  /** What it is about, where the operator's pages show that; `queue`, `held` and `sites` have no `id`. */
  at?: { what: 'account' | 'job' | 'queue' | 'held' | 'sites'; id?: string }
}

/** What is seen now; `about` are the notices (`kind`, or `kind key`) that would say the same again. */
interface Seen extends Trouble {
  about?: readonly string[]
}

// Rows are looked at one by one: a command that counts ten million is no help while something burns.
const mostCounted = 100_000
const certificateDays = 14
// Mail that has been due for so long is not merely waiting for its turn.
const stuckMs = 900_000

export interface StatusDeps {
  read: Read
  now: number
  config: Config
  dataDir: string
  certificates: readonly ListenerCertificate[]
}

/** What the database knows, by few rows or along an index, together with what the running appliance says. */
export async function readStatus(
  { read, now, config, dataDir, certificates }: StatusDeps,
  overview: Overview | undefined,
): Promise<ApplianceStatus> {
  const appliance = await read
    .selectFrom('appliance')
    .select(['alive_at', 'restored_at'])
    .executeTakeFirst()
  const classes = await readQueueClasses(read, now, overview)
  const heldCount = await countHeldUpTo(read, mostCounted)
  const { dir } = config.backup
  const [backup] = dir === '' ? [] : await findBackups(dir, now)
  const sites = (overview?.sites ?? []).flatMap(({ site, gate, until, why }) =>
    gate === 'suspended' ? [{ site, gate, until, why }] : [],
  )
  const notices = await openNotices(read)
  const seen: Seen[] = [
    ...ofHealth(overview),
    ...ofQueue(classes),
    ...(await ofAccounts(read, now, config)),
    ...(await ofJobs(read, notices)),
    ...ofSites(sites),
    ...ofCertificates(certificates, now),
    ...ofHeld(heldCount),
    ...(await ofWebhooks(read, now, appliance?.restored_at ?? null)),
  ]
  const said = new Set(seen.flatMap(({ about = [] }) => about))
  const troubles: Trouble[] = [
    ...seen.map(({ about: _, ...trouble }) => trouble),
    ...notices
      .filter(({ kind, key }) => !said.has(kind) && !said.has(`${kind} ${key}`))
      .map(ofNotice),
  ]
  const { freeBytes, totalBytes } = await diskRoom(dataDir)
  return {
    ...{ overview, now, aliveAt: appliance?.alive_at ?? 0, classes, sites, certificates },
    held: heldCount === 0 ? 'none' : deliveries(heldCount),
    backupAt: backup?.madeAt ?? null,
    disk: { freeBytes, sizeBytes: totalBytes, daysLeft: daysLeft(overview, freeBytes) },
    troubles: troubles.sort((a, b) => Number(b.burning) - Number(a.burning)),
  }
}

// A rate of minutes says nothing about weeks.
const enoughMs = 3_600_000

/** When the disk is full at the rate of the last day; null where it is not known, or never. */
function daysLeft(overview: Overview | undefined, freeBytes: number): number | null {
  const day = overview?.rates?.day
  if (day === undefined || day.ms < enoughMs || day.diskBytes <= 0) return null
  return freeBytes / ((day.diskBytes / day.ms) * dayMs)
}

/** How much waits of each class: by the running appliance's gauges, or counted up to a bound. */
export async function readQueueClasses(
  read: Read,
  now: number,
  overview: Overview | undefined,
): Promise<QueueClassState[]> {
  return overview?.rates ? classesOf(overview) : await countClasses(read, now)
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

function ofHealth(overview: Overview | undefined): Seen[] {
  const fixes = {
    disk: "make room: 'df -h', 'du -xh --max-depth=2 / | sort -h'",
    database: 'look for who holds it (fuser -v posthorn.db) and at the disk (dmesg)',
    thread: "journalctl -u posthorn -n 100 shows why; 'systemctl restart posthorn' starts all anew",
    queue: "'posthorn queue summary' shows what waits; raise outbound.max_queued if that is right",
    held: "wait for 'posthorn upgrade'; if that was broken off, run it again",
  } as const
  const { unhealthy = [], unready = [] } = overview ?? {}
  const reasons = new Map([...unhealthy, ...unready].map((reason) => [reason.says, reason]))
  return [...reasons.values()].map(({ what, says }) => ({
    burning: true,
    text: says,
    fix: what === 'starting' || what === 'stopping' ? 'wait a moment' : fixes[what],
    about: [what],
  }))
}

function ofQueue(classes: readonly QueueClassState[]): Seen[] {
  return classes.flatMap(({ name, dueMs }) =>
    name === 'transactional' && dueMs !== null && dueMs > stuckMs
      ? [
          {
            burning: true,
            text: `Transactional mail has been due for ${Math.round(dueMs / 60_000)} min`,
            fix: "'posthorn queue summary' names the gate by domain, 'posthorn queue show ID' says why",
            at: { what: 'queue' },
            about: ['queue-stuck transactional'],
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

async function ofAccounts(read: Read, now: number, config: Config): Promise<Seen[]> {
  const since = now - config.protection.window
  const accounts = await troubledAccounts(read, { since, limit: shownAccounts })
  return accounts.map(({ id, name, state }) => ({
    burning: state === 'paused',
    text: `The account ${name} is ${state === 'warned' ? 'near a pause' : state}`,
    fix: `posthorn account protection '${name}' says why${state === 'warned' ? '' : ', posthorn account unpause lets it go on'}`,
    at: { what: 'account', id },
    about: [`account-paused ${id}`, `account-warned ${id}`],
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
            at: { what: 'job', id: name },
          },
        ],
  )
}

const ofSites = (sites: readonly TroubledSite[]): Trouble[] =>
  sites.slice(0, 10).map(({ site }) => ({
    burning: false,
    text: `No mail goes to ${site} for now`,
    fix: `posthorn queue list --domain DOMAIN shows the replies, posthorn shaping show DOMAIN what was learned`,
    at: { what: 'sites' },
  }))

const ofCertificates = (certificates: readonly ListenerCertificate[], now: number): Seen[] =>
  certificates.flatMap(({ name, endsAt }) =>
    endsAt - now > certificateDays * dayMs
      ? []
      : [
          {
            burning: endsAt <= now,
            text: `The certificate of the ${name} listener ${endsAt <= now ? 'has ended or is no use' : 'ends soon'}`,
            fix: "renew it (certbot renew), then 'systemctl reload posthorn'",
            about: [`certificate the ${name} listener`],
          },
        ],
  )

const ofHeld = (count: number): Seen[] =>
  count === 0
    ? []
    : [
        {
          burning: false,
          text: `${deliveries(count)} ${count === 1 ? 'is' : 'are'} held until somebody decides`,
          fix: 'posthorn queue held, then queue release or queue fail',
          at: { what: 'held' },
          about: ['held'],
        },
      ]

// Who has not sent them again by then has decided.
const decideWithinMs = 7 * dayMs

/** Webhooks that a restore has set aside. */
async function ofWebhooks(read: Read, now: number, restoredAt: number | null): Promise<Seen[]> {
  if (restoredAt === null || now - restoredAt > decideWithinMs) return []
  const aside = (await countSetAside(read)).filter(({ reason }) => isRestoredReason(reason))
  const events = aside.reduce((sum, one) => sum + one.events, 0)
  if (events === 0) return []
  return [
    {
      burning: false,
      text: `${events.toLocaleString('en-GB')} ${events === 1 ? 'webhook' : 'webhooks'} of before the restore may not have arrived`,
      fix: "posthorn queue held names the endpoints; 'posthorn webhook replay ENDPOINT --failed' sends them",
    },
  ]
}
