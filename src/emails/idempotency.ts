import { createHash } from 'node:crypto'
import type { Principal } from '../accounts/index.js'
import type { Clock } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { ApiRequest } from '../http/index.js'
import type { Store, Tx } from '../store/index.js'

/**
 * `Idempotency-Key` (`interface.md`, Idempotency behaviour). The key's row is committed with the
 * mail, so a crash leaves either both or neither; a key in flight lives in memory alone, so none can
 * stay 'running'. Only successes are remembered.
 */
export interface Idempotency {
  /**
   * Runs `work` unless the key has succeeded within 24 hours. `work` calls `remember` inside its own
   * transaction with what it is going to answer.
   */
  once<T>(request: IdempotentRequest, work: (remember: Remember<T>) => Promise<T>): Promise<Once<T>>
  /** Deletes what is older than 24 hours, in small bits. Returns when there is no more. */
  sweep(signal: AbortSignal): Promise<void>
}

export interface IdempotentRequest {
  accountId: string
  key: string | undefined
  /** Another path counts as another body. */
  path: string
  rawBody: Buffer
}

export type Remember<T> = (tx: Tx, response: T) => Promise<void>
export type Once<T> = { response: T; replayed: boolean }

/** What `once` looks at in a request to this path. */
export const idempotentRequest = (
  request: ApiRequest<Principal, unknown, unknown, unknown>,
  path: string,
): IdempotentRequest => ({
  accountId: request.account.accountId,
  key: request.header('idempotency-key'),
  path,
  rawBody: request.rawBody,
})

/** Tells a client that the answer is one that was given before. */
export const replayHeaders = ({ replayed }: Once<unknown>): Record<string, string> =>
  replayed ? { 'Idempotency-Replay': 'true' } : {}

const lifetimeMs = 86_400_000
const rowsPerSweep = 500
const visibleAscii = /^[\x21-\x7e]{1,255}$/

export function makeIdempotency({ store, clock }: { store: Store; clock: Clock }): Idempotency {
  const inFlight = new Map<string, string>()

  return {
    async once<T>(request: IdempotentRequest, work: (remember: Remember<T>) => Promise<T>) {
      const { accountId, key, path, rawBody } = request
      if (key === undefined) return { response: await work(async () => {}), replayed: false }
      if (!visibleAscii.test(key)) {
        const message = 'Idempotency-Key: expected 1 to 255 visible ASCII characters'
        throw new ApiError('validation_error', message)
      }
      const fingerprint = createHash('sha256').update(`${path}\n`).update(rawBody).digest('base64')
      const name = `${accountId} ${key}`
      const running = inFlight.get(name)
      if (running !== undefined) {
        if (running !== fingerprint) throw usedOtherwise()
        const message = 'A request with this Idempotency-Key is still running'
        throw new ApiError('concurrent_idempotent_request', message)
      }
      // From here on every other request with the key is refused, until this one is on disk.
      inFlight.set(name, fingerprint)
      try {
        const known = await store.read
          .selectFrom('idempotency_keys')
          .select(['fingerprint', 'response'])
          .where('account_id', '=', accountId)
          .where('key', '=', key)
          .where('created_at', '>', clock.now() - lifetimeMs)
          .executeTakeFirst()
        if (known !== undefined) {
          if (known.fingerprint !== fingerprint) throw usedOtherwise()
          return { response: JSON.parse(known.response) as T, replayed: true }
        }
        const remember: Remember<T> = async (tx, response) => {
          const row = { fingerprint, response: JSON.stringify(response), created_at: clock.now() }
          await tx
            .insertInto('idempotency_keys')
            .values({ account_id: accountId, key, ...row })
            // What is there has expired.
            .onConflict((oc) => oc.columns(['account_id', 'key']).doUpdateSet(row))
            .execute()
        }
        return { response: await work(remember), replayed: false }
      } finally {
        inFlight.delete(name)
      }
    },

    async sweep(signal) {
      for (let deleted = rowsPerSweep; deleted === rowsPerSweep && !signal.aborted; ) {
        const { rows } = await store.write(async (tx) => {
          const old = tx
            .selectFrom('idempotency_keys')
            .select(['account_id', 'key'])
            .where('created_at', '<=', clock.now() - lifetimeMs)
            .limit(rowsPerSweep)
          const gone = await old.execute()
          for (const { account_id, key } of gone) {
            await tx
              .deleteFrom('idempotency_keys')
              .where('account_id', '=', account_id)
              .where('key', '=', key)
              .execute()
          }
          return { rows: gone.length }
        })
        deleted = rows
      }
    },
  }
}

function usedOtherwise(): ApiError {
  const message = 'This Idempotency-Key was used with another request body'
  return new ApiError('invalid_idempotent_request', message)
}
