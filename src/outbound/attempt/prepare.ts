import { type Claimed, makeReturnPaths } from '../../deliveries/index.js'
import type { Signer } from '../../dkim/index.js'
import { messageOf } from '../../errors/index.js'
import type { Envelope } from '../../smtp/index.js'
import { isPassing } from '../../store/index.js'
import type { Composed, ComposingRoom, DeliverySlot } from '../admission/index.js'
import { MailFault, makeComposer, type SignedMessage } from '../content/index.js'
import type { OutboundDeps } from '../deps.js'

/** Composes and signs a delivery's message, when there is room for that. */
export type Prepare = (
  claimed: Claimed,
  giveUp?: DeliverySlot['giveUp'],
) => Promise<Composed<SignedMessage>>

/** The stored mail, or something that goes into it, is broken: the next attempt would find it broken too. */
export class Uncomposable extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause), { cause })
  }
}

/**
 * A mail that cannot be composed is held with its error. Where storage cannot be read, the mail is not to blame and
 * is tried again.
 */
export function makePrepare(
  deps: OutboundDeps,
  { signer, composing }: { signer: Signer; composing: ComposingRoom },
): Prepare {
  const compose = makeComposer(deps, makeReturnPaths(deps.key), signer)
  return (claimed, giveUp) => {
    const { class: of, accountId } = claimed
    return composing.compose({ class: of, accountId, giveUp }, () =>
      compose(claimed).catch((error: unknown) => {
        throw isPassing(error) || error instanceof MailFault ? error : new Uncomposable(error)
      }),
    )
  }
}

/**
 * MAIL FROM is a return path that names this delivery (VERP), so that a bounce shows its delivery even if it quotes
 * nothing.
 */
export const envelopeOf = (
  { recipient }: Claimed,
  { returnPath, smtpUtf8 }: SignedMessage,
): Envelope => ({ from: returnPath, to: recipient, smtpUtf8 })
