import { hourMs } from '../../clock/index.js'
import {
  type BounceRules,
  classify,
  inReplyTo,
  type Retry,
  type Said,
  saidInReply,
  type Verdict,
  verdictOf,
} from '../../reports/index.js'
import type { Outcome, TriedSoFar } from '../outcome.js'

/** What is concluded from an attempt that did not deliver; `atLeastMs`: the next one is not sooner than that. */
export interface RefusalJudgement {
  verdict: Verdict
  /** Whether another attempt makes sense, if there is time for it. */
  again: boolean
  atLeastMs: number
  /** The verdict if this was the last attempt. */
  ending: Verdict
}

// The least wait after a refusal that asks for slower mail: Gmail says so when a recipient gets too much mail at
// the moment, and takes the mail some hours later.
const slowlyMs = hourMs
// `notes/mta.md` §3: NXDOMAIN is believed when it comes again an hour later, not from a cache.
const confirmMs = hourMs

// By the usual schedule that is some fourteen hours: a host that is down for longer has had its chance.
const attemptsElsewhere = 9

// Each attempt that ends in doubt may have put one more copy into the mailbox.
const inDoubtMs = hourMs
const attemptsInDoubt = 4

/**
 * What a refusal means, and what follows. `attempts` includes this one, `lastCause` is the cause of the one before.
 */
export function judgeRefusal(
  rules: BounceRules,
  finding: Outcome & { remote?: string },
  { attempts, lastCause }: TriedSoFar,
): RefusalJudgement {
  const refused = finding.kind === 'bounced'
  const { command, remote, reply } = finding
  const said = saidInReply(reply, remote?.split(' ', 1)[0])
  // A server said 5yz before it was asked about this mail: its words count, but they are not final.
  const heard = said && { ...said, text: inReplyTo(command, said.text), final: refused }
  const verdict = heard ? classify(rules, heard) : ourOwn(rules, finding, refused)
  if (refused) {
    // Our own judgement (no such domain, no server) is reliable.
    const again =
      heard !== undefined &&
      (allows(verdict.retry, attempts) || mayGoElsewhere(finding, verdict, attempts))
    return { verdict, again, atLeastMs: delayOf(verdict), ending: verdict }
  }
  if (finding.doubt) {
    // It takes two in a row: after five refusals, one loss of the connection must not end the delivery.
    const again = attempts < attemptsInDoubt || lastCause !== 'in-doubt'
    const ending = { ...givenUp(rules, finding, heard), soft: false }
    return { verdict, again, atLeastMs: inDoubtMs, ending }
  }
  return {
    verdict,
    again: true,
    atLeastMs: isGone(finding, heard) ? confirmMs : delayOf(verdict),
    ending: givenUp(rules, finding, heard),
  }
}

/** The verdict where no server has said anything: none was reached, or there is none. */
function ourOwn(rules: BounceRules, { class: name = 'unreachable' }: Outcome, final: boolean) {
  return verdictOf(rules, { class: name, shown: 'what Posthorn itself found' }, { code: 0, final })
}

/**
 * decisions.md, 'bounced, Transient': a mail that was only put off, again and again, does not suppress the address
 * at once.
 */
function givenUp(rules: BounceRules, finding: Outcome, heard: Said | undefined): Verdict {
  const last = heard ? classify(rules, { ...heard, final: true }) : ourOwn(rules, finding, true)
  const soft = last.suppress || last.soft
  return { ...last, bounceType: 'Transient', suppress: false, soft, event: 'failed' }
}

/** How many attempts a class of refusals is worth, by the bounce rules. */
function allows(retry: Retry, attempts: number): boolean {
  if (typeof retry === 'object') return attempts < retry.atMost
  return retry === 'once' ? attempts < 2 : retry !== 'no'
}

/**
 * Backup hosts that nobody looks after refuse to relay, and may know less of SMTP than the main host. Such a
 * refusal is no answer while the main host cannot give one.
 */
function mayGoElsewhere({ elsewhere, local }: Outcome, { class: name }: Verdict, attempts: number) {
  const isOfHost = local === true || name === 'routing'
  return elsewhere === true && isOfHost && attempts < attemptsElsewhere
}

/** The DNS says that the domain does not exist. */
const isGone = ({ class: name }: Outcome, heard: Said | undefined) =>
  heard === undefined && name === 'bad-domain'

/** The least wait (ms) that a verdict asks for. */
const delayOf = ({ retry }: Verdict) => (retry === 'slow' ? slowlyMs : 0)
