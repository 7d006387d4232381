import { readFileSync } from 'node:fs'
import type { Clock } from '../clock/index.js'
import { type ApplianceKey, type Config, externalAccountOf } from '../config/index.js'
import type { Resolver } from '../dns/index.js'
import type { Log } from '../log/index.js'
import type { CertificateRow, Store } from '../store/index.js'
import { accountRow, newKey, ownAccount, register, setAccount } from './account.js'
import { type Directory, openDirectory, renewalId } from './directory.js'
import { type DnsRecords, isByDns, makeDnsRecords } from './dns-challenge.js'
import { pemOf, placeCertificate, removeCertificate } from './files.js'
import { type HeldCertificate, heldOf } from './held.js'
import { seenLimits } from './limits.js'
import { addressesOfAll, elsewhere, type WantedName, wantedNames } from './names.js'
import { advanceOrder } from './order.js'
import {
  noFailure,
  noOrder,
  noteFailure,
  noteRefusal,
  noteWait,
  type TurnOutcome,
} from './outcome.js'
import { elsewhereRestMs } from './schedule.js'
import { bringCertificates, removeAnswers, sealedFile, shareFiles } from './shared.js'
import { blankRow, dueNames, leftNames, noteOrder, readStanding, setRow } from './state.js'
import { whenToRenew } from './when-to-renew.js'

export interface RenewDeps {
  store: Store
  clock: Clock
  log: Log
  config: Config
  dataDir: string
  resolver: Resolver
  key: ApplianceKey
  signal: AbortSignal
  /** In [0, 1). */
  random: () => number
}

export interface Renewed {
  issued: string[]
  /** The names that failed, with their faults, for the run's result. */
  failed: string[]
  removed: string[]
}

/** Whether `renewCertificates` has something to do now. Asked every ten seconds, it reads only rows and names. */
export async function areCertificatesDue(
  deps: Pick<RenewDeps, 'store' | 'clock' | 'config' | 'dataDir'>,
): Promise<boolean> {
  const { config, store, clock } = deps
  if (!config.tls.acme) return false
  const standing = await readStanding(deps, await wantedNames(store.read, config))
  if (leftNames(standing).length > 0) return true
  const account = await accountRow(store.read, config.tls.directory)
  const now = clock.now()
  return (account?.next_at ?? 0) <= now && dueNames(standing, config, now).length > 0
}

/**
 * Gets and renews what is due, one order at a time, and removes what nobody wants any more. A failure leaves the
 * present certificate in place. It may end anywhere: a begun order is continued later.
 */
export async function renewCertificates(deps: RenewDeps): Promise<Renewed> {
  const { store, config, dataDir, clock, signal, log } = deps
  const renewed: Renewed = { issued: [], failed: [], removed: [] }
  if (!config.tls.acme) return renewed
  const wanted = await wantedNames(store.read, config)
  // Another node may have got certificates, and may have been the one to do so until now.
  await bringCertificates(deps, new Map(), { removes: false })
  await shareFiles(deps)
  const standing = await readStanding(deps, wanted)
  for (const name of leftNames(standing)) {
    removeCertificate(dataDir, name)
    await store.write((tx) => tx.deleteFrom('certificates').where('name', '=', name).execute())
    renewed.removed.push(name)
  }
  const isUnderWay = wanted.some(({ name }) => standing.rows.get(name)?.order_url != null)
  if (!isUnderWay) await removeAnswers(store)
  const account = await accountRow(store.read, config.tls.directory)
  if ((account?.next_at ?? 0) > clock.now()) return renewed
  const openOnce = once(() => openOwn(deps))
  const addressesOnce = once(() => addressesOfAll(store.read, config))
  const limits = seenLimits({ ...deps, ...standing })
  for (const wish of dueNames(standing, config, clock.now())) {
    if (signal.aborted) break
    if (limits.isResting(wish)) continue
    const row = standing.rows.get(wish.name) ?? { ...blankRow, name: wish.name }
    const done = await renewOne({ ...deps, openOnce, addressesOnce }, wish, row)
    if (done.kind === 'issued' || done.kind === 'waits') limits.pass()
    if (done.kind === 'issued') {
      log.info({ name: wish.name }, 'A certificate has come')
      renewed.issued.push(wish.name)
    } else if (done.kind === 'failed') {
      log.warn({ name: wish.name, cause: done.cause }, 'A certificate could not be got')
      renewed.failed.push(`${wish.name}: ${done.cause}`)
      if (done.isOfAll) break
      if (done.limit !== undefined && (await limits.meet(wish, done.limit))) break
    }
  }
  return renewed
}

type Own = RenewDeps & {
  openOnce: () => Promise<Directory>
  /** Of all nodes, read once for all names. */
  addressesOnce: () => Promise<ReadonlySet<string>>
}

async function renewOne(deps: Own, wish: WantedName, row: CertificateRow): Promise<TurnOutcome> {
  const { store, clock, dataDir, random } = deps
  const { name } = wish
  const held = heldOf(dataDir, name)
  const times = row.order_url === null && held ? await whenToRenew(deps, held, row) : undefined
  if (times !== undefined && times.renew_at > clock.now()) {
    await setRow(store, name, { ...times, ...noFailure })
    return { kind: 'good' }
  }
  // Without a certificate, its renewal time would be a reason to ask every minute.
  const known = { ...row, renew_at: held === undefined ? null : row.renew_at }
  // A name that is proved by its DNS need not lead here.
  const astray = isByDns(deps.config, wish)
    ? undefined
    : await elsewhere({ ...deps, own: await deps.addressesOnce() }, wish)
  if (astray !== undefined) {
    return await noteFailure(deps, known, {
      ...astray,
      restMs: elsewhereRestMs(row.failures + 1, random),
    })
  }
  const countOnce = once(() =>
    noteOrder(store, {
      ordered_at: clock.now(),
      name,
      account_id: wish.accountId ?? null,
      is_first: held === undefined ? 1 : 0,
    }),
  )
  let isOpen = false
  try {
    const directory = await deps.openOnce()
    isOpen = true
    const dns = isByDns(deps.config, wish) ? makeDnsRecords(deps) : undefined
    return await orderOne({ ...deps, directory, countOnce, dns }, known, held)
  } catch (error) {
    // Not the directory's fault: the appliance stops.
    if (deps.signal.aborted) return { kind: 'waits' }
    const done = await noteRefusal(deps, known, { error, isOpen })
    // An order that is refused at once burdens the directory too.
    if (!done.isOfAll && row.order_url === null) await countOnce()
    return done
  }
}

async function orderOne(
  deps: Own & { directory: Directory; countOnce: () => Promise<void>; dns: DnsRecords | undefined },
  row: CertificateRow,
  held: HeldCertificate | undefined,
): Promise<TurnOutcome> {
  const { store, clock, dataDir, signal, config, directory, dns } = deps
  const { name } = row
  const purpose = certificatePurpose(name)
  const key = row.order_key === null ? newKey() : deps.key.unseal(row.order_key, purpose)
  const keep = async (order_url: string) => {
    await setRow(store, name, {
      order_url,
      ordered_at: clock.now(),
      renew_at: row.renew_at,
      order_key: deps.key.seal(key, purpose),
    })
    await deps.countOnce()
  }
  const outcome = await advanceOrder(
    { directory, store, clock, signal, keep, dns },
    {
      name,
      key,
      url: row.order_url ?? undefined,
      replaces: held && renewalId(held.cert.toString()),
    },
  )
  await setAccount(store, config.tls.directory, { failures: 0, error: null })
  if (outcome.kind === 'pending') return await noteWait(deps, row, outcome.askedToWaitMs)
  const pair = { key, chain: outcome.chain }
  placeCertificate(dataDir, name, pair)
  const sealed = sealedFile(deps.key, name, pemOf(pair))
  const now = clock.now()
  await setRow(store, name, { ...noFailure, ...noOrder, ...sealed, renew_at: null, next_at: now })
  const fresh = heldOf(dataDir, name)
  if (fresh !== undefined) await setRow(store, name, await whenToRenew(deps, fresh, blankRow))
  return { kind: 'issued' }
}

/** The purpose for which the key of an order is sealed. */
export const certificatePurpose = (name: string) => `certificate ${name}`

/** The configured directory, with our account there. */
async function openOwn(deps: RenewDeps): Promise<Directory> {
  const { clock, resolver, signal, config } = deps
  const { directory: url, directoryCa } = config.tls
  const account = await ownAccount(deps)
  const ca = directoryCa === '' ? undefined : readFileSync(directoryCa, 'utf8')
  const directory = await openDirectory({
    url,
    accountKey: account.key,
    accountUrl: account.url ?? undefined,
    externalAccount: externalAccountOf(config.tls),
    transport: { clock, resolver, ca, signal },
  })
  await register(deps, directory, account)
  return directory
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
