import { someAtOnce } from '../bounded/index.js'
import { type Clock, dayMs, hourMs, isRecent } from '../clock/index.js'
import type { Resolver } from '../dns/index.js'
import { ApiError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { notice, openOfKind, type Raised, settled } from '../notices/index.js'
import type { Store, Tx } from '../store/index.js'
import { type Domain, domainById } from './domain.js'
import { keepLook } from './look.js'
import {
  type DnsRecord,
  type RecordCheck,
  type RecordSettings,
  stillWanted,
  zoneLine,
} from './records.js'
import { forgetGone, takeOver } from './rotate.js'
import { checkRecords, ofPurposes, verifyDomain } from './verify.js'

/** What the job needs; `signal` ends it between two domains. */
export interface CheckAgainDeps {
  store: Store
  clock: Clock
  log: Log
  resolver: Resolver
  settings: RecordSettings
  signal: AbortSignal
}

/** What a record is for. */
type Purpose = DnsRecord['purpose']

// A record counts as gone when so many looks in a row, over so long, have not found it: a zone that is being moved, or
// one name server that lags behind, is not a lost record. A look that the DNS does not answer does not count.
const looks = 3
const overMs = 4 * hourMs
// Two questions at once for each of some domains: a resolver can bear that, and a thousand domains take a minute.
const atOnce = 4

/**
 * Looks at the records of all verified domains that were not verified by word alone. What a domain can do without
 * (return path, Ed25519 key, host for links) is not used while its record is gone, and used again when it is back. The
 * RSA key goes on signing: refused mail would be worse than a slip in a zone, and whoever wants to stop has `posthorn
 * domain verify`. The operator is told of each record.
 */
export async function checkDomainsAgain(
  deps: CheckAgainDeps,
): Promise<{ checked: number; unanswered: number; broken: string[] }> {
  const { store, signal, log } = deps
  const ids = await store.read
    .selectFrom('domains')
    .select(['id', 'account_id'])
    .where('status', '=', 'verified')
    .where('trusted', '=', 0)
    .orderBy('id')
    .execute()
  const result = { checked: 0, unanswered: 0, broken: [] as string[] }
  await someAtOnce(ids, { atOnce, signal }, async ({ id, account_id: accountId }) => {
    const domain = await domainById(store.read, accountId, id).catch(unlessGone)
    if (domain === undefined) return
    const records = await checkRecords(deps.resolver, domain, deps.settings)
    result.checked++
    if (records.some(({ state }) => state === 'unknown')) result.unanswered++
    await forgetGone(deps, domain)
    const gone = await store.write(async (tx) => {
      // The look has taken seconds: changes made meanwhile must not be undone.
      const now = await domainById(tx, accountId, id).catch(unlessGone)
      if (now?.status !== 'verified' || now.trusted) return []
      const looked = stillWanted(now, deps.settings, records)
      return await conclude(deps, tx, { accountId, domain: now, records: looked })
    })
    if (gone.length === 0) return
    result.broken.push(domain.name)
    log.warn({ domain: domain.name, records: gone.map(({ host }) => host) }, 'Records are gone')
  })
  await store.write((tx) => settleDeleted(tx, deps.clock.now()))
  return result
}

// Whoever has not published the records by then asks for a look.
const newForMs = 3 * dayMs

/** Looks at the records of recently added domains, so that nobody has to ask whether they are seen yet. */
export async function checkNewDomains(deps: CheckAgainDeps): Promise<void> {
  const { store, clock, signal, log } = deps
  const pending = await store.read
    .selectFrom('domains')
    .select(['account_id', 'name', 'created_at'])
    .where('status', '=', 'pending')
    .execute()
  const now = clock.now()
  const added = pending.filter(({ created_at }) => isRecent(created_at, now, newForMs))
  await someAtOnce(added, { atOnce, signal }, async ({ account_id: accountId, name }) => {
    const looked = await verifyDomain(deps, accountId, name).catch(unlessGone)
    if (looked?.domain.status === 'verified') log.info({ domain: name }, 'A domain is verified')
  })
}

/** A domain that was deleted meanwhile is no fault. */
function unlessGone(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error
}

/** Writes what a look at a domain means; returns the records that are gone. */
async function conclude(
  { clock }: CheckAgainDeps,
  tx: Tx,
  seen: { accountId: string; domain: Domain; records: readonly RecordCheck[] },
): Promise<RecordCheck[]> {
  const { domain, records } = seen
  const now = clock.now()
  // Read inside the write: so two runs at once do not count a look twice.
  const before = await tx
    .selectFrom('record_checks')
    .selectAll()
    .where('domain_id', '=', domain.id)
    .execute()
  const failed = new Map(before.map((row) => [row.purpose, row]))
  const gone: RecordCheck[] = []
  const judged = ofPurposes(records)
  for (const record of judged) {
    const { purpose, state } = record
    const last = failed.get(purpose)
    if (state === 'ok') {
      if (last === undefined) continue
      await tx
        .deleteFrom('record_checks')
        .where('domain_id', '=', domain.id)
        .where('purpose', '=', purpose)
        .execute()
      continue
    }
    // A record that was never there is no loss.
    if (last === undefined && (state === 'unknown' || !isInUse(domain, purpose))) continue
    const failures = (last?.failures ?? 0) + (state === 'unknown' ? 0 : 1)
    const since = last?.since ?? now
    await tx
      .insertInto('record_checks')
      .values({ domain_id: domain.id, purpose, failures, since })
      .onConflict((conflict) =>
        conflict.columns(['domain_id', 'purpose']).doUpdateSet({ failures }),
      )
      .execute()
    if (failures >= looks && now - since >= overMs) gone.push(record)
  }
  await keepLook(tx, domain.id, { at: now, records })
  await use(tx, domain, judged, gone)
  const hosts = records.filter(({ state }) => state === 'ok').map(({ host }) => host)
  await takeOver(tx, domain, { hosts, now })
  await tx.updateTable('domains').set({ checked_at: now }).where('id', '=', domain.id).execute()
  const about = { kind: 'domain-record', key: domain.id, now } as const
  if (gone.length > 0) await notice(tx, { ...about, ...wordsOf(seen, gone) })
  else await settled(tx, about)
  return gone
}

/** Whether the domain has relied on a record. DMARC is the owner's business: nothing here depends on it. */
function isInUse(domain: Domain, purpose: Purpose): boolean {
  if (purpose === 'dmarc' || purpose.endsWith('-next')) return false
  if (purpose === 'tracking') return domain.trackingHostReady
  if (purpose === 'receiving') return domain.receivingHostReady
  if (purpose === 'dkim-rsa') return true
  if (purpose === 'dkim-ed25519')
    return domain.keys.some((key) => key.algorithm === 'ed25519-sha256' && key.verified)
  return domain.returnPath
}

/** Takes records that are gone out of use, and those that are there into use. */
async function use(
  tx: Tx,
  domain: Domain,
  records: readonly RecordCheck[],
  gone: readonly RecordCheck[],
): Promise<void> {
  const stands = (before: boolean, ...purposes: Purpose[]): number => {
    if (gone.some(({ purpose }) => purposes.includes(purpose))) return 0
    const found = records.filter(({ purpose }) => purposes.includes(purpose))
    const isThere = found.length === purposes.length && found.every(({ state }) => state === 'ok')
    return isThere ? 1 : Number(before)
  }
  const { returnPath, trackingHostReady, trackingHost } = domain
  const { receivingHost, receivingHostReady } = domain
  const path = stands(returnPath, 'return-path-mx', 'return-path-spf')
  const links = trackingHost === null ? 0 : stands(trackingHostReady, 'tracking')
  await tx
    .updateTable('domains')
    .set({
      return_path: path,
      tracking_host_ready: links,
      receiving_host_ready: receivingHost === null ? 0 : stands(receivingHostReady, 'receiving'),
    })
    .where('id', '=', domain.id)
    .execute()
  for (const key of domain.keys) {
    // An RSA key goes on signing. One that has replaced another at once begins when its record is there.
    const purpose = key.algorithm === 'rsa-sha256' ? 'dkim-rsa' : 'dkim-ed25519'
    const found = stands(key.verified, purpose)
    const verified = purpose === 'dkim-rsa' ? Math.max(found, Number(key.verified)) : found
    await tx.updateTable('dkim_keys').set({ verified }).where('id', '=', key.id).execute()
  }
}

/** What a lost record means, for the operator. */
const consequences: Readonly<Record<Purpose, string>> = {
  'dkim-rsa': 'Its mail goes on, but nobody can check its signature, and many refuse or junk it.',
  'dkim-ed25519': 'Its mail is signed only by its RSA key.',
  'dkim-rsa-next': '',
  'dkim-ed25519-next': '',
  'return-path-mx': "Bounces of its mail come by the appliance's own return path.",
  'return-path-spf': "Bounces of its mail come by the appliance's own return path.",
  tracking: 'Links in its mail lead by the host of the appliance.',
  receiving: 'Mail to it is led elsewhere, or comes back to who sent it.',
  dmarc: '',
}

/** The notice. A lost RSA key is urgent, as mail is refused without it; the others can wait for the daily mail. */
function wordsOf(
  { accountId, domain }: { accountId: string; domain: Domain },
  gone: readonly RecordCheck[],
): Omit<Raised, 'kind' | 'key'> {
  const [first] = gone
  const burns = gone.some(({ purpose }) => purpose === 'dkim-rsa')
  const what =
    gone.length === 1 ? `A DNS record of ${domain.name} is` : `DNS records of ${domain.name} are`
  return {
    severity: burns ? 'burning' : 'daily',
    // Another set of records is told anew.
    stage: gone
      .map(({ purpose }) => purpose)
      .sort()
      .join(),
    text: [
      `${what} ${first?.state === 'missing' ? 'gone' : 'wrong'}`,
      ...gone.map(({ type, host, state, found }) =>
        state === 'missing'
          ? `${type} of ${host} is missing`
          : `${type} of ${host} is: ${found.join(' | ')}`,
      ),
      ...new Set(gone.map(({ purpose }) => consequences[purpose])),
      `Account: ${accountId}`,
    ],
    fix: [...gone.map(zoneLine), `posthorn domain verify ${domain.name} --account ${accountId}`],
  }
}

/** Settles the notices about domains that are deleted or no longer verified. */
async function settleDeleted(tx: Tx, now: number): Promise<void> {
  for (const { key } of await openOfKind(tx, 'domain-record')) {
    const row = await tx
      .selectFrom('domains')
      .select('status')
      .where('id', '=', key)
      .executeTakeFirst()
    if (row?.status !== 'verified') await settled(tx, { kind: 'domain-record', key, now })
  }
}
