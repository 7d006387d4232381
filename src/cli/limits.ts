import { Option } from 'commander'
import type { Plans } from '../billing/index.js'
import { ApiError, type ErrorCode, OperatorError } from '../errors/index.js'
import type { CommandPlace } from './place.js'
import { plansOf } from './plan.js'

/** For commands that add something to an account, which its subscription may forbid. */
export const forceOption = () =>
  new Option('--force', 'add it even if the plan or the state of the subscription forbids it')

/**
 * The plans whose limits hold for an addition; none with `--force`, which is the operator's
 * decision.
 */
export const plansUnlessForced = (
  place: CommandPlace,
  { force }: { force?: boolean },
): Plans | undefined => (force ? undefined : plansOf(place))

/** Runs an addition, and tells of `--force` if the account's subscription refuses it. */
export async function withForceHint<T>(add: () => Promise<T>): Promise<T> {
  try {
    return await add()
  } catch (error) {
    // A plan or the state of a subscription refuses with 403; --force helps against nothing else.
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    throw new OperatorError(error.message, { cause: error, advice: '--force adds it all the same' })
  }
}

/** Runs `work`; the operator is told what an API client would be told, with what to do about it. */
export async function withHints<T>(
  hints: Partial<Record<ErrorCode, string | ((error: ApiError) => string)>>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const hint = hints[error.code]
    if (hint === undefined) throw error
    const advice = typeof hint === 'string' ? hint : hint(error)
    throw new OperatorError(error.message, { cause: error, advice })
  }
}
