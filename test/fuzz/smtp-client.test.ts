import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import t from 'tap'
import { connectSmtp, defaultLimits } from '../../src/smtp/index.js'
import { type RawReply, ReplyReader, toReply } from '../../src/smtp/reply.js'
import { towards } from '../smtp/open.js'
import { bytesOf, fuzz, mutant, piecesOf, type Random, randomOf, roundsOf } from './driver.js'

const replies = [
  '220 mx.a.test ESMTP ready\r\n',
  '250-mx.a.test at your service\r\n250-SIZE 35882577\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n',
  '250 2.1.0 OK\r\n',
  '250 2.1.5 Recipient OK\r\n',
  '354 Go ahead\r\n',
  '250 2.0.0 taken as 4711\r\n',
  '550-5.1.1 No such user\r\n550 5.1.1 here\r\n',
  '451 4.7.1 Greylisted\r\n',
  '421 4.3.2 Going down\r\n',
  '250\r\n',
]
const marker = 'SMUGGLED'
const tokens = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '-',
  '250',
  '250 ',
  '250-',
  '354 x\r\n',
  '550 5.1.1 x\r\n',
  '\xff',
  '421 x\r\n',
  '220 x\r\n',
  '999 x\r\n',
  '000 x\r\n',
  '25',
  '\u001b[2J',
  '.\r\n',
  'QUIT\r\n',
  '\x80',
  `RCPT TO:<${marker}@a.test>\r\n`,
  `250-${marker}\r\n`,
  `250 ${marker}\r\n`,
  '250-STARTTLS\r\n',
  '250-AUTH PLAIN\r\n',
  '250-SIZE 1\r\n',
  '250-SIZE\r\n',
  '250-DSN\r\n',
  'A'.repeat(2_100),
]

function readAll(pieces: Iterable<Buffer>): { read: RawReply[]; complaint: string | undefined } {
  const reader = new ReplyReader(defaultLimits)
  const read: RawReply[] = []
  for (const piece of pieces) {
    const complaint = reader.push(piece, (reply) => read.push(reply))
    if (complaint !== undefined) return { read, complaint }
  }
  return { read, complaint: undefined }
}

fuzz('SMTP replies', 10_000, { seeds: [replies.join(''), ...replies], tokens }, (input, random) => {
  const bytes = bytesOf(input)
  const { read, complaint } = readAll(piecesOf(bytes, random))
  const whole = readAll([bytes])
  if (JSON.stringify(read) !== JSON.stringify(whole.read)) return 'in pieces it reads other replies'
  if ((complaint === undefined) !== (whole.complaint === undefined))
    return `only once: ${complaint}`
  for (const raw of read) {
    const { code, enhanced, text } = toReply(raw)
    if (code < 200 || code > 599 || raw.lines.length > defaultLimits.replyLines)
      return `code ${code}`
    if (Buffer.byteLength(text) > 1_000 || /[^\P{Cc}\n]/u.test(text)) return 'an unclean text'
    if (enhanced !== undefined && Number(enhanced[0]) !== Math.floor(code / 100)) return enhanced
  }
  return undefined
})

/** A server that answers each command with the next of its replies, which are broken. */
interface Script {
  replies: string[]
  /** What the client has said, command by command; the message is one of them. */
  heard: string[]
  /** All that the server has said. */
  said: string
}

function play(socket: Socket, script: Script, random: Random): void {
  let text = ''
  let inMessage = false
  const answer = () => {
    const reply = script.replies.shift()
    if (reply === undefined) return void socket.destroy()
    script.said += reply
    for (const piece of piecesOf(bytesOf(reply), random, 400)) socket.write(piece)
  }
  socket.on('error', () => {})
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
    for (;;) {
      const end = inMessage ? text.indexOf('\r\n.\r\n') : text.indexOf('\r\n')
      if (end < 0) return
      const said = text.slice(0, end)
      text = text.slice(end + (inMessage ? 5 : 2))
      script.heard.push(said)
      if (!inMessage && said === 'QUIT') return void socket.end()
      answer()
      // An answer that broke in two may bring it before its time.
      inMessage = !inMessage && said === 'DATA' && /^354/m.test(script.said)
    }
  })
  answer()
}

const envelope = { from: 'bounce@client.test', to: 'ann@a.test' }
const message = 'Subject: x\r\n\r\n..two dots\r\n.\r\nend\r\n'
const asSent = 'Subject: x\r\n\r\n...two dots\r\n..\r\nend'
/** All that a client may ever say, whatever it is told. */
const command =
  /^(EHLO client\.example\.test|HELO client\.example\.test|MAIL FROM:<bounce@client\.test>( SIZE=\d+| BODY=8BITMIME| SMTPUTF8| RET=\w+)*|RCPT TO:<ann@a\.test>( NOTIFY=\w+)?|DATA|RSET|QUIT|)$/

const rounds = roundsOf(1_000)
// Most of a broken dialogue is waiting for a deadline.
const atOnce = 16

t.test(`SMTP client dialogues: ${rounds} mutants`, async (t) => {
  const wrong: string[] = []
  const tally: Record<string, number> = {}
  let next = 0
  const talk = async () => {
    while (next < rounds && wrong.length < 3) {
      const round = next++
      const complaint = await converse(round, tally).catch((error) => `it throws: ${error?.stack}`)
      if (complaint !== undefined) wrong.push(`round ${round}: ${complaint}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, talk))
  t.comment(JSON.stringify(tally))
  t.same(wrong, [])
  t.ok((tally.accepted ?? 0) > rounds / 20, 'some still arrive')
})

async function converse(round: number, tally: Record<string, number>): Promise<string | undefined> {
  const random = randomOf(round)
  const script: Script = { replies: [], heard: [], said: '' }
  for (const reply of replies.slice(0, 6)) {
    const seeds = [reply, replies[random(replies.length)] ?? reply]
    const broken = mutant({ seeds, tokens, maxBytes: 4_000 }, random)
    script.replies.push(random(4) > 0 ? reply : broken)
  }
  const server = createServer((socket) => play(socket, script, random)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const ms = 60
  const deadlines = {
    connectMs: 2_000,
    bannerMs: ms,
    ehloMs: ms,
    startTlsMs: ms,
    mailMs: ms,
    rcptMs: ms,
    dataMs: ms,
    dotMs: ms,
    emptyMs: ms,
    resetMs: ms,
    quitMs: ms,
  }
  const opened = await connectSmtp(towards({ host: '127.0.0.1', port }, { deadlines }))
  let kind: string = opened.kind
  let shown = opened.kind === 'failed' ? opened.transcript : ''
  if (opened.kind === 'ready') {
    const { connection } = opened
    const result = await connection.send(envelope, [bytesOf(message)])
    kind = result.kind
    shown = connection.transcript()
    connection.destroy()
    await connection.closed
  }
  await new Promise((resolve) => server.close(resolve))
  tally[kind] = (tally[kind] ?? 0) + 1
  // Only a 2yz that comes after the leave to send the message accepts it.
  if (kind === 'accepted' && !/^354.*\n2\d\d/ms.test(script.said)) {
    return `accepted by ${JSON.stringify(script.said)}`
  }
  if (shown.length > 10_000) return `a transcript of ${shown.length}`
  const odd = script.heard.find((said) => said !== asSent && !command.test(said))
  if (odd !== undefined) return `the client said ${JSON.stringify(odd)}`
  return script.heard.join('').includes(marker) ? 'it says what it was told' : undefined
}
