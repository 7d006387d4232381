import { randomBytes } from 'node:crypto'
import { domainToASCII } from 'node:url'
import { counted } from '../amounts/index.js'
import {
  checkAdding,
  noteChange,
  type Plans,
  readBilling,
  refuseBeyondCeiling,
} from '../billing/index.js'
import { makeInTurn } from '../bounded/index.js'
import type { Clock } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import { type DkimAlgorithm, type DkimKeyPair, generateDkimKeyPair } from '../dkim/index.js'
import { ApiError } from '../errors/index.js'
import { hasSoundALabels } from '../mime/index.js'
import {
  type DkimKeyRow,
  type DomainRow,
  idsIn,
  type Read,
  type Store,
  type Tx,
} from '../store/index.js'

/** What the functions of domains need. */
export interface DomainDeps {
  store: Store
  clock: Clock
}

/** A domain with the public halves of its keys. */
export interface Domain {
  id: string
  name: string
  status: 'pending' | 'verified'
  trusted: boolean
  returnPath: boolean
  /** The domain's own host for tracked links, and whether the DNS was seen to lead it here. */
  trackingHost: string | null
  trackingHostReady: boolean
  /** The host at which it takes mail for its account, and whether the MX was seen to lead here. */
  receivingHost: string | null
  receivingHostReady: boolean
  createdAt: number
  verifiedAt: number | null
  checkedAt: number | null
  /** Keys that sign, or will once their records are seen for the first time. */
  keys: DomainKey[]
  /** Keys that replace those above once their records are seen. */
  next: DomainKey[]
  /** Keys that signed before; their records are still listed. */
  past: (DomainKey & { mayGoAt: number })[]
}

/** The public half of a key. */
export interface DomainKey {
  id: string
  selector: string
  algorithm: DkimKeyRow['algorithm']
  publicKey: string
  verified: boolean
  createdAt: number
}

/** How a domain is added; `alongside` is written with it. */
interface AddDomainOptions {
  trust?: boolean
  plans?: Plans | undefined
  alongside?: (tx: Tx, added: Domain) => Promise<void>
  /** Used instead of a new RSA key pair: a pair that was made before, for the tests of users. */
  rsaPair?: DkimKeyPair | undefined
}

// A pair takes tenths of a second of a processor, which others' mail needs: one is made at a time, and the accounts
// take turns.
const mostWaiting = 5
// One for the whole process, since it shares the processors.
const inTurn = makeInTurn(
  mostWaiting,
  () =>
    new ApiError('rate_limit_exceeded', 'Too many domains are being added; try again in a moment', {
      headers: { 'Retry-After': '5' },
    }),
)

/**
 * Adds a domain to an account with an RSA and an Ed25519 key pair. `trust` takes it as verified by the operator's word
 * (sandbox, split-horizon DNS). Throws a 409 for a domain that is there, and an `ApiError` where the account may add
 * nothing, or, if it is held to `plans`, no more domains.
 */
export async function addDomain(
  { store, clock, key }: DomainDeps & { key: ApplianceKey },
  accountId: string,
  name: string,
  options: AddDomainOptions = {},
): Promise<Domain> {
  const ascii = checkedName(name)
  const trusted = options.trust === true
  const id = store.ids.uuid()
  const now = clock.now()
  const stem = newStem()
  const refuse = (read: Read) => refuseDomain(read, accountId, ascii, options.plans)
  // Before anything that takes time: a refusal costs two look-ups.
  await refuse(store.read)
  const keyOf = (algorithm: DkimAlgorithm, pair: DkimKeyPair): DkimKeyRow => ({
    ...keyRow({ id: store.ids.uuid(), domainId: id, stem, now, key }, algorithm, pair),
    verified: trusted ? 1 : 0,
  })
  const row: DomainRow = {
    id,
    account_id: accountId,
    name: ascii,
    status: trusted ? 'verified' : 'pending',
    trusted: trusted ? 1 : 0,
    return_path: trusted ? 1 : 0,
    created_at: now,
    verified_at: trusted ? now : null,
    checked_at: null,
    track_opens: null,
    track_clicks: null,
    tracking_host: null,
    tracking_host_ready: null,
    receiving_host: null,
    receiving_host_ready: null,
  }
  const add = async (rsaPair: DkimKeyPair) => {
    const keys = [
      keyOf('rsa-sha256', rsaPair),
      keyOf('ed25519-sha256', await generateDkimKeyPair('ed25519-sha256')),
    ]
    await store.write(async (tx) => {
      // Again, inside the write: where two add at once, only one may pass.
      await refuse(tx)
      await tx.insertInto('domains').values(row).execute()
      await tx.insertInto('dkim_keys').values(keys).execute()
      if (trusted) await noteChange(tx, accountId)
      await options.alongside?.(tx, toDomain(row, keys))
    })
    return toDomain(row, keys)
  }
  if (options.rsaPair !== undefined) return await add(options.rsaPair)
  return await makePairInTurn(accountId, async () => {
    // Where the same request came many times at once, one of them was served meanwhile.
    await refuse(store.read)
    return await add(await generateDkimKeyPair('rsa-sha256'))
  })
}

/** Makes key pairs for an account, when it is its turn. */
export const makePairInTurn = <T>(accountId: string, make: () => Promise<T>): Promise<T> =>
  inTurn(accountId, make)

/**
 * The beginning of the selectors of a domain's two keys: both have the same, so that a person sees that they belong
 * together.
 */
export const newStem = () => `ph${randomBytes(4).toString('hex').slice(0, 6)}`

/** A new key, whose record was not seen yet. */
export const keyRow = (
  {
    id,
    domainId,
    stem,
    now,
    key,
  }: { id: string; domainId: string; stem: string; now: number; key: ApplianceKey },
  algorithm: DkimAlgorithm,
  pair: DkimKeyPair,
) => ({
  id,
  domain_id: domainId,
  selector: `${stem}${algorithm === 'rsa-sha256' ? 'r' : 'e'}`,
  algorithm,
  private_key: key.seal(pair.privateKeyPem, sealPurpose(domainId)),
  public_key: pair.publicKeyBase64,
  verified: 0,
  created_at: now,
  stage: 'current' as const,
  may_go_at: null,
})

/** Throws a 409 for a domain that is there, and a 403 where the account may add none. */
async function refuseDomain(
  read: Read,
  accountId: string,
  name: string,
  plans: Plans | undefined,
): Promise<void> {
  const twin = await domainsOf(read, accountId).where('name', '=', name).executeTakeFirst()
  if (twin !== undefined) {
    throw new ApiError('conflict', `The account has the domain ${name} already`)
  }
  if (plans !== undefined) await refuseBeyondPlan(read, plans, accountId)
}

async function refuseBeyondPlan(read: Read, plans: Plans, accountId: string): Promise<void> {
  const billing = await readBilling(read, plans, accountId)
  checkAdding(billing)
  const { name, domains: most } = billing.plan
  if (most === null) return await refuseBeyondCeiling(read, plans, accountId, 'domains')
  const { held } = await read
    .selectFrom('domains')
    .select((eb) => eb.fn.countAll<number>().as('held'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  if (held < most) return
  const message = `The plan ${name} allows ${counted(most, 'domain')}`
  throw new ApiError('plan_limit_exceeded', message)
}

/** By name; all of them, or so many from the name after `after` on. */
export async function listDomains(
  read: Read,
  accountId: string,
  { after, limit }: { after?: string | undefined; limit?: number } = {},
): Promise<Domain[]> {
  const rows = await domainsOf(read, accountId)
    .$if(after !== undefined, (query) => query.where('name', '>', after ?? ''))
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .orderBy('name')
    .execute()
  const keys = await keysOf(
    read,
    rows.map(({ id }) => id),
  )
  const byDomain = new Map<string, DkimKeyRow[]>(rows.map(({ id }) => [id, []]))
  for (const key of keys) byDomain.get(key.domain_id)?.push(key)
  return rows.map((row) => toDomain(row, byDomain.get(row.id) ?? []))
}

/** Throws a 404. */
export async function findDomain(read: Read, accountId: string, name: string): Promise<Domain> {
  const ascii = checkedName(name)
  const row = await domainsOf(read, accountId).where('name', '=', ascii).executeTakeFirst()
  if (row === undefined) throw new ApiError('not_found', `The account has no domain ${ascii}`)
  return toDomain(row, await keysOf(read, [row.id]))
}

/** The account's domain by its id, as clients name it. */
export async function domainById(read: Read, accountId: string, id: string): Promise<Domain> {
  const row = await domainsOf(read, accountId).where('id', '=', id).executeTakeFirst()
  if (row === undefined)
    throw new ApiError('not_found', 'The account has no sending domain with this id')
  return toDomain(row, await keysOf(read, [row.id]))
}

/** The account's rows. */
const domainsOf = (read: Read, accountId: string) =>
  read.selectFrom('domains').selectAll().where('account_id', '=', accountId)

/** What a private key is sealed for: it is bound to its domain, so that rows cannot be swapped. */
export const sealPurpose = (domainId: string) => `dkim ${domainId}`

/** The name as A-label in lower case; throws a 422 for a text that is no domain name. */
export function checkedName(name: string): string {
  const given = name.trim().replace(/\.$/, '')
  // From other characters the URL parser would make a name (`a.test/x`, `a%2etest`) that nobody has typed.
  const plain = /^[a-z0-9.\-\u0080-\u{10ffff}]+$/iu.test(given)
  const ascii = plain ? domainToASCII(given).toLowerCase() : ''
  const labels = ascii.split('.')
  const valid =
    labels.length >= 2 &&
    ascii.length <= 200 &&
    labels.every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label)) &&
    // RFC 3696 §2: no top-level domain is all digits, so this would be an IP address.
    !/^\d+$/.test(labels.at(-1) ?? '') &&
    hasSoundALabels(ascii)
  if (valid) return ascii
  const shown = name.length > 255 ? `${name.slice(0, 255)}…` : name
  throw new ApiError('validation_error', `"${shown}" is not a domain name, such as example.com`, {
    status: 422,
    fields: { field: 'name' },
  })
}

/** The keys of some domains, RSA first. */
const keysOf = (read: Read, domainIds: readonly string[]) =>
  read
    .selectFrom('dkim_keys')
    .selectAll()
    .where('domain_id', 'in', idsIn(domainIds, 'text'))
    .orderBy('algorithm', 'desc')
    .execute()

/** A row with its keys, without their private halves. */
function toDomain(row: DomainRow, keys: DkimKeyRow[]): Domain {
  const keysAt = (stage: DkimKeyRow['stage']) => keys.filter((key) => key.stage === stage)
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    trusted: row.trusted === 1,
    returnPath: row.return_path === 1,
    trackingHost: row.tracking_host,
    trackingHostReady: row.tracking_host_ready === 1,
    receivingHost: row.receiving_host,
    receivingHostReady: row.receiving_host_ready === 1,
    createdAt: row.created_at,
    verifiedAt: row.verified_at,
    checkedAt: row.checked_at,
    keys: keysAt('current').map(toKey),
    next: keysAt('next').map(toKey),
    past: keysAt('past').map((key) => ({ ...toKey(key), mayGoAt: key.may_go_at ?? 0 })),
  }
}

const toKey = (key: DkimKeyRow): DomainKey => ({
  id: key.id,
  selector: key.selector,
  algorithm: key.algorithm,
  publicKey: key.public_key,
  verified: key.verified === 1,
  createdAt: key.created_at,
})
