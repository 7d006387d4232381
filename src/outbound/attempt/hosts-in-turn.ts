import type { Claimed } from '../../deliveries/index.js'
import type { Cut, SendResult } from '../../smtp/index.js'
import type { Composed, DeliverySlot } from '../admission/index.js'
import {
  type Acquired,
  behindNextTime,
  type Connections,
  isSpent,
  makeTrail,
  putOff,
  type SessionTarget,
  type SmtpSession,
  type Trail,
} from '../connections/index.js'
import type { SignedMessage } from '../content/index.js'
import { type TlsDemand, usualDemand } from '../tls-policy/index.js'
import type { watchSessions } from '../tls-sessions/index.js'
import { envelopeOf, type Prepare } from './prepare.js'
import { type AttemptResult, resultOfAll, resultOfFailure, resultOfSend } from './result.js'

/** One mail, and the session that is wanted for it. */
export interface Sending {
  claimed: Claimed
  slot: DeliverySlot
  target: SessionTarget
  /** Watches the mail's sessions, for the reports about TLS. */
  watch: ReturnType<typeof watchSessions> | undefined
}

/** One transaction that is over. */
interface Sent {
  session: SmtpSession
  sent: SendResult
  demand: TlsDemand
}

/**
 * Offers one mail to the hosts of its route in turn, each in an idle session or a new one, until one takes it (RFC 5321
 * §5.1). After a 5yz no other host is asked, nor after a loss behind the final dot: the first may have the mail.
 */
export async function sendInTurn(
  { connections, prepare }: { connections: Connections; prepare: Prepare },
  { claimed, slot, target, watch }: Sending,
): Promise<AttemptResult> {
  const { cut, giveUp } = slot
  const trail = makeTrail(addressesIn(claimed.putOffBy))
  const results: AttemptResult[] = []
  let mail: Composed<SignedMessage> | undefined
  /** The next session is opened in the clear, because TLS broke. */
  let inClear = false
  const send = async (session: SmtpSession): Promise<Sent> => {
    if (session.reused) watch?.reused(session)
    else session.countedFor.add(claimed.lane)
    // Not sooner: thousands of mails to servers that do not answer need not be composed.
    mail ??= await prepare(claimed, giveUp).catch((error: unknown) => {
      connections.release(session, true)
      throw error
    })
    const { composed } = mail
    const envelope = envelopeOf(claimed, composed)
    const sent = await session.connection.send(envelope, composed.message, cut)
    return { session, sent, demand: target.demandOf(session.exchange) ?? usualDemand }
  }

  try {
    let acquired: Acquired | undefined = await connections.acquire(target, trail)
    while (acquired !== undefined) {
      if ('failure' in acquired) {
        results.push(resultOfFailure(acquired, claimed.lane))
        // A try in the clear was with one host only, so the others are still to be tried.
        if (!inClear || isOver(trail, cut)) break
        inClear = false
        acquired = await connections.acquire(target, trail)
        continue
      }
      const one = await send(acquired.session)
      const { session, sent } = one
      const result = resultOfSession(one)
      connections.release(session, mayCarryMore(one))
      if (session.tlsFailed !== undefined && wantsTls(sent)) connections.tryTlsAgain(session)
      else if (inClear && sent.kind !== 'lost') connections.stayInTheClear(session)
      inClear = false
      if (isUntried(one) && cut?.why === undefined) {
        acquired = await connections.acquire(target, trail)
        continue
      }
      results.push(result)
      if (sent.kind === 'lost' && hasBrokenTls(one) && cut?.why === undefined) {
        inClear = true
        acquired = await connections.reopenInTheClear(target, trail, { session, loss: sent })
        continue
      }
      const mayGoOn = result.kind === 'deferred' ? !result.doubt : result.local === true
      // A mail that one host put off and this one refused goes to the hosts in the same order next time.
      const isLast = !mayGoOn && (result.doubt || trail.failed.length > 0)
      if (mayGoOn || isLast) putOff(trail, session, sent)
      if (!mayGoOn || isOver(trail, cut)) break
      acquired = await connections.acquire(target, trail)
    }
  } finally {
    mail?.done()
  }
  const { result, unheard } = resultOfAll(results)
  const { accountId } = claimed
  for (const reply of unheard) slot.site.heard({ reply, accountId })
  if (result.kind !== 'deferred' && result.kind !== 'bounced') return result
  const elsewhere = result.elsewhere === true || trail.failed.some(({ how }) => how !== 'put off')
  const site = result.site && { ...result.site, accountId }
  return { ...result, site, elsewhere, putOffBy: rememberedOf(trail, target) }
}

/**
 * Whether the session may carry another mail. A server that puts off the first mail may put off all of this
 * connection: Postfix's postscreen lets an unknown client pass only when it connects again.
 */
function mayCarryMore({ session, sent }: Sent): boolean {
  if (sent.kind === 'lost' || !sent.reusable || isFullSession(sent)) return false
  const { kind, phase } = sent
  return kind !== 'deferred' || session.reused || (phase !== 'mail' && phase !== 'rcpt')
}

/** Whether no other host is to be asked in this attempt. */
const isOver = (trail: Trail, cut: Cut | undefined) => isSpent(trail) || cut?.why !== undefined

/**
 * A session that ended while it was idle says nothing about this mail, which takes another session. Nor does a
 * session that ended at MAIL: many servers end it after their last message, with or without saying that it was the
 * last.
 */
function isUntried({ session, sent }: Sent): boolean {
  if (!session.reused) return false
  if (sent.kind !== 'lost') return isFullSession(sent)
  const isGone = sent.phase === 'mail' && sent.reply === undefined && sent.code !== 'ETIMEDOUT'
  return !sent.offered || isGone
}

/** This mail would be one more than the server takes in a session: `Max message per connection reached`. */
const isFullSession = (sent: Exclude<SendResult, { kind: 'lost' }>) =>
  sent.kind === 'deferred' &&
  sent.phase === 'mail' &&
  /\b(?:messages?|mails?|transactions?)\b.{0,40}\b(?:connection|session)\b/i.test(sent.reply.text)

/**
 * RFC 7435 §3: TLS that nobody demands is worth less than the mail. A server may hang up, or send its alert, at any
 * time after our side of the handshake is over. TLS is not at fault where the session carried mail before.
 */
function hasBrokenTls({ session, sent, demand }: Sent): boolean {
  if (sent.kind !== 'lost' || sent.ambiguous || sent.reply !== undefined) return false
  if (sent.code === 'ETIMEDOUT' || session.reused) return false
  return session.connection.tls !== undefined && demand.mode === 'opportunistic'
}

/** The server takes nothing in the clear. */
const wantsTls = (sent: SendResult) =>
  (sent.kind === 'refused' || sent.kind === 'deferred') &&
  sent.local !== true &&
  /\b(?:start)?tls\b|encrypt/i.test(sent.reply.text)

/** A refusal of mail in the clear, where TLS is broken, passes when TLS works again. */
function resultOfSession({ session, sent, demand }: Sent): AttemptResult {
  const reached = session.reused ? undefined : true
  const result = { reached, ...resultOfSend(session, sent, demand) }
  if (sent.kind !== 'refused' || session.tlsFailed === undefined || !wantsTls(sent)) return result
  const { reply } = result
  return { ...result, kind: 'deferred', site: { kind: 'deferred', reply } }
}

/** The hosts that come last next time; a route with one host remembers nothing. */
function rememberedOf(trail: Trail, { hosts }: SessionTarget): string | undefined {
  const isOneWay = hosts.length < 2 && (hosts[0]?.addresses.length ?? 0) < 2
  const addresses = isOneWay ? [] : behindNextTime(trail)
  return addresses.length === 0 ? undefined : JSON.stringify(addresses)
}

/** As `rememberedOf` wrote them. */
const addressesIn = (text: string | null): string[] =>
  text === null ? [] : (JSON.parse(text) as string[])
