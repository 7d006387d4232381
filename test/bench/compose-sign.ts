/**
 * What composing, tracking and signing cost here, beside nodemailer's MailComposer and mailauth in the same
 * run. Not a test: `npm run build && node dist/test/bench/compose-sign.js [seconds per row]`.
 */
import { dkimSign } from 'mailauth/lib/dkim/sign.js'
import MailComposer from 'nodemailer/lib/mail-composer'
import { systemClock } from '../../src/clock/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import {
  type DkimAlgorithm,
  generateDkimKeyPair,
  makeDkimKey,
  openSigner,
  signMessage,
  signMessageAsync,
} from '../../src/dkim/index.js'
import { composeMessage, composeParts, parseMailbox } from '../../src/mime/index.js'
import { makeTracker } from '../../src/tracking/index.js'
import { webhookRig } from '../support/webhooks.js'
import { benchTest } from './bench-test.js'

const runMs = 1000 * Number(process.argv[2] ?? 2)
// As many as the thread pool takes at once; one after another would measure its latency.
const inFlight = 4

const from = parseMailbox('Ann Example <ann@example.com>')
const to = parseMailbox('Bob <bob@example.net>')
if (from === undefined || to === undefined) throw new Error('An address does not parse')

const row = '<tr>\n    <td style="padding: 4px">A row of the table</td><td>12.50</td>\n  </tr>\n'
const paragraph = 'Dear Bob,\n\nyour order has left our house and is on its way to you.\n'
const contents = {
  'ASCII, LF': { text: paragraph.repeat(30), html: row.repeat(90) },
  'ASCII, CRLF': {
    text: paragraph.repeat(30).replaceAll('\n', '\r\n'),
    html: row.repeat(90).replaceAll('\n', '\r\n'),
  },
  'accents (quoted-printable)': {
    text: paragraph.replace('house', 'Häuschen').repeat(30),
    html: row.replace('row', 'Zeile für dich').repeat(90),
  },
  'Japanese (base64)': {
    text: '春はあけぼの。\n'.repeat(100),
    html: '<p>やうやう白くなりゆく</p>'.repeat(200),
  },
}

const pairs = {
  'rsa-sha256': await generateDkimKeyPair('rsa-sha256'),
  'ed25519-sha256': await generateDkimKeyPair('ed25519-sha256'),
}
const keyFor = (algorithm: DkimAlgorithm) => {
  const name = { domain: 'example.com', selector: 's1', algorithm }
  return makeDkimKey({ ...name, privateKey: pairs[algorithm].privateKeyPem })
}

/** Messages a second, `width` at a time. */
async function rate(width: number, once: () => unknown): Promise<number> {
  const run = async (untilMs: number) => {
    let done = 0
    while (performance.now() < untilMs) {
      await once()
      done++
    }
    return done
  }
  const runAll = async (ms: number) => {
    const start = performance.now()
    const done = await Promise.all(Array.from({ length: width }, () => run(start + ms)))
    return (done.reduce((sum, n) => sum + n, 0) * 1000) / (performance.now() - start)
  }
  await runAll(runMs / 4)
  return runAll(runMs)
}

let base = 1
async function report(label: string, width: number, once: () => unknown, isBase = false) {
  const perSecond = await rate(width, once)
  if (isBase) base = perSecond
  const ratio = isBase ? '' : `  x${(perSecond / base).toFixed(1)}`
  console.log(`  ${label.padEnd(34)}${perSecond.toFixed(0).padStart(8)}/s${ratio}`)
}

for (const [name, content] of Object.entries(contents)) {
  const input = {
    from,
    to: [to],
    subject: 'Your order has left',
    ...content,
    messageId: '1@example.com',
    dateMs: 0,
  }
  const message = composeMessage(input)
  console.log(`compose: ${name}, ${message.header.length + message.body.length} octets`)
  const theirs = () =>
    new MailComposer({
      from: { name: 'Ann Example', address: from.address },
      to: { name: 'Bob', address: to.address },
      subject: input.subject,
      ...content,
      messageId: '<1@example.com>',
      date: new Date(0),
      disableFileAccess: true,
      disableUrlAccess: true,
    })
      .compile()
      .build()
  await report("nodemailer's MailComposer", 1, theirs, true)
  await report('composeMessage', 1, () => composeMessage(input))
  const parts = composeParts(content.text, content.html)
  await report('composeMessage, shared parts', 1, () => composeMessage(input, parts))
}

const { header, body } = composeMessage({
  from,
  to: [to],
  subject: 'Your order has left',
  ...contents['ASCII, CRLF'],
  messageId: '1@example.com',
  dateMs: 0,
})
const whole = Buffer.concat([header, Buffer.from('\r\n'), body])
const signer = openSigner(systemClock)
const keySets: DkimAlgorithm[][] = [
  ['rsa-sha256'],
  ['ed25519-sha256'],
  ['rsa-sha256', 'ed25519-sha256'],
]
for (const algorithms of keySets) {
  console.log(`sign: ${algorithms.join(' + ')}, ${whole.length} octets`)
  const keys = algorithms.map(keyFor)
  const signatureData = keys.map((key) => ({
    signingDomain: key.domain,
    selector: key.selector,
    algorithm: key.algorithm,
    privateKey: pairs[key.algorithm].privateKeyPem,
  }))
  const [first] = signatureData
  if (first === undefined) throw new Error('No key')
  await report('mailauth', 1, () => dkimSign(whole, { ...first, signatureData }), true)
  await report('signMessage', 1, () => signMessage({ header, body }, keys, { timeSeconds: 0 }))
  await report(`signMessageAsync, ${inFlight} at a time`, inFlight, () =>
    signMessageAsync({ header, body }, keys, { timeSeconds: 0 }, signer),
  )
}

const bench = benchTest()
const { store, clock, accountId, domain } = await webhookRig(bench.t)
const key = makeApplianceKey(Buffer.alloc(32, 7))
const links = Array.from({ length: 10 }, (_, n) => `<a href="https://shop.test/${n}">${n}</a>\n`)
const plain = { text: paragraph.repeat(30), html: row.repeat(90) }
const linked = { ...plain, html: plain.html + links.join('') }
let deliveryId = 0
/** Tracks and composes, for another recipient each time; `bodies` in turn, or a new one for each mail. */
async function tracked(content: typeof plain, on: boolean, bodies: number | undefined) {
  const tracking = { opens: on, clicks: on }
  const tracker = makeTracker({ store, clock, key, tracking, publicUrl: 'https://mail.test' })
  return async () => {
    deliveryId++
    const bodyId = bodies === undefined ? null : deliveryId % bodies
    const type = 'marketing' as const
    const mail = { accountId, domainId: domain.id, emailId: accountId, deliveryId, bodyId, type }
    const html = await tracker.track(mail, content.html)
    const head = { from: sender, to: [recipient], subject: 'x', messageId: '1@example.com' }
    composeMessage({ ...head, dateMs: 0, text: content.text, html })
  }
}
const [sender, recipient] = [from, to]
console.log('track and compose, 10 KB of ASCII')
await report('no links, tracking off', 1, await tracked(plain, false, undefined), true)
await report('no links, pixel', 1, await tracked(plain, true, undefined))
await report('10 links, each body once', 1, await tracked(linked, true, undefined))
await report('10 links, a body for all', 1, await tracked(linked, true, 1))
await bench.end()
