import { nextTurn } from '../bounded/index.js'
import { type Clock, dayMs } from '../clock/index.js'
import type { Read } from '../store/index.js'

/** What receivers say of the mail in a domain's name. */
export interface DmarcSummary {
  /** The first day that is counted, in ms since 1970. */
  since: number
  /** The policy in the newest report; empty without a report. */
  policy: string
  reports: number
  messages: number
  passed: number
  sources: SourceSummary[]
  /** Who has reported, with the domain that signed the report; an empty proof means no signature. */
  reporters: { name: string; proof: string; reports: number }[]
  /** What receivers reported of TLS with the servers of the domain's return path. */
  tls: { reports: number; successes: number; failures: number; types: Record<string, number> }
}

/** The mail from one address; an empty address stands for those that were too many to be told apart. */
export interface SourceSummary {
  address: string
  /** From the DNS; empty where it has no name, or was not asked. */
  name: string
  kind: SourceKind
  messages: number
  /** DKIM or SPF passed for a domain that aligns. */
  passed: number
  dkimPassed: number
  spfPassed: number
  quarantined: number
  rejected: number
  /** How many of these are in reports without a signature. */
  unproven: number
  reporters: string[]
  identifiers: string
  advice: string
}

/** The names of addresses, as far as they are known by now. */
export type NameSources = (addresses: readonly string[]) => Promise<ReadonlyMap<string, string>>

/** What is to be summed up. */
interface Question {
  domain: { id: string; name: string }
  days: number
  /** The addresses from which our mail leaves. */
  ownAddresses: readonly string[]
  nameSources: NameSources
  /** Leaves out reports without a signature. */
  provenOnly?: boolean
}

/** Older reports are deleted. So a month can be compared with that of the year before. */
export const keptDays = 400
/** How many days are told where the request does not say. */
export const usualDays = 30
// A reporter's clock may be ahead by so much (`file.ts`): those days count too.
const daysAhead = 2
// Sources with little mail are seldom of interest, and each costs a DNS look-up.
const mostSources = 200
const mostReporters = 100

/** What was reported in the last days, the addresses with most mail first. */
export async function readDmarc(
  { read, clock }: { read: Read; clock: Clock },
  { domain, days, ownAddresses, nameSources, provenOnly = false }: Question,
): Promise<DmarcSummary> {
  const first = Math.floor(clock.now() / dayMs) - days + 1
  const [reports, newest, tls] = await Promise.all([
    read
      .selectFrom('dmarc_reports')
      .select(['reporter', 'proof'])
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .where('domain_id', '=', domain.id)
      .where('day', '>=', first)
      .groupBy(['reporter', 'proof'])
      .orderBy('n', 'desc')
      .orderBy('reporter')
      .execute(),
    read
      .selectFrom('dmarc_reports')
      .select('policy')
      .where('domain_id', '=', domain.id)
      // Only a signed report tells the policy, as a forged report may say anything.
      .where('proof', '<>', '')
      .orderBy('ends_at', 'desc')
      .limit(1)
      .executeTakeFirst(),
    tlsOf(read, domain.id, first),
  ])
  const policy = newest?.policy ?? ''
  const found = new Map<string, Found>()
  const last = first + days + daysAhead
  for (let day = first; day < last; day++)
    await addDay(read, found, { id: domain.id, day, provenOnly })
  const most = [...found.values()].sort((a, b) => b.messages - a.messages).slice(0, mostSources)
  const names = await nameSources(most.map(({ address }) => address).filter(Boolean))
  const sum = (count: (source: Found) => number) =>
    [...found.values()].reduce((all, source) => all + count(source), 0)
  return {
    since: first * dayMs,
    policy,
    reports: reports.reduce((all, { n }) => all + n, 0),
    messages: sum(({ messages }) => messages),
    passed: sum(({ passed }) => passed),
    sources: most.map(({ forwarded, ...source }) => {
      const kind = kindOf({ ...source, forwarded, isOurs: ownAddresses.includes(source.address) })
      const failed = source.messages - source.passed
      const advice = adviceFor({ kind, passed: source.passed, failed }, domain.name, policy)
      const reporters = [...new Set(source.reporters)]
      return { ...source, reporters, kind, name: names.get(source.address) ?? '', advice }
    }),
    reporters: reports
      .slice(0, mostReporters)
      .map(({ reporter, proof, n }) => ({ name: reporter, proof, reports: n })),
    tls,
  }
}

/** An address with its sums so far. */
type Found = ReturnType<typeof emptySource>

/** A day has 5,000 rows at most; other requests are answered between two days. */
async function addDay(
  read: Read,
  found: Map<string, Found>,
  { id, day, provenOnly }: { id: string; day: number; provenOnly: boolean },
): Promise<void> {
  const rows = await read
    .selectFrom('dmarc_sources')
    .selectAll()
    .where('domain_id', '=', id)
    .where('day', '=', day)
    .$if(provenOnly, (query) => query.where('proven', '=', 1))
    .execute()
  for (const row of rows) {
    const source = found.get(row.source) ?? emptySource(row.source)
    found.set(row.source, source)
    const isPassed = row.dkim === 1 || row.spf === 1
    source.messages += row.messages
    if (isPassed) source.passed += row.messages
    if (row.dkim === 1) source.dkimPassed += row.messages
    if (row.spf === 1) source.spfPassed += row.messages
    if (row.disposition === 'quarantine') source.quarantined += row.messages
    if (row.disposition === 'reject') source.rejected += row.messages
    if (row.forwarded === 1) source.forwarded += row.messages
    if (row.proven === 0) source.unproven += row.messages
    if (source.reporters.length < 10) source.reporters.push(row.reporter)
    if (source.identifiers === '' || !isPassed) source.identifiers = row.identifiers
  }
  // Lets other requests of this thread in.
  if (rows.length > 0) await nextTurn()
}

/** An address of which nothing is counted yet. */
const emptySource = (address: string) => ({
  address,
  messages: 0,
  passed: 0,
  dkimPassed: 0,
  spfPassed: 0,
  quarantined: 0,
  rejected: 0,
  forwarded: 0,
  unproven: 0,
  identifiers: '',
  reporters: [] as string[],
})

/** The sums of all TLS reports of these days. */
async function tlsOf(read: Read, domainId: string, first: number): Promise<DmarcSummary['tls']> {
  const rows = await read
    .selectFrom('tls_reports_received')
    .select(['successes', 'failures', 'failure_types'])
    .where('domain_id', '=', domainId)
    .where('day', '>=', first)
    .execute()
  const tls: DmarcSummary['tls'] = { reports: rows.length, successes: 0, failures: 0, types: {} }
  for (const row of rows) {
    tls.successes += row.successes
    tls.failures += row.failures
    const types = JSON.parse(row.failure_types) as Record<string, number>
    for (const [type, n] of Object.entries(types)) tls.types[type] = (tls.types[type] ?? 0) + n
  }
  return tls
}

/** To whom an address belongs, as far as we know. */
export type SourceKind = 'ours' | 'forwarder' | 'service' | 'other'

/** What an advice depends on. */
interface Seen {
  kind: SourceKind
  /** How many mails passed DMARC, and how many did not. */
  passed: number
  failed: number
}

/**
 * `forwarder`: receivers say so, or it brings mail that was signed for the domain, as mail stays signed when it is
 * forwarded. `service`: another sender in the domain's name, who passes by SPF.
 */
function kindOf(seen: {
  isOurs: boolean
  forwarded: number
  dkimPassed: number
  spfPassed: number
}): SourceKind {
  if (seen.isOurs) return 'ours'
  if (seen.spfPassed > 0) return 'service'
  return seen.forwarded > 0 || seen.dkimPassed > 0 ? 'forwarder' : 'other'
}

/** What to do about an address; empty where there is nothing to do. */
export function adviceFor({ kind, passed, failed }: Seen, domain: string, policy: string): string {
  if (failed === 0) return ''
  switch (kind) {
    case 'ours':
      return `Mail of this appliance fails: 'posthorn domain verify ${domain}' shows which record is wrong`
    case 'forwarder':
      return passed > 0 ? '' : 'Forwarded mail loses SPF; nothing is to be done while DKIM is right'
    case 'service':
      return 'If you use this service, have it sign with DKIM for the domain'
    case 'other':
      return policy === 'reject'
        ? ''
        : 'If it is yours, have it sign with DKIM for the domain; else publish p=quarantine, then p=reject'
  }
}
