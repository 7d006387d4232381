import { Option } from 'commander'
import type { Plans } from '../billing/index.js'
import { ApiError, type ErrorCode, OperatorError } from '../errors/index.js'
import type { CommandPlace } from './place.js'
import { plansOf } from './plan.js'

/** For commands that add something to an account, which its subscription may forbid. */
export const forceOption = () =>
  new Option('--force', 'add it even if the plan or the state of the subscription forbids it')

/** The plans to hold an addition to; none with `--force`, the operator's word. */
export const plansUnlessForced = (
  place: CommandPlace,
  { force }: { force?: boolean },
): Plans | undefined => (force ? undefined : plansOf(place))

/** Runs what adds, and tells of `--force` where the account's subscription refuses it. */
export async function withForceHint<T>(add: () => Promise<T>): Promise<T> {
  try {
    return await add()
  } catch (error) {
    // 403 is what a plan or the state of a subscription forbids; anything else --force would not
    // help.
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    throw new OperatorError(error.message, { cause: error, advice: '--force adds it all the same' })
  }
}

/** Runs `work`; what an API client would be told, the operator is told with what to do about it. */
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
