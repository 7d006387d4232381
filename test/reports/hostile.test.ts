import t, { type Test } from 'tap'
import { classify, type Report, readReport, saidOf } from '../../src/reports/index.js'
import { thoroughly } from '../support/thorough.js'
import { fixtures, shippedRules } from './fixtures.js'

// Another seed every time. A failure names it: repeat the run with FUZZ_SEED=<seed>, and add the seed to `knownBad`, which
// is tried in every run. FUZZ_CASES=<number> makes it longer.
const knownBad: readonly number[] = []
const ownSeed = Number(process.env.FUZZ_SEED ?? (Math.random() * 2 ** 32) >>> 0)
const cases = Number(process.env.FUZZ_CASES ?? thoroughly(300, 1_500))

// A whole second would be noise of the machine; none of these takes more than some tens of ms of processor time.
const maxMs = 2_000

/** Of this process, so that others on the machine do not count. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

// What mutations put in.
const hostile = [
  '\r',
  '\n\n',
  '\0',
  '\xff\xfe',
  '--B1\n',
  '--B1--\n',
  'Content-Type: multipart/mixed; boundary=""\n\n',
  'Content-Type: multipart/report; boundary="B1"\n',
  'Content-Transfer-Encoding: base64\n',
  'Content-Transfer-Encoding: quoted-printable\n',
  'Content-Type: message/delivery-status\n\n',
  'Content-Type: text/plain; charset=utf-16\n\n',
  'Final-Recipient: rfc822; ',
  'Action: failed\n',
  'Status: 9.9.9\n',
  'Status: 5.1.1\n',
  'Diagnostic-Code: smtp; 550 5.1.1 user unknown\n',
  'Feedback-Type: abuse\n',
  '=?utf-8?B?',
  '<<<<',
  '@',
  ':',
  ';',
  'baaaaaaaaaaab3cdefghijklmnopqrt@evil.test',
]

for (const seed of [...knownBad, ownSeed]) {
  t.test(
    `no mutation of a report throws, takes long, or makes up a token: FUZZ_SEED=${seed}`,
    (t) => mutate(t, seed),
  )
}

async function mutate(t: Test, seed: number): Promise<void> {
  const random = makeRandom(seed)
  let slowest = 0
  for (let i = 0; i < cases; i++) {
    const { name, raw } = pick(fixtures, random)
    const mutant = mutated(raw, random)
    const known = new Set((await readReport(raw)).tokens)
    const began = cpuMs()
    const report = await readReport(mutant)
    slowest = Math.max(slowest, cpuMs() - began)
    const faults = faultsOf(report)
    // A token that the mutant has and the report had not can only be its own bytes.
    const text = mutant.toString('latin1').toLowerCase()
    const foreign = report.tokens.filter((token) => !known.has(token) && !text.includes(token))
    if (faults.length > 0 || (foreign.length > 0 && !text.includes('base64'))) {
      t.fail(`case ${i} of ${name}`, { faults, foreign, mutant: text.slice(0, 4_000) })
      return
    }
  }
  t.ok(slowest < maxMs, `the slowest took ${Math.round(slowest)} ms`)
}

t.test('mail made to cost much costs little', async (t) => {
  const head = 'From: MAILER-DAEMON@x.test\nSubject: Undelivered Mail\nMIME-Version: 1.0\n'
  const mixed = (boundary: string) => `Content-Type: multipart/mixed; boundary="${boundary}"\n\n`
  const deep = Array.from({ length: 500 }, (_, i) => `${mixed(`b${i}`)}--b${i}\n`).join('')
  const nested = 'Content-Type: message/rfc822\n\n'.repeat(2_000)
  const parts = '--b\nContent-Type: message/delivery-status\n\nAction: failed\nStatus: 5.1.1\n'
  const zeros = Buffer.alloc(20 * 1024 * 1024).toString('base64')
  const postfix = 'This is the mail system at host x.test.\n\n'
  for (const [name, text] of Object.entries({
    depth: head + deep,
    'messages in messages': head + nested,
    parts: head + mixed('b') + parts.repeat(50_000),
    headers: 'X: y\n'.repeat(200_000),
    'one header': `X: ${'y'.repeat(5_000_000)}\n\n`,
    'folded header': `X: y\n${' y\n'.repeat(500_000)}`,
    'one line': `${head}\n${'x'.repeat(20_000_000)}`,
    'base64 of zeros': `${head}Content-Transfer-Encoding: base64\n\n${zeros}`,
    'carriage returns': `${head}\n${'\r'.repeat(2_000_000)}`,
    'open tags': `${head}Content-Type: text/html\n\n${'<'.repeat(2_000_000)}`,
    'many tags': `${head}Content-Type: text/html\n\n${'<p a="'.repeat(500_000)}`,
    entities: `${head}Content-Type: text/html\n\n${'&amp'.repeat(500_000)}`,
    'blank lines': `${head}\n${' \n'.repeat(2_000_000)}`,
    'at signs': `${head}\n${postfix}${'a@'.repeat(2_000_000)}`,
    'long words': `${head}\n${postfix}${`${'a'.repeat(60)}\n`.repeat(100_000)}`,
    'half statuses': `${head}\n${postfix}<a@x.test>: ${'5.1.'.repeat(500_000)}`,
    'host names': `${head}\n${postfix}<a@x.test>: host ${'a.'.repeat(500_000)}`,
    'encoded words': `Subject: ${'=?utf-8?Q?a?= '.repeat(100_000)}\n\n`,
    fields: `${head}\n${'Final-Recipient: rfc822; a@x.test\nAction: failed\n\n'.repeat(100_000)}`,
    'continued field': `${head}\nFinal-Recipient: a@x.test\nDiagnostic-Code: x\n${' y\n'.repeat(900_000)}`,
    notification: `${head}\n"notificationType":"Bounce"${'{"emailAddress":"a@x.test"'.repeat(90_000)}`,
    brackets: `${head}\n${postfix}${'[550 '.repeat(400_000)}`,
    dialogue: `${head}\n${postfix}${'>>> RCPT TO:<a@x.test>\n<<< 550-x\n'.repeat(90_000)}`,
    labels: `${head}\n${postfix}${'delivered to a '.repeat(200_000)}`,
    'replies to DATA': `${head}\n${postfix}${'<a@x.test>: said: 550 x\n>>> DATA\n<<< 550 x\n'.repeat(50_000)}`,
    'phases of qmail': `${head}\n${postfix}<a@x.test>:\n${'a. Remote host said: 550 a\n'.repeat(90_000)}`,
    quotes: `${head}\n${postfix}${'>'.repeat(1_000_000)}`,
    styles: `${head}Content-Type: text/html\n\n${'<style'.repeat(300_000)}`,
    prefixes: `${head}\n${postfix}<a@x.test>: ${"5.1.0 - Unknown address error 550-'".repeat(60_000)}`,
    markers: `${head}\n${'-'.repeat(1_000_000)}`,
    tokens: `${head}\n${'baaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'.repeat(60_000)}`,
  })) {
    const raw = Buffer.from(text, 'latin1')
    const began = cpuMs()
    const report = await readReport(raw)
    const took = cpuMs() - began
    t.same(faultsOf(report), [], name)
    t.ok(took < maxMs, `${name}: ${Math.round(took)} ms`)
  }
})

t.test('a report in too many layers is read all the same', async (t) => {
  const layers = Array.from({ length: 15 }, (_, i) => {
    const header = `Content-Type: multipart/mixed; boundary="b${i + 1}"\n`
    return i === 0 ? header : `\n--b${i}\n${header}`
  }).join('')
  const status = 'Final-Recipient: rfc822; gone@x.test\nAction: failed\nStatus: 5.1.1\n'
  const text = `Received: from a by b\nFrom: MAILER-DAEMON@x.test\n${layers}\n--b15\nContent-Type: message/delivery-status\n\n${status}`
  const report = await readReport(Buffer.from(text))
  t.match(report, { kind: 'dsn', recipients: [{ finalRecipient: 'gone@x.test', status: '5.1.1' }] })
})

t.test('all that is seen is the first 512 KiB', async (t) => {
  const token = 'baaaaaaaaaaab3cdefghijklmnopqrs@bounce.sender.test'
  const line = `${'x'.repeat(99)}\n`
  const before = `A: b\n\n${line.repeat(5_000)}`
  t.same((await readReport(Buffer.from(`${before}${token}`))).tokens, [token])
  t.same((await readReport(Buffer.from(`${before}${line.repeat(400)}${token}`))).tokens, [])
})

/** What breaks the promises of a report: each value has its form and its length. */
function faultsOf(report: Report): string[] {
  const faults: string[] = []
  const short = (name: string, value: string, max: number) => {
    if (value.length > max || /[\r\n]/.test(value)) faults.push(`${name}: ${value.length}`)
  }
  short('message id', report.original.messageId, 500)
  short('to', report.original.to, 320)
  if (report.tokens.length > 20) faults.push('tokens')
  for (const token of report.tokens) {
    if (!/^b[a-z][a-z2-7]{29}@[a-z0-9.-]{1,253}$/.test(token)) faults.push(token)
  }
  if (report.kind !== 'dsn') return faults
  if (report.recipients.length === 0 || report.recipients.length > 100) faults.push('recipients')
  for (const recipient of report.recipients) {
    short('diagnostic', recipient.diagnostic, 1_000)
    short('final recipient', recipient.finalRecipient, 320)
    short('remote', recipient.remoteMta, 253)
    if (!/^([245]\.\d{1,3}\.\d{1,3})?$/.test(recipient.status)) faults.push(recipient.status)
    const verdict = classify(shippedRules, saidOf(recipient, report.reportingMta))
    if (verdict.suppress && recipient.action !== 'failed') faults.push('suppresses')
  }
  return faults
}

/** One to eight changes: bytes lost, doubled, turned, moved, or something hostile put in. */
function mutated(raw: Buffer, random: () => number): Buffer {
  let text = raw.toString('latin1')
  const at = () => Math.floor(random() * (text.length + 1))
  for (let changes = 1 + Math.floor(random() * 8); changes > 0; changes--) {
    const [from = 0, to = 0] = [at(), at()].sort((a, b) => a - b)
    const middle = text.slice(from, to)
    const byte = String.fromCharCode(Math.floor(random() * 256))
    text = pick(
      [
        () => text.slice(0, from) + text.slice(from + 1 + Math.floor(random() * 40)),
        () => text.slice(0, from) + byte + text.slice(from + 1),
        () => text.slice(0, from) + pick(hostile, random) + text.slice(from),
        () => text.slice(0, from) + middle.slice(0, 2_000) + text.slice(from),
        () => text.slice(0, from) + text.slice(to) + middle,
        () => text.slice(0, to),
        () => text.replaceAll('\n', pick(['\r\n', '\r', '\n\n', ' '], random)),
      ],
      random,
    )()
  }
  return Buffer.from(text.slice(0, 100_000), 'latin1')
}

function pick<T>(list: readonly T[], random: () => number): T {
  const found = list[Math.floor(random() * list.length)]
  if (found === undefined) throw new Error('An empty list')
  return found
}

/** mulberry32 */
function makeRandom(start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }
}
