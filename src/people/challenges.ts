import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import type { Store } from '../store/index.js'

/** What browsers are asked to sign: each is valid once, for five minutes, at any node. */
export interface Challenges {
  /** `of`: the person; null while the person is unknown. */
  make(of: string | null): Buffer
  /**
   * Whether it was made for `of`, and not used since; `challenge` is in base64url, as browsers send it.
   */
  take(challenge: string, of: string | null): Promise<boolean>
}

const lastsMs = 300_000
// WebAuthn §13.4.3 wants 16 random bytes at least; the seal is cut to that length, which nobody can
// guess.
const nonceBytes = 16
const timeBytes = 6
const sealBytes = 16
// How far another node's clock may be ahead of ours.
const aheadMs = 10_000
// Each new challenge deletes expired rows; beyond this number they are left to later ones.
const mostSwept = 100

/**
 * A challenge itself contains when and for whom it was made, sealed with the appliance's key. Nothing is stored for
 * unanswered ones, as strangers could request so many that another person's is pushed out. An answered one has a row
 * until it expires, so that none is valid twice, at another node or after a restart.
 */
export function makeChallenges({
  store,
  clock,
  key,
}: {
  store: Pick<Store, 'write'>
  clock: Clock
  key: Pick<ApplianceKey, 'derive'>
}): Challenges {
  const secret = key.derive('passkey challenge')

  function seal(head: Buffer, of: string | null): Buffer {
    const text = of === null ? 'log-in' : `proof ${of}`
    return createHmac('sha256', secret).update(head).update(text).digest().subarray(0, sealBytes)
  }

  /** When it was made; undefined if we did not make it for this person. */
  function madeAt(bytes: Buffer, of: string | null): number | undefined {
    if (bytes.length !== nonceBytes + timeBytes + sealBytes) return undefined
    const head = bytes.subarray(0, nonceBytes + timeBytes)
    if (!timingSafeEqual(bytes.subarray(head.length), seal(head, of))) return undefined
    return head.readUIntBE(nonceBytes, timeBytes)
  }

  /**
   * Notes that it is used. Only people with a passkey here get this far, at most ten times a minute and address.
   */
  async function use(challenge: string, until: number, now: number): Promise<boolean> {
    const noted = await store.write(async (tx) => {
      await tx
        .deleteFrom('used_challenges')
        .where('challenge', 'in', (eb) =>
          eb
            .selectFrom('used_challenges')
            .select('challenge')
            .where('until', '<', now - aheadMs)
            .orderBy('until')
            .orderBy('challenge')
            .limit(mostSwept),
        )
        .execute()
      return await tx
        .insertInto('used_challenges')
        .values({ challenge, until })
        .onConflict((conflict) => conflict.column('challenge').doNothing())
        .returning('challenge')
        .executeTakeFirst()
    })
    return noted !== undefined
  }

  return {
    make(of) {
      const head = Buffer.concat([randomBytes(nonceBytes), Buffer.alloc(timeBytes)])
      head.writeUIntBE(clock.now(), nonceBytes, timeBytes)
      return Buffer.concat([head, seal(head, of)])
    },
    async take(challenge, of) {
      const bytes = Buffer.from(challenge, 'base64url')
      const at = madeAt(bytes, of)
      const now = clock.now()
      if (at === undefined || at > now + aheadMs || at + lastsMs <= now) return false
      const nonce = bytes.subarray(0, nonceBytes).toString('base64url')
      return await use(nonce, at + lastsMs, now)
    },
  }
}
