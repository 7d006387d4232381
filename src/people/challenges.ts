import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import type { Store } from '../store/index.js'

/** What browsers are asked to sign: each is good once, for five minutes, at whichever node. */
export interface Challenges {
  /** `of`: for whom; null for who is not known yet. */
  make(of: string | null): Buffer
  /** Whether it was made for that, and not used since; `challenge` as browsers send it, in base64url. */
  take(challenge: string, of: string | null): Promise<boolean>
}

const lastsMs = 300_000
// WebAuthn §13.4.3 wants 16 random bytes at least; the seal is cut to as many, which nobody can guess.
const nonceBytes = 16
const timeBytes = 6
const sealBytes = 16
// So far another node's clock may be ahead of ours.
const aheadMs = 10_000
// Those that are over go with each that comes; more than this in five minutes go with later ones.
const mostSwept = 100

/**
 * A challenge tells by itself when and for whom it was made, sealed by the appliance's key: nothing is kept of those that
 * nobody answers, which strangers could ask for until that of somebody else is pushed out. Of those that were answered a row
 * is kept until they are over, so that none is good twice, at another node or after a restart.
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

  /** When it was made; undefined: not by us for that. */
  function madeAt(bytes: Buffer, of: string | null): number | undefined {
    if (bytes.length !== nonceBytes + timeBytes + sealBytes) return undefined
    const head = bytes.subarray(0, nonceBytes + timeBytes)
    if (!timingSafeEqual(bytes.subarray(head.length), seal(head, of))) return undefined
    return head.readUIntBE(nonceBytes, timeBytes)
  }

  /** Notes that it is used. Only who has a passkey here comes so far, ten times a minute and address at most. */
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
