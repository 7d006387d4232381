import type { EnvelopeCommands } from './envelope.js'
import type { Deadlines } from './limits.js'
import { disagreeing, type RawReply, type Reply, toReply } from './reply.js'
import type { Loss, Phase, SendResult } from './result.js'
import { isLoss, type Wire } from './wire.js'

/** The session that its transactions share. */
export interface SessionLine {
  readonly wire: Wire
  readonly deadlines: Deadlines
  readonly minBytesPerSecond: number
  readonly pipelining: boolean
  /** RSET was sent and its reply has not been read. */
  resetting: boolean
  /** Messages offered so far. */
  offered: number
}

/** One message's place in the line. */
export interface Turn {
  readonly commands: EnvelopeCommands
  /** The message with dots stuffed and the final dot, one write for each block. Most messages are one block. */
  readonly blocks: readonly [Buffer] | Iterable<Buffer> | AsyncIterable<Buffer>
  readonly sizeBytes: number
  /** Whether the message's envelope is on the wire, perhaps after the body before it. */
  offered: boolean
  readonly resolve: (result: SendResult) => void
  readonly reject: (error: unknown) => void
}

/** An envelope that waits for its turn in a session. */
export function makeTurn(
  commands: EnvelopeCommands,
  blocks: Turn['blocks'],
  sizeBytes: number,
  settle: Pick<Turn, 'resolve' | 'reject'>,
): Turn {
  return { commands, blocks, sizeBytes, offered: false, ...settle }
}

type Failure =
  | { kind: 'refused' | 'deferred'; phase: Phase; reply: Reply }
  | ({ kind: 'lost'; phase: Phase } & Loss)

/**
 * One MAIL, RCPT, DATA and message.
 *
 * With PIPELINING (RFC 2920) the three commands go in one write and all three replies are read, whatever the first
 * says. RFC 2920 §3.1 also allows the next envelope after a message's end: `upNext` is asked for it when the body
 * leaves.
 */
export async function transact(
  line: SessionLine,
  turn: Turn,
  upNext: () => Turn | undefined,
): Promise<SendResult> {
  const { wire, deadlines } = line
  wire.transcript.restart()
  if (line.resetting) {
    const heard = await wire.reply(deadlines.resetMs, 'the reply to RSET')
    line.resetting = false
    const failure = judge('rset', heard)
    // The reply to RSET says nothing about this message.
    if (failure !== undefined) {
      const cause = failure.kind === 'lost' ? failure.cause : 'RSET was not obeyed'
      return ended(line, turn, { ...failure, kind: 'lost', cause })
    }
  }
  if (wire.loss !== undefined)
    return ended(line, turn, { kind: 'lost', phase: 'idle', ...wire.loss })

  const failure = await offer(line, turn)
  if (failure !== undefined) return ended(line, turn, failure)
  return await deliver(line, turn, upNext)
}

/** Gets as far as 354; undefined when it came. */
async function offer(line: SessionLine, turn: Turn): Promise<Failure | undefined> {
  const { wire, deadlines, pipelining } = line
  const { mail, rcpt } = turn.commands
  if (turn.offered) wire.transcript.client(`${mail}${rcpt}DATA`)
  else if (pipelining) wire.command(`${mail}${rcpt}DATA\r\n`, 3)
  else wire.command(mail)
  if (!turn.offered) line.offered++
  turn.offered = true

  const mailFailure = judge('mail', await wire.reply(deadlines.mailMs, 'the reply to MAIL'))
  if (mailFailure !== undefined && !mustGoOn(line, mailFailure)) return mailFailure

  if (!pipelining) wire.command(rcpt)
  const rcptFailure = judge('rcpt', await wire.reply(deadlines.rcptMs, 'the reply to RCPT'))
  const failure = mailFailure ?? rcptFailure
  if (failure !== undefined && !mustGoOn(line, failure)) {
    if (mailFailure === undefined) reset(line)
    return failure
  }

  if (!pipelining) wire.command('DATA\r\n')
  const dataFailure = judge('data', await wire.reply(deadlines.dataMs, 'the reply to DATA'))
  if (failure === undefined) {
    if (dataFailure !== undefined) reset(line)
    return dataFailure
  }
  if (dataFailure === undefined) await sendNothing(line, rcptFailure !== undefined)
  else if (mailFailure === undefined) reset(line)
  return failure
}

/**
 * The server accepted DATA though it refused the envelope. RFC 2920 §3.1: the way out is a lone dot. If the recipient
 * was accepted after all, that could put an empty message into a mailbox, and only hanging up is safe.
 */
async function sendNothing(line: SessionLine, rcptRefused: boolean): Promise<void> {
  if (!rcptRefused) {
    line.wire.break({ cause: 'the server takes a message for an envelope that it refused' })
    return
  }
  line.wire.command('.\r\n')
  const heard = await line.wire.reply(line.deadlines.emptyMs, 'the reply to an empty message')
  if (!isLoss(heard) && heard.code < 400) return
  reset(line)
}

/** Sends the message and reads the verdict. */
async function deliver(
  line: SessionLine,
  turn: Turn,
  upNext: () => Turn | undefined,
): Promise<SendResult> {
  const { wire, deadlines } = line
  if (wire.loss !== undefined) {
    return ended(line, turn, { kind: 'lost', phase: 'body', ...wire.loss })
  }
  wire.expect(1)
  const last = Array.isArray(turn.blocks) ? turn.blocks[0] : await writeButLast(line, turn.blocks)
  if (last === undefined) return await cutShort(line, turn)
  wire.transcript.note(`${turn.sizeBytes} bytes of message`)
  const ridden = line.pipelining ? ride(line, upNext()) : undefined
  const loss = await wire.block(
    ridden === undefined ? last : Buffer.concat([last, ridden]),
    deadlines.blockMs,
  )
  const heard =
    loss !== undefined && !wire.hasHeard
      ? loss
      : await wire.reply(deadlines.dotMs, 'the reply to the message')
  const failure = judge('dot', heard)
  if (failure !== undefined) return ended(line, turn, failure)
  if (isLoss(heard)) throw new Error('A loss was judged to be fine')
  return {
    kind: 'accepted',
    reply: toReply(heard),
    phase: 'dot',
    reusable: wire.loss === undefined,
  }
}

/**
 * Writes all blocks but the last, and returns the last one, so that what follows the message can travel with it.
 * Undefined: the server spoke, or left, before.
 */
async function writeButLast(
  { wire, deadlines, minBytesPerSecond }: SessionLine,
  blocks: Turn['blocks'],
): Promise<Buffer | undefined> {
  const began = performance.now()
  let written = 0
  let last: Buffer | undefined
  for await (const block of blocks) {
    if (last !== undefined) {
      const floorMs = deadlines.blockMs + (written * 1000) / minBytesPerSecond
      const leftMs = Math.max(1, began + floorMs - performance.now())
      const loss = await wire.block(last, Math.min(deadlines.blockMs, leftMs))
      if (loss !== undefined || wire.hasHeard) return undefined
      written += last.length
    }
    last = block
  }
  if (last === undefined) throw new Error('A message without even its final dot')
  return last
}

/** The next envelope's commands, to travel with the end of this body. */
function ride(line: SessionLine, next: Turn | undefined): Buffer | undefined {
  if (next === undefined || next.offered) return undefined
  next.offered = true
  line.offered++
  line.wire.expect(3)
  return Buffer.from(`${next.commands.mail}${next.commands.rcpt}DATA\r\n`)
}

/** The server spoke, or left, before the message was out. Without its final dot the message does not count. */
async function cutShort(line: SessionLine, turn: Turn): Promise<SendResult> {
  const heard = await line.wire.reply(0, 'nothing')
  const failure = judge('body', heard)
  return abandon(line, turn, failure ?? { kind: 'lost', phase: 'body', cause: 'a reply too soon' })
}

/** What a reply means in its phase: undefined when it is the expected one. */
function judge(phase: Phase, heard: RawReply | Loss): Failure | undefined {
  if (isLoss(heard)) return { kind: 'lost', phase, ...heard }
  const hoped = phase === 'data' ? 3 : 2
  const got = Math.floor(heard.code / 100)
  if (got === hoped) return undefined
  const reply = toReply(heard)
  // In the opening the last words count; in a mail's transaction they might answer another command.
  if (heard.superseded !== undefined) {
    return { kind: 'lost', phase, cause: `${disagreeing}: ${reply.code} ${reply.text}`, reply }
  }
  if (got === 4 || tooManyRecipients(phase, reply)) return { kind: 'deferred', phase, reply }
  if (got === 5) return { kind: 'refused', phase, reply }
  return { kind: 'lost', phase, cause: `unexpected reply ${heard.code}`, reply }
}

/** RFC 5321 §4.5.3.1.10: 552 for too many recipients has to be treated as 452. */
function tooManyRecipients(phase: Phase, reply: Reply): boolean {
  if (phase !== 'rcpt' || reply.code !== 552) return false
  return reply.enhanced === '5.5.3' || /too many recipients/i.test(reply.text)
}

/** With PIPELINING the other replies are still due, if the session lives. */
function mustGoOn(line: SessionLine, failure: Failure): boolean {
  return line.pipelining && failure.kind !== 'lost' && line.wire.loss === undefined
}

/** Sends RSET, whose reply is read when the next message comes, so that nobody waits for it. */
function reset(line: SessionLine): void {
  if (line.wire.loss !== undefined) return
  line.wire.command('RSET\r\n')
  line.resetting = true
}

function abandon(line: SessionLine, turn: Turn, failure: Failure): SendResult {
  line.wire.break({ cause: failure.kind === 'lost' ? failure.cause : 'not to be used again' })
  return ended(line, turn, failure)
}

function ended(line: SessionLine, turn: Turn, failure: Failure): SendResult {
  if (failure.kind !== 'lost') return { ...failure, reusable: line.wire.loss === undefined }
  line.wire.break({ cause: failure.cause })
  return { ...failure, ambiguous: failure.phase === 'dot', offered: turn.offered }
}
