import type { ApplianceKey } from '../config/index.js'
import { type DkimKey, makeDkimKey } from '../dkim/index.js'
import { prepared, type Read } from '../store/index.js'
import { sealPurpose } from './domain.js'
import { returnPathHost } from './records.js'

/** The account's domain of that name (A-label, lower case), whether verified or not. */
export async function findSenderDomain(
  read: Read,
  accountId: string,
  name: string,
): Promise<SenderDomain | undefined> {
  const [domain] = await domainNamed(read, { accountId, name })
  return domain
}

/** What accepting a mail asks of a domain. */
interface SenderDomain {
  id: string
  status: 'pending' | 'verified'
}

/** By the unique index, since each send runs it. */
const domainNamed = prepared<{ accountId: string; name: string }, SenderDomain>(
  (db, { accountId, name }) =>
    db
      .selectFrom('domains')
      .select(['id', 'status'])
      .where('account_id', '=', accountId)
      .where('name', '=', name),
)

/** The names of the domains that the account may send from, sorted. */
export async function verifiedDomains(read: Read, accountId: string): Promise<string[]> {
  const rows = await read
    .selectFrom('domains')
    .select('name')
    .where('account_id', '=', accountId)
    .where('status', '=', 'verified')
    .orderBy('name')
    .execute()
  return rows.map((row) => row.name)
}

/** The domain that was verified first, of all accounts; with `name`, the first one of that name. */
export async function oldestVerifiedDomain(
  read: Read,
  name?: string,
): Promise<{ id: string; name: string } | undefined> {
  return await read
    .selectFrom('domains')
    .select(['id', 'name'])
    .where('status', '=', 'verified')
    .$if(name !== undefined, (query) => query.where('name', '=', name ?? ''))
    .orderBy('verified_at')
    .limit(1)
    .executeTakeFirst()
}

/** Whether `host` is the return path host of a verified domain, of whatever account. */
export async function isReturnPathHost(read: Read, host: string): Promise<boolean> {
  const name = host.replace(/^[^.]*\./, '')
  if (returnPathHost(name) !== host) return false
  return (await verifiedNamed(read, { name })).length > 0
}

/** Two accounts may have the same domain. */
const verifiedNamed = prepared<{ name: string }, { id: string }>((db, { name }) =>
  db.selectFrom('domains').select('id').where('name', '=', name).where('status', '=', 'verified'),
)

/** Whether any account has a domain about whose mail others could report. */
export async function hasVerifiedDomain(read: Read): Promise<boolean> {
  return (await anyVerified(read, {})).length > 0
}

/** One is enough. */
const anyVerified = prepared<Record<string, never>, { id: string }>((db) =>
  db.selectFrom('domains').select('id').where('status', '=', 'verified').limit(1),
)

/** The verified domains that a name is, or lies below: those with the longest name that fits, of whatever accounts. */
export async function domainsAbove(
  read: Read,
  name: string,
): Promise<{ id: string; name: string }[]> {
  const labels = name.split('.')
  if (labels.length > maxLabels) return []
  const names = labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'))
  if (names.length === 0) return []
  const found = await read
    .selectFrom('domains')
    .select(['id', 'name'])
    .where('name', 'in', names)
    .where('status', '=', 'verified')
    .execute()
  const longest = Math.max(...found.map((domain) => domain.name.length))
  return found.filter((domain) => domain.name.length === longest)
}

// RFC 1035 §2.3.4 allows 127; no mail comes from names like that.
const maxLabels = 30

/** `returnPathHost` is undefined while the domain's own is not published: then the appliance's is used. */
interface SigningKeys {
  domainName: string
  returnPathHost: string | undefined
  keys: DkimKey[]
  /** The ids of the keys; they differ once a key was replaced. */
  ids: string[]
}

/** The ids of the keys that sign now, in the order of `signingKeys`: they tell whether those keys are still in use. */
export const signingKeyIds = prepared<{ domainId: string }, { id: string }>((db, { domainId }) =>
  db
    .selectFrom('dkim_keys')
    .select('id')
    .where('domain_id', '=', domainId)
    .where('verified', '=', 1)
    .orderBy('algorithm', 'desc'),
)

/**
 * What signing mail from a domain needs; undefined when the domain was deleted. The keys are unsealed here, so keep the
 * result for a while.
 */
export async function signingKeys(
  read: Read,
  applianceKey: ApplianceKey,
  domainId: string,
): Promise<SigningKeys | undefined> {
  const domain = await read
    .selectFrom('domains')
    .select(['name', 'return_path'])
    .where('id', '=', domainId)
    .executeTakeFirst()
  if (domain === undefined) return undefined
  const rows = await read
    .selectFrom('dkim_keys')
    .selectAll()
    .where('domain_id', '=', domainId)
    .where('verified', '=', 1)
    .orderBy('algorithm', 'desc')
    .execute()
  return {
    domainName: domain.name,
    returnPathHost: domain.return_path === 1 ? returnPathHost(domain.name) : undefined,
    ids: rows.map(({ id }) => id),
    keys: rows.map((row) =>
      makeDkimKey({
        domain: domain.name,
        selector: row.selector,
        algorithm: row.algorithm,
        privateKey: applianceKey.unseal(row.private_key, sealPurpose(domainId)),
      }),
    ),
  }
}
