/*
 * What a mail costs in the database, SQLite and PostgreSQL in turn: `node dist/test/bench/postgres/mail.js`
 *   --n 5000 mails a round  --rounds 3  --only sqlite (to compare two checkouts)
 * The product's own functions without HTTP, SMTP and signing: accepted in batches of 100, claimed from 20 streams 5 at a
 * time, settled 64 at a time, four at once each, with the rates of their account. 10 KB each, one account. The server is
 * the bench's own, syncs, and has Debian's settings but for `shared_buffers`; its processor time is that of all its
 * processes, from /proc. Statements and milliseconds are a mail's; medians of the rounds.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import pg from 'pg'
import type { Test } from 'tap'
import { createAccount } from '../../../src/accounts/index.js'
import { systemClock } from '../../../src/clock/index.js'
import { loadConfig, makeApplianceKey } from '../../../src/config/index.js'
import { type Claimed, claim, type Settlement, settle } from '../../../src/deliveries/index.js'
import { addDomain } from '../../../src/domains/index.js'
import { acceptBatch, type EmailDeps } from '../../../src/emails/index.js'
import { makeLandEvents } from '../../../src/events/index.js'
import { makeProtection } from '../../../src/protection/index.js'
import { makeTurns, openStore, type Store } from '../../../src/store/index.js'
import { attachmentRules } from '../../support/attachment-rules.js'
import { openCampaigns, plans } from '../../support/campaigns.js'
import { databaseOf, startPostgres } from '../../support/postgres.js'
import { countStatements } from '../../support/statements.js'
import { makeTempDir } from '../../support/store.js'
import { makeDatabase, rsaPair } from '../../support/template.js'
import { benchContent } from '../content.js'
import { loadAverage, report } from '../rig.js'

const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
  },
})
const n = Number(values.n)
const lanes = 20
const thread = 0
const phases = ['accept', 'claim', 'settle'] as const
type Phase = (typeof phases)[number]

interface Cost {
  statements: number
  clientMs: number
  serverMs: number
}

const ends: (() => unknown)[] = []
const t = {
  teardown: (end: () => unknown) => void ends.unshift(end),
  passing: () => true,
} as unknown as Test
const counts = countStatements(t)
const { protection, outbound } = loadConfig({ env: {} })
const land = makeLandEvents([makeProtection(protection)])
const engines = (['sqlite', 'postgres'] as const).filter((one) => (values.only ?? one) === one)
const server = engines.includes('postgres') ? await startPostgres(t, { syncs: true }) : undefined
const hot: number[] = []
const found = { sqlite: [] as Record<Phase, Cost>[], postgres: [] as Record<Phase, Cost>[] }
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const engine of engines) found[engine].push(await measure(engine))
  }
} finally {
  for (const end of ends) await end()
}
show()

async function measure(engine: 'sqlite' | 'postgres'): Promise<Record<Phase, Cost>> {
  const dataDir = makeTempDir(t)
  const url = engine === 'postgres' ? await databaseOf(dataDir, server?.url) : undefined
  if (url === undefined) await makeDatabase(dataDir)
  const turns = makeTurns()
  const store = await openStore({ dataDir, url, clock: systemClock, turns, slot: 0 })
  const { accept, claimAll, settleAll } = await open(store)
  // V8 compiles, and statements are parsed, once.
  await accept(500)
  await settleAll(await claimAll())
  const cost = async <T>(work: () => Promise<T>): Promise<[T, Cost]> => {
    counts.clear()
    const [before, own] = [serverMs(), process.cpuUsage()]
    const value = await work()
    const { user, system } = process.cpuUsage(own)
    const statements = [...counts.values()].reduce((sum, times) => sum + times, 0)
    const each = (sum: number) => sum / n
    return [
      value,
      {
        statements: each(statements),
        clientMs: each((user + system) / 1_000),
        serverMs: each(serverMs() - before),
      },
    ]
  }
  const [, accepted] = await cost(() => accept(n))
  const [all, claimed] = await cost(claimAll)
  if (all.length !== n) throw new Error(`${all.length} of ${n} mails were claimed`)
  const [, settled] = await cost(() => settleAll(all))
  await store.close()
  if (url !== undefined) hot.push(await hotShare(url))
  return { accept: accepted, claim: claimed, settle: settled }
}

async function open(store: Store) {
  const clock = systemClock
  const { id } = await createAccount({ store, clock }, 'City')
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  const rsa = { trust: true, rsaPair: await rsaPair() }
  await addDomain({ store, clock, key }, id, 'sender.test', rsa)
  const rig = await openCampaigns(t, { store, clock, accountId: id })
  const deps: EmailDeps = {
    ...rig,
    clock,
    plans,
    attachments: attachmentRules,
    defaultCountry: 'NG',
    retry: outbound.retry,
    maxQueued: outbound.maxQueued,
    surges: { minimum: 0, times: 10 },
    ring: () => {},
  }
  const { accountId } = rig
  const { html, text } = benchContent()
  const from = 'News <news@sender.test>'
  return {
    async accept(mails: number) {
      const batch = (of: number) =>
        Array.from({ length: 100 }, (_, i) => {
          const to = `r${of}-${i}@d${i % lanes}.test`
          return { from, to, subject: `Mail ${i}`, html: `${html}${of}-${i}`, text }
        })
      await fourAtOnce(mails / 100, (of) => acceptBatch(deps, accountId, { items: batch(of) }))
    },
    async claimAll(): Promise<Claimed[]> {
      const taken: Claimed[] = []
      const wants = Array.from({ length: lanes }, (_, of) => ({
        lane: `d${of}.test`,
        class: 0 as const,
        accountId,
        limit: 5,
      }))
      for (;;) {
        const now = systemClock.now()
        const claims = await store.byRow((tx) => claim(tx, wants, { now, node: 1, lease: thread }))
        const some = claims.flatMap((one) => one.taken)
        if (some.length === 0) return taken
        taken.push(...some)
      }
    },
    async settleAll(all: readonly Claimed[]) {
      const now = systemClock.now()
      await fourAtOnce(Math.ceil(all.length / 64), (of) =>
        store.byRow((tx) =>
          settle(tx, all.slice(64 * of, 64 * (of + 1)).map(delivered), {
            lease: thread,
            now,
            land,
          }),
        ),
      )
    },
  }
}

function delivered(claimed: Claimed): Settlement {
  return {
    ...claimed,
    kind: 'delivered',
    startedAt: systemClock.now(),
    attempts: 1,
    reply: '250 2.0.0 Ok: queued as 4D1F2',
    remote: 'mx.one.test [192.0.2.1]',
    tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
    transcript: 'C: EHLO\n'.repeat(20),
  }
}

async function fourAtOnce(count: number, work: (of: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const run = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all([run(), run(), run(), run()])
}

/** Of all updates of `emails` those that no index heard of. */
async function hotShare(url: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query<{ share: number }>(
    "select n_tup_hot_upd / greatest(n_tup_upd, 1)::float as share from pg_stat_user_tables where relname = 'emails'",
  )
  await client.end()
  return rows[0]?.share ?? 0
}

/** What the server's processes have taken of a processor so far, those that ended as well. */
function serverMs(): number {
  const postmaster = server?.pid()
  if (postmaster === undefined) return 0
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      const [user = 0, system = 0, ...ended] = fields.slice(11, 15).map(Number)
      if (Number(name) === postmaster) ticks += user + system + ended.reduce((a, b) => a + b, 0)
      else if (Number(fields[1]) === postmaster) ticks += user + system
    } catch {
      // It has ended meanwhile.
    }
  }
  return ticks * 10
}

function show(): void {
  const lines: [string, string][] = [['load average', loadAverage()]]
  const totals: Record<string, number> = {}
  for (const engine of engines) {
    for (const phase of phases) {
      const middle = (of: keyof Cost) =>
        found[engine].map((one) => one[phase][of]).sort((a, b) => a - b)[
          Math.floor(found[engine].length / 2)
        ] ?? 0
      const cost = {
        statements: middle('statements'),
        clientMs: middle('clientMs'),
        serverMs: middle('serverMs'),
      }
      for (const [name, value] of Object.entries(cost)) {
        totals[`${engine} ${name}`] = (totals[`${engine} ${name}`] ?? 0) + value
      }
      lines.push([
        `${engine} ${phase}: statements, client ms, server ms a mail`,
        [cost.statements.toFixed(2), cost.clientMs.toFixed(3), cost.serverMs.toFixed(3)].join(', '),
      ])
    }
  }
  for (const [name, value] of Object.entries(totals)) {
    lines.push([`together, ${name}`, value.toFixed(3)])
  }
  for (const share of hot) lines.push(['HOT updates of `emails`', share.toFixed(2)])
  const [sqlite = 1, postgres = 0] = [totals['sqlite clientMs'], totals['postgres clientMs']]
  lines.push(['client ms, PostgreSQL : SQLite', (postgres / sqlite).toFixed(2)])
  report(lines)
}
