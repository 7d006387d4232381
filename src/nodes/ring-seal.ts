import { randomBytes } from 'node:crypto'
import { keepNewest } from '../bounded/index.js'
import type { ApplianceKey } from '../config/index.js'
import { isJsonObject } from '../json/index.js'

/** Whom a ring is from and whom it is for, by their epochs, and when it was made, by the clock of who made it. */
export interface RingHead {
  at: number
  nonce: string
  from: number
  to: number
}

// Clocks of nodes that work together are seconds apart at most; further ones cost a look at the database.
const goodForMs = 60_000
// More than all nodes together may send while one is good.
const mostKnown = 32_768
const purpose = 'ring of a node'
const answerPurpose = 'answer to a ring'

/**
 * Sealed by a key that is derived of the appliance's (AES-256-GCM): nobody else makes one, reads one or changes one. Good
 * once, for a minute, and for the one start of the one node that it is for.
 */
export function sealRing(
  key: Pick<ApplianceKey, 'seal'>,
  head: Omit<RingHead, 'nonce'>,
  body: unknown,
): { sealed: Buffer; nonce: string } {
  const nonce = randomBytes(16).toString('base64url')
  return { sealed: key.seal(JSON.stringify({ head: { ...head, nonce }, body }), purpose), nonce }
}

/** Only whoever could read the ring knows its nonce, so that no answer is good for another one. */
export const sealAnswer = (key: Pick<ApplianceKey, 'seal'>, nonce: string, answer: unknown) =>
  key.seal(JSON.stringify({ nonce, answer }), answerPurpose)

/** What was answered to the ring with this nonce; undefined where it is of another one, or not sealed by our key. */
export function openAnswer(
  key: Pick<ApplianceKey, 'unseal'>,
  nonce: string,
  sealed: Buffer,
): unknown {
  const found = unsealed(key, sealed, answerPurpose)
  return found?.nonce === nonce ? found.answer : undefined
}

/** Opens rings; `refused` says why one is not heard. */
export function makeRingGate(key: Pick<ApplianceKey, 'unseal'>) {
  const known = new Map<string, true>()
  return {
    open(
      sealed: Buffer,
      { epoch, now }: { epoch: number; now: number },
    ): { head: RingHead; body: unknown } | { refused: string } {
      const { head, body } = unsealed(key, sealed, purpose) ?? {}
      if (!isHead(head)) return { refused: 'It is not sealed by the key of this appliance' }
      if (Math.abs(now - head.at) > goodForMs)
        return { refused: 'It is of more than a minute ago, or to come' }
      if (head.to !== epoch) return { refused: 'It is for another node, or for an earlier start' }
      if (known.has(head.nonce)) return { refused: 'It was heard already' }
      keepNewest(known, head.nonce, true, mostKnown)
      return { head, body }
    },
  }
}

function unsealed(
  key: Pick<ApplianceKey, 'unseal'>,
  sealed: Buffer,
  purpose: string,
): Record<string, unknown> | undefined {
  try {
    const found: unknown = JSON.parse(key.unseal(sealed, purpose))
    return isJsonObject(found) ? found : undefined
  } catch {
    return undefined
  }
}

const isHead = (head: unknown): head is RingHead =>
  isJsonObject(head) &&
  typeof head.nonce === 'string' &&
  [head.at, head.from, head.to].every((one) => typeof one === 'number')
