import type { Principal } from '../accounts/index.js'
import { type Clock, dayMs } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { AnsweredOnce, Remember, Repeats } from '../http/index.js'
import type { Store } from '../store/index.js'

/**
 * `Idempotency-Key` (`interface.md`, Idempotency behaviour), for every POST of the API. The key's row
 * is committed with the effect, so a crash leaves either both or neither; a key in flight lives in
 * memory alone, so none can stay 'running'. Only successes are remembered.
 */
export interface Idempotency extends Repeats<Pick<Principal, 'accountId'>> {
  /** Deletes what is older than 24 hours, in small bits. Returns when there is no more. */
  sweep(signal: AbortSignal): Promise<void>
}

const lifetimeMs = dayMs
const rowsPerSweep = 500

export function makeIdempotency({ store, clock }: { store: Store; clock: Clock }): Idempotency {
  /** By account and key; undefined for a file, of which more is known once it was read. */
  const inFlight = new Map<string, string | undefined>()

  const find = async (accountId: string, key: string) =>
    await store.read
      .selectFrom('idempotency_keys')
      .select(['fingerprint', 'status', 'response'])
      .where('account_id', '=', accountId)
      .where('key', '=', key)
      .where('created_at', '>', clock.now() - lifetimeMs)
      .executeTakeFirst()

  return {
    async once({ account: { accountId }, key, fingerprint }, work): Promise<AnsweredOnce> {
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
        const row = { fingerprint: print, status, response: JSON.stringify(body) }
        const kept = { ...row, created_at: clock.now() }
        const { numInsertedOrUpdatedRows } = await tx
          .insertInto('idempotency_keys')
          .values({ account_id: accountId, key, ...kept })
          // What is there has expired; or another thread's request was first, and this one is undone.
          .onConflict((oc) =>
            oc
              .columns(['account_id', 'key'])
              .doUpdateSet(kept)
              .where('idempotency_keys.created_at', '<=', clock.now() - lifetimeMs),
          )
          .executeTakeFirstOrThrow()
        if (numInsertedOrUpdatedRows === 0n) throw stillRunning()
      }
      // From here on every other request with the key is refused, until this one is on disk.
      inFlight.set(name, known)
      try {
        const earlier = await find(accountId, key)
        if (earlier !== undefined) {
          const given = typeof fingerprint === 'string' ? fingerprint : await fingerprint()
          if (earlier.fingerprint !== given) throw usedOtherwise()
          const { status, response } = earlier
          return { status, body: JSON.parse(response), replayed: true }
        }
        let isKept = false
        const { status, body } = await work(async (...answer) => {
          if (known === undefined) return
          await remember(known, answer)
          isKept = true
        })
        if (!isKept) {
          // A look that changes nothing, or an import, which as a whole has no one transaction.
          const given = typeof fingerprint === 'string' ? fingerprint : await fingerprint()
          await store.write((tx) => remember(given, [tx, body, status]))
        }
        return { status, body, replayed: false }
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

function stillRunning(): ApiError {
  const message = 'A request with this Idempotency-Key is still running'
  return new ApiError('concurrent_idempotent_request', message)
}

function usedOtherwise(): ApiError {
  const message = 'This Idempotency-Key was used with another request body'
  return new ApiError('invalid_idempotent_request', message)
}
