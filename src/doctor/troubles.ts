import { counted } from '../amounts/index.js'
import { lastRuns } from '../calendar/index.js'
import { dayMs } from '../clock/index.js'
import { type Notice, openNotices } from '../notices/index.js'
import { troubledAccounts } from '../protection/index.js'
import type { Read } from '../store/index.js'
import { countSetAside } from '../webhooks/index.js'
import type { Overview } from './overview.js'
import { deliveriesInWords, type QueueClassState } from './queue-classes.js'
import { knownSender } from './warm-up.js'

/** One thing that is wrong, and the command or page that mends it. */
export interface Trouble {
  burning: boolean
  text: string
  fix: string
  /**
   * What the trouble is about, if the operator's pages show it; `queue`, `held` and `sites` have no `id`.
   */
  at?: {
    what: 'account' | 'job' | 'queue' | 'held' | 'sites' | 'domain' | 'webhook'
    id?: string
  }
}

/** The certificate of a listener with TLS; `endsAt` is 0 if it cannot be used. */
export interface ListenerCertificate {
  name: string
  endsAt: number
}

/** A site that no mail goes to now. */
export interface TroubledSite {
  site: string
  gate: string
  until: number | null
  why: string
}

/** What is seen now; `about` are the notices (`kind`, or `kind key`) that would repeat it. */
interface Seen extends Trouble {
  about?: readonly string[]
}

const certificateDays = 14
// Mail that has been due for this long is not merely waiting for its turn.
const stuckMs = 900_000

/** What the troubles are found from, beside the database. */
interface StatusFacts {
  now: number
  overview: Overview | undefined
  classes: readonly QueueClassState[]
  sites: readonly TroubledSite[]
  certificates: readonly ListenerCertificate[]
  heldCount: number
  /** Source addresses in their warm-up, each in words, and whether today's mails are used. */
  warmUp: readonly { address: string; says: string; isUsed: boolean }[]
  /** What a killed upgrade left. */
  brokenUpgrade?: { says: string; fix: string } | undefined
  /** The database has lost commits that it acknowledged. */
  back: { called: string; went: string; fix: string } | undefined
  protectionWindowMs: number
  /** The database is on a server, and no file of this machine. */
  isOnServer: boolean
  /** When this database was restored from a backup; null: never. */
  restoredAt: number | null
}

/** All troubles, the most urgent first: those seen now, then the open notices that do not repeat them. */
export async function findTroubles(read: Read, facts: StatusFacts): Promise<Trouble[]> {
  const { now } = facts
  const notices = await openNotices(read)
  const seen: Seen[] = [
    ...ofUpgrade(facts),
    ...ofBack(facts),
    ...ofHealth(facts),
    ...ofQueue(facts.classes),
    ...ofWarmUp(facts),
    ...(await ofAccounts(read, now - facts.protectionWindowMs)),
    ...(await ofJobs(read, notices)),
    ...ofSites(facts.sites),
    ...ofCertificates(facts.certificates, now),
    ...ofHeld(facts.heldCount),
    ...(await ofWebhooks(read, now, facts.restoredAt)),
  ]
  const said = new Set(seen.flatMap(({ about = [] }) => about))
  const troubles: Trouble[] = [
    ...seen.map(({ about: _, ...trouble }) => trouble),
    ...notices
      .filter(({ kind, key }) => !said.has(kind) && !said.has(`${kind} ${key}`))
      .map(ofNotice),
  ]
  return troubles.sort((a, b) => Number(b.burning) - Number(a.burning))
}

/** A killed upgrade, which is urgent while it keeps mail from being taken. */
const ofUpgrade = ({ brokenUpgrade, overview }: StatusFacts): Seen[] =>
  brokenUpgrade === undefined
    ? []
    : [
        {
          burning: overview === undefined || overview.unready.some(({ what }) => what === 'held'),
          text: brokenUpgrade.says,
          fix: brokenUpgrade.fix,
        },
      ]

/** No appliance starts on such a database before somebody has said how to go on. */
const ofBack = ({ back }: StatusFacts): Seen[] =>
  back === undefined
    ? []
    : [{ burning: true, text: `The database ${back.called} ${back.went}`, fix: back.fix }]

/** Each reason of `/healthz` and `/readyz` with what an operator can do about it. */
function ofHealth({ overview, brokenUpgrade, isOnServer }: StatusFacts): Seen[] {
  const makeRoom = "make room: 'df -h', 'du -xh --max-depth=2 / | sort -h'"
  const fixes = {
    disk: makeRoom,
    room: makeRoom,
    database: isOnServer
      ? "'posthorn doctor' says what is wrong with its server"
      : 'look for who holds it (fuser -v posthorn.db) and at the disk (dmesg)',
    thread:
      "journalctl -u posthorn -n 100 shows why; 'systemctl restart posthorn' starts everything again",
    queue: "'posthorn queue summary' shows what waits; raise outbound.max_queued if that is right",
    held: "wait for 'posthorn upgrade'",
    draining: "'posthorn node undrain' has it take mail again",
  } as const
  const { unhealthy = [], unready = [] } = overview ?? {}
  // A broken upgrade is told elsewhere with more detail.
  const told = [...unhealthy, ...unready].filter(
    ({ what }) => what !== 'held' || brokenUpgrade === undefined,
  )
  const reasons = new Map(told.map((reason) => [reason.says, reason]))
  return [...reasons.values()].map(({ what, says }) => ({
    burning: true,
    text: says,
    fix: what === 'starting' || what === 'stopping' ? 'wait a moment' : fixes[what],
    about: [what === 'room' ? 'disk' : what],
  }))
}

/** Campaigns may wait for hours by design; transactional mail that is due may not. */
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

/** Told at once, as nothing else explains why mail of an appliance's first day waits. */
const ofWarmUp = ({ warmUp, classes }: StatusFacts): Seen[] =>
  classes.some(({ dueMs }) => dueMs !== null)
    ? warmUp
        .filter(({ isUsed }) => isUsed)
        .map(({ address, says }) => ({
          burning: false,
          text: `The gate warm-up holds mail until 00:00 UTC, from ${address}: ${says}`,
          fix: knownSender,
          at: { what: 'queue' },
        }))
    : []

/** The first line of a notice says what is wrong, the rest are details. */
const ofNotice = ({ kind, key, severity, text, fix }: Notice): Trouble => {
  const what = kindsOfThings[kind]
  return {
    burning: severity === 'burning',
    text: text.split('\n')[0] ?? '',
    fix: fix.split('\n').join('; '),
    ...(what && { at: { what, id: key } }),
  }
}

/** Notices whose key is the id of a thing that has a page. */
const kindsOfThings: Record<string, 'domain' | 'webhook'> = {
  'domain-record': 'domain',
  webhook: 'webhook',
}

const shownAccounts = 20

/** `about` names the notices that say the same, so that a trouble is told once. */
async function ofAccounts(read: Read, since: number): Promise<Seen[]> {
  const accounts = await troubledAccounts(read, { since, limit: shownAccounts })
  return accounts.map(({ id, name, state }) => ({
    burning: state === 'paused',
    text: `The account ${name} is ${state === 'warned' ? 'near a pause' : state}`,
    fix: `posthorn account protection '${name}' says why${state === 'warned' ? '' : ', posthorn account unpause lets it go on'}`,
    at: { what: 'account', id },
    about: [`account-paused ${id}`, `account-warned ${id}`],
  }))
}

/** Failed jobs without a notice yet, because no appliance runs that would have made one. */
async function ofJobs(read: Read, notices: readonly Notice[]): Promise<Trouble[]> {
  const told = new Set(
    notices.filter(({ kind }) => kind === 'job' || kind === 'backup').map(({ key }) => key),
  )
  return [...(await lastRuns(read)).values()].flatMap(({ name, result, error, endedAt }) =>
    // A run that a stop cut off is repeated by itself, or the operator ended it.
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

/** Ten, as more would hide everything else. */
const ofSites = (sites: readonly TroubledSite[]): Trouble[] =>
  // A brake has a notice of its own.
  sites
    .filter(({ gate }) => gate === 'suspended')
    .slice(0, 10)
    .map(({ site }) => ({
      burning: false,
      text: `No mail goes to ${site} for now`,
      fix: `posthorn queue list --domain DOMAIN shows the replies, posthorn shaping show DOMAIN what was learned`,
      at: { what: 'sites' },
    }))

/** Certificates of the SMTP listeners that end soon; ACME has notices of its own. */
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

/** Not urgent: held mail stays until somebody decides. */
const ofHeld = (count: number): Seen[] =>
  count === 0
    ? []
    : [
        {
          burning: false,
          text: `${deliveriesInWords(count)} ${count === 1 ? 'is' : 'are'} held until somebody decides`,
          fix: 'posthorn queue held, then queue release or queue fail',
          at: { what: 'held' },
          about: ['held'],
        },
      ]

// An operator who has not sent them again by then has decided.
const decideWithinMs = 7 * dayMs

/** Webhooks that a restore has set aside. */
async function ofWebhooks(read: Read, now: number, restoredAt: number | null): Promise<Seen[]> {
  if (restoredAt === null || now - restoredAt > decideWithinMs) return []
  const aside = (await countSetAside(read)).filter(({ cause }) => cause === 'restored')
  const events = aside.reduce((sum, one) => sum + one.events, 0)
  if (events === 0) return []
  return [
    {
      burning: false,
      text: `${counted(events, 'webhook')} of before the restore may not have arrived`,
      fix: "posthorn queue held names the endpoints; 'posthorn webhook replay ENDPOINT --failed' sends them",
    },
  ]
}
