import { randomBytes } from 'node:crypto'
import { keepNewest } from '../bounded/index.js'
import type { ApplianceKey } from '../config/index.js'
import { isJsonObject } from '../json/index.js'

/** A ring's sender and receiver, by their epochs, and its time by the sender's clock. */
export interface RingHead {
  at: number
  nonce: string
  from: number
  to: number
}

// Clocks of cooperating nodes are at most seconds apart; a larger difference costs a read of the
// database.
const goodForMs = 60_000
// More rings than all nodes together may send while one is valid.
const mostKnown = 32_768
const purpose = 'ring of a node'
const answerPurpose = 'answer to a ring'

/**
 * Sealed with a key derived from the appliance's (AES-256-GCM): nobody else can make, read or change a ring. It is
 * valid once, for a minute, for one start of its one receiver.
 */
export function sealRing(
  key: Pick<ApplianceKey, 'seal'>,
  head: Omit<RingHead, 'nonce'>,
  body: unknown,
): { sealed: Buffer; nonce: string } {
  const nonce = randomBytes(16).toString('base64url')
  return { sealed: key.seal(JSON.stringify({ head: { ...head, nonce }, body }), purpose), nonce }
}

/** Only the receiver of the ring knows its nonce, so that no answer fits another ring. */
export const sealAnswer = (key: Pick<ApplianceKey, 'seal'>, nonce: string, answer: unknown) =>
  key.seal(JSON.stringify({ nonce, answer }), answerPurpose)

/**
 * The answer to the ring with this nonce; undefined if it belongs to another ring, or is not sealed with our key.
 */
export function openAnswer(
  key: Pick<ApplianceKey, 'unseal'>,
  nonce: string,
  sealed: Buffer,
): unknown {
  const found = unsealed(key, sealed, answerPurpose)
  return found?.nonce === nonce ? found.answer : undefined
}

/** Opens rings; `refused` says why one is rejected. */
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
