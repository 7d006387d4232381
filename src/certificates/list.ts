import { X509Certificate } from 'node:crypto'
import { type Clock, hourMs } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { CertificateRow, Read, Store } from '../store/index.js'
import { accountRow, setAccount } from './account.js'
import { type HeldCertificate, heldOf } from './held.js'
import { type WantedName, wantedNames } from './names.js'
import { blankRow, readRows, setRow } from './state.js'

/** The state of a name of ACME. Times in ms; `endsAt` and `beganAt` are null where there is no certificate. */
export interface CertificateStanding
  extends WantedName,
    Omit<CertificateRow, 'name' | 'order_key'> {
  beganAt: number | null
  endsAt: number | null
}

interface Deps {
  read: Read
  config: Config
  dataDir: string
}

/** All names for which ACME should get certificates; none without `tls.acme`. */
export async function listCertificates({
  read,
  config,
  dataDir,
}: Deps): Promise<CertificateStanding[]> {
  if (!config.tls.acme) return []
  const rows = await readRows(read)
  const account = await accountRow(read, config.tls.directory)
  return (await wantedNames(read, config)).map((wish) => {
    const { order_key: _, ...row } = rows.get(wish.name) ?? { ...blankRow, name: wish.name }
    const held = heldOf(dataDir, wish.name)
    const leaf = held && new X509Certificate(held.cert)
    const nextAt = Math.max(row.next_at, account?.next_at ?? 0)
    return {
      ...row,
      ...wish,
      next_at: nextAt,
      beganAt: leaf === undefined ? null : Date.parse(leaf.validFrom),
      endsAt: held?.endsAt ?? null,
    }
  })
}

/** How many names are in which state, for code that has the certificates in memory. */
export async function countCertificates(
  read: Read,
  config: Config,
  held: readonly HeldCertificate[],
): Promise<Record<'good' | 'failing' | 'missing', number>> {
  const counts = { good: 0, failing: 0, missing: 0 }
  const there = new Set(held.flatMap(({ names }) => names))
  const rows = await readRows(read)
  for (const { name } of await wantedNames(read, config)) {
    const isFailing = (rows.get(name)?.error ?? null) !== null
    counts[!there.has(name) ? 'missing' : isFailing ? 'failing' : 'good']++
  }
  return counts
}

/** Makes the next run of the job order a certificate for the name, however good the present one is. */
export async function askForRenewal(
  { store, clock, config, dataDir }: { store: Store; clock: Clock } & Omit<Deps, 'read'>,
  name: string,
): Promise<void> {
  const now = clock.now()
  const isHeld = heldOf(dataDir, name) !== undefined
  await setRow(store, name, { next_at: now, renew_at: isHeld ? now : null, failures: 0 })
  // The operator has mended the fault, or wants to see it.
  await setAccount(store, config.tls.directory, { next_at: 0 })
}

/** How soon somebody has to look: a failure is given time to mend itself. */
export function urgencyOf(
  { beganAt, endsAt, failed_since: since, domain }: CertificateStanding,
  now: number,
): 'burning' | 'daily' | undefined {
  if (beganAt !== null && endsAt !== null) {
    // Relative to its life: a 90-day certificate is renewed 30 days before its end and tried again every day, a six-day
    // one three days before.
    const left = (endsAt - now) / (endsAt - beganAt)
    return left < 1 / 12 ? 'burning' : left < 1 / 4 ? 'daily' : undefined
  }
  const failsForMs = since === null ? 0 : now - since
  // The owner of a customer's host has to mend it: its DNS is theirs.
  if (domain !== undefined) return failsForMs > 24 * hourMs ? 'daily' : undefined
  return failsForMs > hourMs ? 'burning' : undefined
}
