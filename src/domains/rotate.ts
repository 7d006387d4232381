import { someAtOnce } from '../bounded/index.js'
import { type Clock, dayMs, isRecent } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import { generateDkimKeyPair, publishesDkimKey } from '../dkim/index.js'
import type { Resolver } from '../dns/index.js'
import { ApiError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { Store, Tx } from '../store/index.js'
import {
  type Domain,
  type DomainDeps,
  domainById,
  findDomain,
  keyRow,
  makePairInTurn,
  newStem,
} from './domain.js'
import { oldRecords } from './records.js'

/*
 * Keys are replaced without a moment in which mail waits or cannot be checked:
 *
 *   rotate ──▶ next: its record is to be published ──seen in the DNS──▶ current: signs ──next one signs──▶ past
 *   rotate now, as the key has leaked ──▶ current, and does not sign before its record is seen           │
 *                                                                                       its record may go ┘
 */

// A server may try for five days before it gives a mail back, and a signature may be checked even later.
const keptMs = 7 * dayMs

/**
 * Makes new keys for a domain, beside those in use; with `now` in their place: then the old ones sign no more and are
 * forgotten. Throws a 404, and a 409 where new keys wait for their records already.
 */
export async function rotateDomain(
  { store, clock, key }: DomainDeps & { key: ApplianceKey },
  accountId: string,
  name: string,
  {
    atOnce = false,
    alongside = async () => {},
  }: { atOnce?: boolean; alongside?: (tx: Tx, domain: Domain) => Promise<void> } = {},
): Promise<Domain> {
  const { id, next } = await findDomain(store.read, accountId, name)
  if (next.length > 0 && !atOnce) throw underWay(name)
  return await makePairInTurn(accountId, async () => {
    const [rsa, ed25519] = [
      await generateDkimKeyPair('rsa-sha256'),
      await generateDkimKeyPair('ed25519-sha256'),
    ]
    const stem = newStem()
    const now = clock.now()
    const row = () => ({ id: store.ids.uuid(), domainId: id, stem, now, key })
    const rows = [keyRow(row(), 'rsa-sha256', rsa), keyRow(row(), 'ed25519-sha256', ed25519)]
    return await store.write(async (tx) => {
      const domain = await domainById(tx, accountId, id)
      if (domain.next.length > 0) {
        if (!atOnce) throw underWay(name)
        // Nobody has used the keys that were to come: whoever made them may have lost them as well.
        await tx
          .deleteFrom('dkim_keys')
          .where('domain_id', '=', id)
          .where('stage', '=', 'next')
          .execute()
      }
      if (atOnce) for (const old of domain.keys) await retire(tx, old.id, now)
      const stage = atOnce ? 'current' : 'next'
      await tx
        .insertInto('dkim_keys')
        .values(rows.map((one) => ({ ...one, stage })))
        .execute()
      const rotated = await domainById(tx, accountId, id)
      await alongside(tx, rotated)
      return rotated
    })
  })
}

const underWay = (name: string) =>
  new ApiError(
    'conflict',
    `New keys of ${name} wait for their records already; publish those, or replace the keys at once`,
  )

/** The key signs no more, and its private half is forgotten. */
const retire = (tx: Tx, id: string, mayGoAt: number) =>
  tx
    .updateTable('dkim_keys')
    .set({ stage: 'past', verified: 0, private_key: Buffer.alloc(0), may_go_at: mayGoAt })
    .where('id', '=', id)
    .execute()

/**
 * Lets those keys that are to come sign whose records were seen, at these hosts; the keys before them are past. An
 * Ed25519 key takes over with the RSA key even without its record, where the one before it did not sign either.
 * Resolves with whether any did.
 */
export async function takeOver(
  tx: Tx,
  domain: Domain,
  { hosts, now }: { hosts: readonly string[]; now: number },
): Promise<boolean> {
  let isRsaNew = !domain.next.some(({ algorithm }) => algorithm === 'rsa-sha256')
  let isAny = false
  // RSA keys come first.
  for (const { id, algorithm, selector } of domain.next) {
    const before = domain.keys.filter((key) => key.algorithm === algorithm)
    const isSeen = hosts.includes(`${selector}._domainkey.${domain.name}`)
    const isUnused = algorithm !== 'rsa-sha256' && before.every(({ verified }) => !verified)
    if (!isSeen && !(isUnused && isRsaNew)) continue
    if (algorithm === 'rsa-sha256') isRsaNew = true
    isAny = true
    for (const old of before) {
      // The record of a key that has signed nothing need not stay.
      const mayGoAt = old.verified ? now + keptMs : now
      await retire(tx, old.id, mayGoAt)
    }
    await tx
      .updateTable('dkim_keys')
      .set({ stage: 'current', verified: isSeen ? 1 : 0 })
      .where('id', '=', id)
      .execute()
  }
  return isAny
}

/** Forgets earlier keys whose records may go, and are gone. What the DNS does not answer changes nothing. */
export async function forgetGone(
  { store, clock, resolver }: { store: Store; clock: Clock; resolver: Resolver },
  domain: Domain,
): Promise<void> {
  for (const { host, mayGo } of oldRecords(domain, clock.now())) {
    if (!mayGo) continue
    const answer = await resolver.txt(host)
    if (answer.kind === 'failed' || (answer.kind === 'records' && answer.records.length > 0))
      continue
    const gone = domain.past.find(
      ({ selector }) => host === `${selector}._domainkey.${domain.name}`,
    )
    if (gone === undefined) continue
    await store.write((tx) => tx.deleteFrom('dkim_keys').where('id', '=', gone.id).execute())
  }
}

// Whoever has not published the records by then asks for a look, or the daily job finds them.
const watchedForMs = 7 * dayMs
const atOnce = 8

/**
 * Looks whether the records of new keys are there, so that nobody has to ask: for domains whose keys are replaced,
 * later or at once. Nobody looks at a domain that was verified by word alone.
 */
export async function checkRotations(deps: {
  store: Store
  clock: Clock
  log: Log
  resolver: Resolver
  signal: AbortSignal
}): Promise<void> {
  const { store, clock, log, resolver, signal } = deps
  const rows = await store.read
    .selectFrom('dkim_keys')
    .innerJoin('domains', 'domains.id', 'dkim_keys.domain_id')
    .select(['domains.id', 'domains.account_id as accountId', 'dkim_keys.created_at as createdAt'])
    .where('domains.status', '=', 'verified')
    .where('domains.trusted', '=', 0)
    .where('dkim_keys.stage', '<>', 'past')
    .where('dkim_keys.verified', '=', 0)
    .execute()
  const young = rows.filter(({ createdAt }) => isRecent(createdAt, clock.now(), watchedForMs))
  const domains = [...new Map(young.map((row) => [row.id, row])).values()]
  await someAtOnce(domains, { atOnce, signal }, async ({ id, accountId }) => {
    const domain = await domainById(store.read, accountId, id).catch(unlessGone)
    if (domain === undefined) return
    const wanted = [...domain.next, ...domain.keys.filter(({ verified }) => !verified)]
    const seen = await Promise.all(
      wanted.map(async ({ selector, algorithm, publicKey }) => {
        const host = `${selector}._domainkey.${domain.name}`
        const answer = await resolver.txt(host)
        const found = answer.kind === 'records' ? answer.records : []
        const own = { algorithm, publicKeyBase64: publicKey }
        return found.some((text) => publishesDkimKey(text, own)) ? [host] : []
      }),
    )
    const hosts = seen.flat()
    if (hosts.length === 0) return
    await store.write(async (tx) => {
      const now = await domainById(tx, accountId, id).catch(unlessGone)
      if (now === undefined) return
      for (const key of now.keys) {
        if (key.verified || !hosts.includes(`${key.selector}._domainkey.${now.name}`)) continue
        await tx.updateTable('dkim_keys').set({ verified: 1 }).where('id', '=', key.id).execute()
      }
      await takeOver(tx, now, { hosts, now: clock.now() })
    })
    log.info({ domain: domain.name, records: hosts }, 'Mail is signed with new DKIM keys')
  })
}

/** A domain that was deleted meanwhile is no fault. */
function unlessGone(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error
}
