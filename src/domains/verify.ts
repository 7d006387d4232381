import { noteChange } from '../billing/index.js'
import { publishesDkimKey } from '../dkim/index.js'
import type { DnsAnswer, Resolver } from '../dns/index.js'
import { type Domain, type DomainDeps, findDomain } from './domain.js'
import { keepLook } from './look.js'
import {
  type DnsRecord,
  domainRecords,
  keyAt,
  type RecordCheck,
  type RecordSettings,
  spfMechanisms,
  stillWanted,
} from './records.js'
import { forgetGone, takeOver } from './rotate.js'
import { checkTrackingHost } from './tracking-host.js'

/** The domain as it then is, and each record. */
export interface Verification {
  domain: Domain
  records: RecordCheck[]
}

/** Treats a domain that was verified by word as one that nobody has looked at yet; its keys stay. */
export async function distrustDomain(
  { store }: Pick<DomainDeps, 'store'>,
  accountId: string,
  name: string,
): Promise<void> {
  await store.write(async (tx) => {
    const { id } = await findDomain(tx, accountId, name)
    const unseen = {
      status: 'pending',
      trusted: 0,
      return_path: 0,
      tracking_host_ready: 0,
      receiving_host_ready: 0,
    } as const
    await tx
      .updateTable('domains')
      .set({ ...unseen, verified_at: null, checked_at: null })
      .where('id', '=', id)
      .execute()
    await tx.updateTable('dkim_keys').set({ verified: 0 }).where('domain_id', '=', id).execute()
  })
}

/**
 * Looks a domain's records up and stores what follows: `verified` when the RSA key is published (that proves who owns
 * the domain), the Ed25519 key signs when its own record is there, the domain's return path is used when its MX and SPF
 * are there, its host for links when the DNS leads it here. What the DNS does not answer changes nothing, nor does a
 * record that changed while it was asked for. If another look has ended meanwhile, this one may be the older: then it
 * takes nothing back. Throws a 404, also for a domain that was deleted meanwhile.
 */
export async function verifyDomain(
  deps: DomainDeps & { resolver: Resolver; settings: RecordSettings },
  accountId: string,
  name: string,
  options: { trust?: boolean } = {},
): Promise<Verification> {
  const { store, clock, settings } = deps
  const before = await findDomain(store.read, accountId, name)
  const records = await checkRecords(deps.resolver, before, settings)
  const now = clock.now()
  await store.write(async (tx) => {
    const domain = await findDomain(tx, accountId, name)
    const looked = stillWanted(domain, settings, records)
    const isAlone = domain.checkedAt === before.checkedAt
    const trusted = options.trust === true || domain.trusted
    const state = (purpose: DnsRecord['purpose']) =>
      ofPurposes(looked).find((record) => record.purpose === purpose)?.state ?? 'not looked at'
    // 1 or 0; the value before where nobody has looked, or the DNS gave no answer.
    const stands = (was: boolean, ...states: (RecordCheck['state'] | 'not looked at')[]) => {
      if (states.includes('not looked at')) return Number(was)
      if (trusted) return 1
      if (states.includes('missing') || states.includes('different'))
        return isAlone ? 0 : Number(was)
      return states.includes('unknown') ? Number(was) : 1
    }
    // A key that was replaced at once, as it had leaked, is published a little later: mail goes on meanwhile.
    const isReplaced =
      domain.status === 'verified' &&
      domain.keys.some(({ algorithm, verified }) => algorithm === 'rsa-sha256' && !verified)
    const rsa = isReplaced ? 1 : stands(domain.status === 'verified', state('dkim-rsa'))
    await tx
      .updateTable('domains')
      .set({
        status: rsa ? 'verified' : 'pending',
        trusted: trusted ? 1 : 0,
        return_path: stands(domain.returnPath, state('return-path-mx'), state('return-path-spf')),
        tracking_host_ready:
          domain.trackingHost === null ? 0 : stands(domain.trackingHostReady, state('tracking')),
        receiving_host_ready:
          domain.receivingHost === null ? 0 : stands(domain.receivingHostReady, state('receiving')),
        verified_at: rsa ? (domain.verifiedAt ?? now) : null,
        checked_at: now,
      })
      .where('id', '=', domain.id)
      .execute()
    if (isAlone) await keepLook(tx, domain.id, { at: now, records: looked })
    if (rsa && domain.status !== 'verified') await noteChange(tx, accountId)
    for (const key of domain.keys) {
      const purpose = key.algorithm === 'rsa-sha256' ? 'dkim-rsa' : 'dkim-ed25519'
      await tx
        .updateTable('dkim_keys')
        .set({ verified: stands(key.verified, state(purpose)) })
        .where('id', '=', key.id)
        .execute()
    }
    const seen = looked.filter(({ state }) => trusted || state === 'ok')
    await takeOver(tx, domain, { hosts: seen.map(({ host }) => host), now })
  })
  await forgetGone(deps, before)
  return { domain: await findDomain(store.read, accountId, name), records }
}

/** Looks a domain's records up and stores nothing. */
export function checkRecords(
  resolver: Resolver,
  domain: Domain,
  settings: RecordSettings,
): Promise<RecordCheck[]> {
  const records = domainRecords(domain, settings)
  return Promise.all(records.map((record) => check(resolver, domain, record, settings)))
}

/** One of each purpose: where there are several hosts for bounces, one that is published is enough. */
export const ofPurposes = <R extends Pick<RecordCheck, 'purpose' | 'state'>>(
  records: readonly R[],
): R[] =>
  records.filter((record) => {
    const same = records.filter(({ purpose }) => purpose === record.purpose)
    return record === (same.find(({ state }) => state === 'ok') ?? same[0])
  })

/** One record: what is there, and what to do. */
async function check(
  resolver: Resolver,
  domain: Domain,
  record: DnsRecord,
  settings: RecordSettings,
): Promise<RecordCheck> {
  if (record.type === 'CNAME') {
    return { ...record, ...(await checkTrackingHost(resolver, record)) }
  }
  const answer: DnsAnswer<string> =
    record.type === 'TXT'
      ? await resolver.txt(record.host)
      : mapAnswer(await resolver.mx(record.host), (mx) => `${mx.preference} ${mx.exchange}`)
  if (answer.kind === 'failed') {
    const advice = `The DNS did not answer (${answer.cause}). Try again later`
    return { ...record, state: 'unknown', found: [], advice }
  }
  const all = answer.kind === 'records' ? answer.records : []
  const found = all.filter((value) => isOfKind(record, value)).map((value) => value.slice(0, 500))
  if (found.some((value) => isGood(domain, record, value, settings))) {
    // RFC 7208 §4.5, RFC 9989: with two policies at one name, receivers use neither.
    const single = record.purpose === 'return-path-spf' || record.purpose === 'dmarc'
    if (!single || found.length === 1) return { ...record, state: 'ok', found, advice: '' }
    const advice = `Several such records at ${record.host}: keep one`
    return { ...record, state: 'different', found, hasOthers: true, advice }
  }
  if (found.length === 0) {
    const advice = `Publish this ${record.type} record at ${record.host}`
    return { ...record, state: 'missing', found, advice }
  }
  const advice = `Replace what is at ${record.host} by the wanted value`
  return { ...record, state: 'different', found, advice }
}

/** Whether a value at the record's name is meant for its purpose at all. */
function isOfKind({ purpose }: DnsRecord, value: string): boolean {
  if (purpose === 'return-path-spf') return /^v=spf1(\s|$)/i.test(value)
  if (purpose === 'dmarc') return /^v=DMARC1\s*(;|$)/.test(value)
  return true
}

/**
 * Whether a value does what the wanted one would. It need not be the same: an SPF record may have more mechanisms, and
 * a DMARC policy may be stricter.
 */
function isGood(
  domain: Domain,
  { purpose, host, value: wanted }: DnsRecord,
  found: string,
  settings: RecordSettings,
): boolean {
  switch (purpose) {
    case 'dkim-rsa':
    case 'dkim-ed25519':
    case 'dkim-rsa-next':
    case 'dkim-ed25519-next': {
      const key = keyAt(domain, host)
      if (key === undefined) return false
      return publishesDkimKey(found, { algorithm: key.algorithm, publicKeyBase64: key.publicKey })
    }
    case 'return-path-mx':
    case 'receiving':
      return found.split(' ')[1] === wanted.split(' ')[1]?.toLowerCase()
    case 'return-path-spf': {
      // RFC 7208 §5.1: anything behind `all` is ignored.
      const terms =
        found
          .toLowerCase()
          .split(/\s[+?~-]?all\b/)[0]
          ?.split(/\s+/) ?? []
      return spfMechanisms(settings).every(
        (term) => terms.includes(term.toLowerCase()) || terms.includes(`+${term.toLowerCase()}`),
      )
    }
    case 'tracking':
      return found === wanted
    case 'dmarc':
      // RFC 9989 keeps the rule of RFC 7489 that a policy names one: p= is there.
      return /;\s*p\s*=\s*(none|quarantine|reject)\s*(;|$)/i.test(found)
  }
}

/** An answer with other records in place of its own. */
function mapAnswer<A, B>(answer: DnsAnswer<A>, map: (record: A) => B): DnsAnswer<B> {
  if (answer.kind !== 'records') return answer
  return { kind: 'records', records: answer.records.map(map) }
}
