import type { Reply, SendResult } from '../../smtp/index.js'

/** What a smart host's answer to one mail means for that mail. */
export type RelayVerdict =
  /** It has taken the mail; a report may tell what becomes of it. */
  | 'relayed'
  /** The recipient is refused for good. */
  | 'bounced'
  /** It does not take this mail, or not now: another smart host may take it, or this one later. */
  | 'not taken'
  /** It may have the mail: to offer it to another would double it. */
  | 'in doubt'

// RFC 3463 §3: only these two classes speak of the recipient; 5.1.7 and 5.1.8 speak of the sender.
const ofRecipient = /^5\.(1\.(?![78]\b)|2\.)/
// Postfix's 'relay recipient table' does speak of the recipient.
const ofUs = /\brelay(?! recipient)|relaying|authenti/i
// Without an enhanced code: RFC 5321 §4.2.3, 'mailbox unavailable' and 'not allowed'. Servers use the same codes for
// anything else that they do not like.
const mailboxCodes = [550, 551, 553, 556]
const ofUsAtLarge =
  /authori[sz]|log ?in|credential|allow|permit|den(y|ied)|block|polic|sender|from/i

/**
 * Only what a smart host says about the recipient, in its answer to RCPT, ends a mail. What it says about us (no
 * login, no relaying, quota used up) or about the content is its own view: the recipient's server, or another smart
 * host, may see it otherwise.
 */
export function relayVerdictOf(result: SendResult): RelayVerdict {
  switch (result.kind) {
    case 'accepted':
      return 'relayed'
    case 'deferred':
      return 'not taken'
    case 'lost':
      return result.ambiguous ? 'in doubt' : 'not taken'
    case 'refused': {
      const final = result.phase === 'rcpt' && !result.local && speaksOfRecipient(result.reply)
      return final ? 'bounced' : 'not taken'
    }
  }
}

/**
 * Whether a permanent refusal is about the recipient or about us. A smart host that refuses us
 * ("relaying denied", "over quota") says nothing about the address, which must not be suppressed
 * for it.
 */
function speaksOfRecipient({ code, enhanced, text }: Reply): boolean {
  if (ofUs.test(text)) return false
  if (enhanced !== undefined) return ofRecipient.test(enhanced)
  return mailboxCodes.includes(code) && !ofUsAtLarge.test(text)
}
