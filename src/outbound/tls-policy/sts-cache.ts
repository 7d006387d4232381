import type { Read, Tx } from '../../store/index.js'
import type { StsMode } from './sts-text.js'

/** A domain's policy as it was fetched, times in ms. */
export interface StsPolicy {
  /** The `id` of the TXT record that it was fetched for. */
  id: string
  mode: StsMode
  mx: readonly string[]
  maxAgeMs: number
  fetchedAt: number
  expiresAt: number
}

/** A broken row counts as none: the policy is fetched again. */
export async function readSts(read: Read, domain: string): Promise<StsPolicy | undefined> {
  const row = await read
    .selectFrom('mta_sts')
    .selectAll()
    .where('domain', '=', domain)
    .executeTakeFirst()
  if (row === undefined) return undefined
  try {
    return {
      id: row.policy_id,
      mode: row.mode,
      mx: JSON.parse(row.mx) as string[],
      maxAgeMs: row.max_age_ms,
      fetchedAt: row.fetched_at,
      expiresAt: row.expires_at,
    }
  } catch {
    return undefined
  }
}

/** Keeps a policy in place of the one before, and drops the policies of all domains that have run out. */
export async function saveSts(tx: Tx, domain: string, policy: StsPolicy): Promise<void> {
  const values = {
    policy_id: policy.id,
    mode: policy.mode,
    mx: JSON.stringify(policy.mx),
    max_age_ms: policy.maxAgeMs,
    fetched_at: policy.fetchedAt,
    expires_at: policy.expiresAt,
  }
  await tx.deleteFrom('mta_sts').where('expires_at', '<', policy.fetchedAt).execute()
  await tx
    .insertInto('mta_sts')
    .values({ domain, ...values })
    .onConflict((conflict) => conflict.column('domain').doUpdateSet(values))
    .execute()
}
