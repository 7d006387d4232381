import type { Clock } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { AnsweredOnce, Remember, Repeats } from '../http/index.js'
import type { Store } from '../store/index.js'
import { forgetExpired, keepAnswer, makeFindAnswer } from './kept-answer.js'

/** Whose key it is; what test keys have done is apart from what others have. */
export interface KeyOwner {
  accountId: string
  isTest?: boolean
  /** Whose keys they are, where they are of no account: what they have done is apart too. */
  apart?: string
}

/**
 * `Idempotency-Key` (`interface.md`, Idempotency behaviour), for every POST of the API. The key's row
 * is committed with the effect, so a crash leaves either both or neither; a key in flight lives in
 * memory alone, so none can stay 'running'. Only successes are remembered. Between threads and processes the row's own
 * key decides: who comes second is undone, and gets the answer of who came first.
 */
export interface Idempotency extends Repeats<KeyOwner> {
  /** Deletes what is older than 24 hours, in small bits. Returns when there is no more. */
  sweep(signal: AbortSignal): Promise<void>
}

/**
 * Two memories: requests under way are in that of this thread, answers are in the database and
 * written with the mail itself, so that a kill can leave no mail without its answer.
 */
export function makeIdempotency({ store, clock }: { store: Store; clock: Clock }): Idempotency {
  /** By account and key; undefined for a file, of which more is known once it was read. */
  const inFlight = new Map<string, string | undefined>()
  const findAnswer = makeFindAnswer({ store, clock })

  return {
    async once({ account, fingerprint, ...asked }, work): Promise<AnsweredOnce> {
      const { accountId } = account
      // What a program has tried out with a test key is not what it does with another one; no given key has a blank.
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
          // A look that changes nothing, or an import, which as a whole has no one transaction.
          const print = await given()
          await store.write((tx) => remember(print, [tx, body, status]))
        }
        return { status, body, replayed: false }
      } catch (error) {
        if (!(error instanceof KeyTaken)) throw error
        // Another thread's request was first, and this one is undone: it is a repeat of that one.
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

/** Undoes what was done under a key that somebody else has got meanwhile. */
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
