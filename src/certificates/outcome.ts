import { type Clock, dayMs, isRecent } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { CertificateRow, Store } from '../store/index.js'
import { accountRow, forgetWhenUnknown, setAccount } from './account.js'
import { causeOf } from './directory.js'
import { AcmeProblem, fixFor, isOfDirectory } from './problem.js'
import { directoryRestMs, pendingRestMs, restMs as restAfter } from './schedule.js'
import { setRow } from './state.js'

interface Deps {
  store: Store
  clock: Clock
  config: Pick<Config, 'tls'>
  random: () => number
}

/** The result of a name's turn. */
export type TurnOutcome =
  | { kind: 'issued' | 'waits' | 'good' }
  | { kind: 'failed'; cause: string; isOfAll?: boolean; limit?: Limit }

/** The directory has taken too many orders, of this name's domain or of ours. */
export interface Limit {
  askedMs: number | undefined
}

export const noFailure = { failures: 0, failed_since: null, error: null, fix: null } as const
export const noOrder = { order_url: null, order_key: null } as const

/** The directory has not decided: it is asked about the same order later. */
export async function noteWait(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  row: CertificateRow,
  askedMs: number | undefined,
): Promise<TurnOutcome> {
  const now = clock.now()
  // Given up after a day, as it may never be decided.
  const isOld = !isRecent(row.ordered_at ?? now, now, dayMs)
  await setRow(store, row.name, {
    failed_since: row.failed_since ?? now,
    error: 'the directory has not decided yet',
    fix: 'it is asked again by itself',
    next_at: now + pendingRestMs(askedMs),
    ...(isOld ? noOrder : {}),
  })
  return { kind: 'waits' }
}

/**
 * Notes a refusal by the directory, or a failure on the way to it. The name rests, or all names do: before our account
 * is known there (`isOpen` is false) it is never the name's fault.
 */
export async function noteRefusal(
  deps: Deps,
  row: CertificateRow,
  { error, isOpen }: { error: unknown; isOpen: boolean },
): Promise<TurnOutcome & { kind: 'failed' }> {
  const { store, clock, config, random } = deps
  const { directory } = config.tls
  const now = clock.now()
  const askedMs = error instanceof AcmeProblem ? error.retryAfterMs : undefined
  const cause = causeOf(error)
  if (!isOpen || isOfDirectory(error)) {
    const failures = ((await accountRow(store.read, directory))?.failures ?? 0) + 1
    const next_at = now + directoryRestMs(failures, askedMs, random)
    await setAccount(store, directory, { failures, next_at, error: cause })
    await forgetWhenUnknown(store, directory, error)
    // The name is not to blame: it keeps its turn and its order.
    const failed_since = row.failed_since ?? now
    await setRow(store, row.name, { failed_since, error: cause, fix: fixFor(row.name, error) })
    return { kind: 'failed', cause, isOfAll: true }
  }
  const isLimit = error instanceof AcmeProblem && error.type === 'rateLimited'
  const failed = await noteFailure(deps, row, {
    cause,
    fix: fixFor(row.name, error),
    restMs: restAfter(row.failures + 1, askedMs, random),
  })
  return { ...failed, ...(isLimit ? { limit: { askedMs } } : {}) }
}

/** The name rests for a time; its order, if it had one, is over. */
export async function noteFailure(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  row: CertificateRow,
  { cause, fix, restMs }: { cause: string; fix: string; restMs: number },
): Promise<TurnOutcome & { kind: 'failed' }> {
  const now = clock.now()
  await setRow(store, row.name, {
    failures: row.failures + 1,
    failed_since: row.failed_since ?? now,
    error: cause,
    fix,
    renew_at: row.renew_at,
    next_at: now + restMs,
    ...noOrder,
  })
  return { kind: 'failed', cause }
}
