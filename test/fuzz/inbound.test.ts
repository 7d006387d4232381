import { connect } from 'node:net'
import t from 'tap'
import { dsn, makePast, stateOf } from '../inbound/mails.js'
import { startInbound } from '../inbound/start.js'
import { openTestStore } from '../support/store.js'
import { mutant, type Random, randomOf, roundsOf } from './driver.js'

// SMTP sessions, broken at random, several at once. The listener must live on, answer in well-formed
// replies, and nothing may follow from mail that came to no signed return path.

const cases = roundsOf(300)
const sessionsAtOnce = 18
const silenceMs = 400

const address = 'postmaster@mail.posthorn.test'
const feedback = 'feedback@mail.posthorn.test'

const seedsFor = (recipient: string): string[] => [
  `EHLO a.test\r\nMAIL FROM:<>\r\nRCPT TO:<${feedback}>\r\nDATA\r\n${dsn({ recipient })}.\r\nQUIT\r\n`,
  `EHLO a.test\r\nMAIL FROM:<x@a.test> SIZE=100 BODY=8BITMIME\r\nRCPT TO:<${address}>\r\nDATA\r\nSubject: a\r\n\r\n..b\r\n.\r\nQUIT\r\n`,
  `HELO a\r\nMAIL FROM:<>\r\nRCPT TO:<postmaster>\r\nRCPT TO:<a@elsewhere.test>\r\nRSET\r\nNOOP\r\nVRFY a\r\nHELP\r\nQUIT\r\n`,
  `EHLO [IPv6:2001:db8::1]\r\nMAIL FROM:<"a b"@a.test> SMTPUTF8\r\nRCPT TO:<${address}> NOTIFY=NEVER ORCPT=rfc822;a\r\nDATA\r\n.\r\nQUIT\r\n`,
  'EHLO a\r\nSTARTTLS\r\nAUTH PLAIN AGEAYg==\r\nXCLIENT NAME=a\r\nBDAT 10 LAST\r\nhelo\r\n',
  `EHLO a.test\r\n${`MAIL FROM:<>\r\nRCPT TO:<${feedback}>\r\nRSET\r\n`.repeat(30)}QUIT\r\n`,
]
const tokens = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  '\xff\xfe',
  ' ',
  '\t',
  ':',
  '<',
  '>',
  '@',
  '"',
  '\\',
  ';',
  '=',
  '+0D+0A',
  '\r\n.\r\n',
  '\n.\n',
  '\r.\r',
  '\n.\r\n',
  '\r\n.\n',
  '.',
  '..',
  'DATA\r\n',
  'RSET\r\n',
  'QUIT\r\n',
  'EHLO b\r\n',
  'MAIL FROM:<>\r\n',
  `RCPT TO:<${address}>\r\n`,
  'STARTTLS\r\n',
  'A'.repeat(3_000),
  'RCPT TO:<@a,@b:c@d>\r\n',
  'RCPT TO:<xn--@xn--a.test>\r\n',
  'SIZE=1e99',
  'Received: x\r\n'.repeat(120),
  'GET / HTTP/1.1\r\n',
  '\x1b[2J',
  '2.0.0 250 OK\r\n',
]

t.test(`SMTP sessions of the listener: ${cases} mutants`, async (t) => {
  const store = await openTestStore(t)
  const past = await makePast(store)
  const mail = await past.mail({ 'a@one.test': 'delivered' })
  const before = await stateOf(store)
  const inbound = await startInbound(t, { store, config: { idleTimeout: 5_000 } })
  const corpus = { seeds: seedsFor('a@one.test'), tokens, maxBytes: 8_000 }
  const tally = { kept: 0, answered: 0 }
  let next = 0
  const fire = async () => {
    while (next < cases) {
      const number = next++
      const random = randomOf(number)
      const text = mutant(corpus, random)
      const answer = await exchange(inbound.port, text, random)
      const bad = answer
        .split('\r\n')
        .find((line) => !/^(?:[2-5]\d\d(?:[ -][\x20-\x7e\xa0-\xff]*)?)?$/.test(line))
      if (bad !== undefined) t.fail(`case ${number}`, { text, bad })
      if (answer.length > 0) tally.answered++
      if (/^250 OK: message/m.test(answer)) tally.kept++
    }
  }
  await Promise.all(Array.from({ length: sessionsAtOnce }, fire))
  t.comment(JSON.stringify(tally))
  t.ok(tally.answered > cases / 2, 'most mutants still reach it')

  const [delivery] = mail.deliveries
  // All places are free again, and it still does its work.
  const talks = await Promise.all(Array.from({ length: 20 }, () => inbound.greeting('127.0.0.1')))
  t.ok(talks.every((greeting) => greeting.startsWith('220')))
  while ((await store.read.selectFrom('inbound_spool').select('id').execute()).length > 0) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  t.same(await stateOf(store), before, 'nothing follows without a token')
  const other = await inbound.talk('127.0.0.2')
  await other.upToData([delivery?.returnPath ?? ''], '')
  other.write(dsn({ recipient: 'a@one.test' }))
  t.match(await other.say('.'), /^250 /)
  while ((await stateOf(store)).events.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  t.equal((await stateOf(store)).deliveries[0]?.status, 'bounced')
})

/** Waits for the greeting (mostly), sends `text` in pieces; what came back until the end or a silence. */
function exchange(port: number, text: string, random: Random): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const cuts = [random(text.length + 1), random(text.length + 1)].sort((a, b) => a - b)
    const pieces = [text.slice(0, cuts[0]), text.slice(cuts[0], cuts[1]), text.slice(cuts[1])]
    const leaves = random(20) === 0
    const silence = setTimeout(() => socket.destroy(), silenceMs)
    const send = () => {
      const piece = pieces.shift()
      if (piece !== undefined) socket.write(piece, 'latin1', () => setImmediate(send))
      else if (leaves) socket.destroy()
    }
    if (random(15) === 0) send()
    else socket.once('data', send)
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1')
      silence.refresh()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(silence)
      resolve(answer)
    })
  })
}
