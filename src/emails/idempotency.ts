import type { Clock } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { AnsweredOnce, Remember, Repeats } from '../http/index.js'
import type { Store } from '../store/index.js'
import { forgetExpired, keepAnswer, makeFindAnswer } from './kept-answer.js'

/** Whose key it is; test keys' requests are kept apart from those of others. */
export interface KeyOwner {
  accountId: string
  isTest?: boolean
  /** The owner of keys that belong to no account; their requests are kept apart too. */
  apart?: string
}

/**
 * `Idempotency-Key` (`interface.md`, Idempotency behaviour), for every POST of the API. The key's row is committed
 * with the effect, so a crash leaves either both or neither; a key in flight lives in memory alone, so none can stay
 * 'running'. Only successes are remembered. Between threads and processes the row's own key decides: the second
 * request is undone, and gets the first one's answer.
 */
export interface Idempotency extends Repeats<KeyOwner> {
  /** Deletes keys older than 24 hours, in small batches. Returns when there are no more. */
  sweep(signal: AbortSignal): Promise<void>
}

/**
 * Requests under way are in this thread's memory. Answers are in the database, written with the
 * mail itself, so that a kill can leave no mail without its answer.
 */
export function makeIdempotency({ store, clock }: { store: Store; clock: Clock }): Idempotency {
  /** By account and key; undefined for a file, whose fingerprint is known only once it was read. */
  const inFlight = new Map<string, string | undefined>()
  const findAnswer = makeFindAnswer({ store, clock })

  return {
    async once({ account, fingerprint, ...asked }, work): Promise<AnsweredOnce> {
      const { accountId } = account
      // A request with a test key is not a repeat of one with another key. A given key never has a blank.
      const apart = account.isTest === true ? 'test' : account.apart
      const key = apart === undefined ? asked.key : `${apart} ${asked.key}`
      const known = typeof fingerprint === 'string' ? fingerprint : undefined
      const name = `${accountId} ${key}`
      if (inFlight.has(name)) {
        const running = inFlight.get(name)
        if (known !== undefined && running !== undefined && running !== known) throw usedOtherwise()
        throw stillRunning()
      }
      const remember = async (
        print: string,
        [tx, body, status = 200]: Parameters<Remember>,
      ): Promise<void> => {
        const answer = { fingerprint: print, status, response: JSON.stringify(body) }
        const row = { account_id: accountId, key, ...answer, created_at: clock.now() }
        if (!(await keepAnswer(tx, row))) throw new KeyTaken()
      }
      const given = async () =>
        typeof fingerprint === 'string' ? fingerprint : await fingerprint()
      const earlierAnswer = async (): Promise<AnsweredOnce | undefined> => {
        const earlier = await findAnswer({ accountId, key })
        if (earlier === undefined) return undefined
        if (earlier.fingerprint !== (await given())) throw usedOtherwise()
        return { status: earlier.status, body: JSON.parse(earlier.response), replayed: true }
      }
      // From here on every other request with the key is refused, until this one is on disk.
      inFlight.set(name, known)
      try {
        const earlier = await earlierAnswer()
        if (earlier !== undefined) return earlier
        let isKept = false
        const { status, body } = await work(async (...answer) => {
          if (known === undefined) return
          await remember(known, answer)
          isKept = true
        })
        if (!isKept) {
          // The request changed nothing, or was an import, which has no single transaction.
          const print = await given()
          await store.write((tx) => remember(print, [tx, body, status]))
        }
        return { status, body, replayed: false }
      } catch (error) {
        if (!(error instanceof KeyTaken)) throw error
        // Another thread's request was first, so this one, its repeat, is undone.
        const first = await earlierAnswer()
        if (first !== undefined) return first
        throw error
      } finally {
        inFlight.delete(name)
      }
    },

    sweep: (signal) => forgetExpired({ store, clock }, signal),
  }
}

function stillRunning(): ApiError {
  return new ApiError('concurrent_idempotent_request', runningText)
}

const runningText =
  'The first request with this Idempotency-Key is still running; try again in a moment'

/** Undoes a request whose key another request took meanwhile. */
class KeyTaken extends ApiError {
  constructor() {
    super('concurrent_idempotent_request', runningText)
  }
}

/** interface.md: 409 `invalid_idempotent_request`. */
function usedOtherwise(): ApiError {
  const message = 'This Idempotency-Key was already used with another request body'
  return new ApiError('invalid_idempotent_request', message)
}
