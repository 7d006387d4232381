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

/**
 * What is concluded from an attempt that did not deliver; `atLeastMs`: not sooner than after that
 * time.
 */
export interface RefusalJudgement {
  verdict: Verdict
  /** Whether another attempt makes sense, if there is time for it. */
  again: boolean
  atLeastMs: number
  /** The verdict if this was the last attempt. */
  ending: Verdict
}

// The least wait after a refusal that asks for slower mail: Gmail says so of a recipient who gets
// too much at the moment, and takes the mail some hours later.
const slowlyMs = hourMs
// `notes/mta.md` §3: NXDOMAIN is believed when it comes again an hour later, not from a cache.
const confirmMs = hourMs

// By the usual schedule some fourteen hours: a host that is down for longer has had its chance.
const attemptsElsewhere = 9

// Each attempt that ends in doubt may have put one more copy into the mailbox.
const inDoubtMs = hourMs
const attemptsInDoubt = 4

/** What a refusal means, and what follows. `attempts` counts this one in, `lastCause` is that of the one before. */
export function judgeRefusal(
  rules: BounceRules,
  finding: Outcome & { remote?: string },
  { attempts, lastCause }: TriedSoFar,
): RefusalJudgement {
  const refused = finding.kind === 'bounced'
  const { command, remote, reply } = finding
  const said = saidInReply(reply, remote?.split(' ', 1)[0])
  // A server left with 5yz before it was asked about this mail: its words count, not its finality.
  const heard = said && { ...said, text: inReplyTo(command, said.text), final: refused }
  const verdict = heard ? classify(rules, heard) : ourOwn(rules, finding, refused)
  if (refused) {
    // Our own judgement (no such domain, no server) was not made lightly.
    const again =
      heard !== undefined &&
      (allows(verdict.retry, attempts) || mayGoElsewhere(finding, verdict, attempts))
    return { verdict, again, atLeastMs: delayOf(verdict), ending: verdict }
  }
  if (finding.doubt) {
    // Twice running: after five refusals, one loss of the connection must not end it.
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

/** No server has said anything: it was not reached, or there is none. */
function ourOwn(rules: BounceRules, { class: name = 'unreachable' }: Outcome, final: boolean) {
  return verdictOf(rules, { class: name, shown: 'what Posthorn itself found' }, { code: 0, final })
}

/** decisions.md, 'bounced, Transient': what was only put off again and again suppresses not at once. */
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
 * Backup hosts that nobody looks after refuse to relay, and one may know less of SMTP than the other: that is no answer
 * while the other host cannot give one.
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
