import { deflateRawSync } from 'node:zlib'
import t from 'tap'
import { systemClock as clock } from '../../src/clock/index.js'
import { ApiError } from '../../src/errors/index.js'
import { silentLog } from '../../src/log/index.js'
import { receivedPayload } from '../../src/receiving/payload.js'
import { type MailOrigin, readMail } from '../../src/receiving/read-mail.js'
import { makeMailReader } from '../../src/receiving/reader.js'
import { deciding, fitsLocal, patternIn, writtenPattern } from '../../src/receiving/rule.js'
import { whyNotTaken, withEmptyLine } from '../../src/receiving/sound-lines.js'
import type { ReceivedRow } from '../../src/store/index.js'
import { fakeResolver } from '../support/resolver.js'
import { bytesOf, fuzz, pick } from './driver.js'

const origin: MailOrigin = {
  remoteAddress: '192.0.2.1',
  helo: 'client.test',
  mailFrom: 'ann@example.test',
  mta: 'mail.test',
}
const seeds = [
  'From: Ann <ann@example.test>\r\nTo: a@in.sender.test\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nMessage-ID: <1@x>\r\nIn-Reply-To: <2@x>\r\nReferences: <3@x>\r\n <2@x>\r\n\r\nThank you!\r\n\r\nOn Friday, Shop <s@x> wrote:\r\n> Your order\r\n',
  'Subject: files\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=FC=DFe=\r\n\r\n--c\r\nContent-Type: text/html\r\n\r\n<p>Hello <blockquote>old</blockquote>\r\n--c--\r\n--b\r\nContent-Type: application/pdf; name*0="a"; name*1*=utf-8\'\'%0d%0a.pdf\r\nContent-Disposition: attachment; filename="../../a.pdf"\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERg==\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\ninner\r\n--b--\r\n',
  'Subject: sealed\r\nARC-Seal: i=1; a=rsa-sha256; cv=none; d=x.test; s=a; t=1; b=AAAA\r\nARC-Message-Signature: i=1; a=rsa-sha256; c=relaxed/relaxed; d=x.test; s=a; h=from:subject; bh=AAAA; b=AAAA\r\nARC-Authentication-Results: i=1; x.test; spf=pass\r\nDKIM-Signature: v=1; a=rsa-sha256; c=simple/simple; d=x.test; s=a; h=from; l=3; bh=AAAA; b=AAAA\r\nAuto-Submitted: auto-replied\r\nX-Posthorn-Loop: AAAA\r\nDelivered-To: a@in.sender.test\r\nFrom: a@x.test, b@y.test\r\n\r\nx\r\n',
]
const tokens = [
  '\r\n',
  '\r\n ',
  '\r\n\r\n',
  ' ',
  '\t',
  '"',
  ';',
  '=',
  '--b\r\n',
  '--c--\r\n',
  '<',
  '>',
  '(',
  '=?utf-8?q?=0d=0aBcc:_y?=',
  '=?utf-8?b?DQpYOiB5?=',
  '=?utf-7?Q?+AGE-?=',
  '=?x?b?',
  '\xff\xfe',
  'Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n',
  'Content-Type: message/rfc822\r\n',
  'charset=utf-16',
  'charset=utf-7',
  'charset=\xff',
  'charset="iso-2022-jp\\"',
  'boundary=""',
  'Content-Transfer-Encoding: base64\r\n',
  'Content-Transfer-Encoding: x-uuencode\r\n',
  '=\r\n',
  'filename="a\u202efdp.exe"',
  "filename*=utf-8''%00%0a",
  'begin 644 a\r\n',
  'In-Reply-To: <a@b>\r\n',
  'References: <a@b>',
  'DKIM-Signature: v=1; d=',
  'ARC-Seal: i=51; ',
  '<blockquote>',
  '> ',
  '&#0;',
  '\0',
].map((token) => Buffer.from(token, 'utf8').toString('latin1'))

fuzz('Received mail', 600, { seeds, tokens, maxBytes: 200_000 }, async (input) => {
  const bytes = bytesOf(input)
  if (whyNotTaken(bytes) !== undefined) return undefined
  const raw = withEmptyLine(bytes)
  const read = await readMail(raw, origin, fakeResolver())
  const { headers, from, to, subject, messageId, inReplyTo, references, attachments } = read
  if (headers.length > 200 || attachments.length > 100) return 'too many headers or files'
  const values = [from, to, subject, messageId, inReplyTo, ...references]
  for (const { name, value } of headers) values.push(name, value)
  for (const { filename, contentType, contentId } of attachments) {
    values.push(filename, contentType, contentId)
    if (/[/\\\u202a-\u202e]/u.test(filename) || filename === '') return `a file ${filename}`
  }
  const bad = values.find((value) => /[\p{Cc}\u2028\u2029]/u.test(value))
  if (bad !== undefined) return `a control character in ${JSON.stringify(bad)}`
  const shown = (read.text?.length ?? 0) + (read.quoted?.length ?? 0) + (read.html?.length ?? 0)
  if (shown > 8 * raw.length + 1_000) return `${shown} characters of ${raw.length} bytes`
  // What a webhook tells is one line of JSON, however much the mail has, and says no more than was read.
  const told = receivedPayload(row, read, [])
  if (/[\r\n]/.test(told) || told.length > 400_000) return `a webhook of ${told.length}`
  return undefined
})

// As it stands in the store when it was read.
const row: ReceivedRow = {
  id: '01a1fc92-9915-7533-8296-04ee3d91dd72',
  account_id: 'account',
  domain_id: 'domain',
  rule_id: 'rule',
  action: 'webhook',
  forward_to: null,
  received_at: 0,
  due_at: null,
  tries: 0,
  node: 1,
  remote_address: origin.remoteAddress,
  helo: origin.helo,
  mail_from: origin.mailFrom,
  recipient: 'a@in.sender.test',
  size_bytes: 1,
  content_id: 1,
  body_bytes: 1,
  header_from: '',
  subject: '',
  message_id: '',
  in_reply_to: '',
  email_id: null,
  attachments: 0,
  spf: 'none',
  dkim: 'none',
  dmarc: 'none',
  arc: 'none',
  automatic: null,
  is_loop: 0,
  spam: null,
  forward_id: null,
  forward_fault: null,
  fault: null,
}

const patterns = ['support@in.sender.test', 'support+*@in.sender.test', '*@in.sender.test']
const words = [
  '*',
  '@',
  '+',
  '.',
  ' ',
  '**',
  '%',
  '_',
  '\\',
  '"',
  '\0',
  '\r\n',
  'xn--',
  'A',
  '\xe9',
  "'; --",
]

fuzz('Rules for received mail', 4_000, { seeds: patterns, tokens: words }, (input, random) => {
  try {
    const pattern = patternIn(input, (host) => host)
    const again = patternIn(writtenPattern(pattern), (host) => host)
    if (JSON.stringify(again) !== JSON.stringify(pattern))
      return 'it is read otherwise when written'
    const { kind, local } = pattern
    if (kind === 'all' ? !fitsLocal(pattern, input) : !fitsLocal(pattern, local))
      return 'it fits none'
    // A star means what follows and no wildcard of SQL or of a file system.
    if (kind === 'address' && fitsLocal(pattern, `${local}x`)) return 'an address fits another one'
    const given = pick(random, ['support', 'support+1', 'other', local, `${local}x`])
    const rules = [pattern, ...patterns.map((one) => patternIn(one, (host) => host))]
    const found = deciding(rules, given)
    return found === undefined || !fitsLocal(found, given) ? 'the last rule takes all' : undefined
  } catch (error) {
    return error instanceof ApiError && error.code === 'validation_error' ? undefined : `${error}`
  }
})

const lines = (text: string) => Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'latin1')
const part = (type: string, body: string) => `--b\nContent-Type: ${type}\n\n${body}\n`
const mixed = (body: string) => `Content-Type: multipart/mixed; boundary=b\n\n${body}--b--\n`
const zipBomb = () => deflateRawSync(Buffer.alloc(64 * 1024 * 1024)).toString('base64')

/** What hostile senders send; each grows no faster than its bytes. */
const bombs: Record<string, () => Buffer> = {
  'multiparts in each other, 5,000 deep': () =>
    lines(
      Array.from(
        { length: 5_000 },
        (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\n\n--b${n}\n`,
      ).join(''),
    ),
  'mails in each other, 5,000 deep': () => lines('Content-Type: message/rfc822\n\n'.repeat(5_000)),
  '100,000 parts': () => lines(mixed('--b\n\n'.repeat(100_000))),
  '20,000 files': () => lines(mixed(part('a/b; name=a', 'x').repeat(20_000))),
  'a header of 24,000 fields': () => lines(`${'A: \n'.repeat(24_000)}\nx`),
  '700 signatures that ask for 700 names': () =>
    lines(
      `${Array.from({ length: 700 }, (_, n) => `DKIM-Signature: v=1; a=rsa-sha256; d=d${n}.test; s=s; h=from; bh=AAAA; b=AAAA\n`).join('')}From: a@b.test\n\nx`,
    ),
  'a signature over more than there is': () =>
    lines(
      'DKIM-Signature: v=1; a=rsa-sha256; c=simple/simple; d=x.test; s=a; l=99; h=from; bh=AAAA; b=AAAA\nFrom: a@x.test\n\nx',
    ),
  'one field of 120 KiB of encoded words': () =>
    lines(`Subject: ${'=?utf-8?q?a?= '.repeat(8_000)}\n\nx`),
  'parameters without an end': () =>
    lines(`Content-Type: text/plain; ${'a*0*=b; '.repeat(10_000)}charset=x\n\nx`),
  'charsets that nobody has': () =>
    lines(
      mixed(
        ['utf-7', 'utf-16', 'iso-2022-jp', 'x'.repeat(5_000), '../../etc', '__proto__', 'utf-32']
          .map((one) =>
            part(
              `text/plain; charset="${one}"`,
              '\xff\xfe\x00'.replace('\x00', '+').repeat(50_000),
            ),
          )
          .join(''),
      ),
    ),
  'a bomb of zip in base64, of 6 MiB': () =>
    lines(
      mixed(
        `--b\nContent-Type: application/zip; name=a.zip\nContent-Encoding: gzip\nContent-Transfer-Encoding: base64\n\n${zipBomb()
          .repeat(80)
          .slice(0, 6 * 2 ** 20)
          .replace(/.{76}/g, '$&\n')}\n`,
      ),
    ),
  'HTML of 3 MiB in blockquotes in each other': () =>
    lines(`Content-Type: text/html\n\n${'<blockquote><div>'.repeat(180_000)}`),
  '60,000 lines of quotes': () =>
    lines(`Subject: q\n\n${'> > > > >\nOn a wrote:\n'.repeat(30_000)}`),
  'one line of 5 MiB': () => lines(`Subject: q\n\n${'On x '.repeat(1_000_000)}`),
}

t.test(
  'what hostile senders send is read or given up within its bounds, in a thread that may be lost',
  async (t) => {
    const reader = makeMailReader({ clock, log: silentLog, resolver: fakeResolver() })
    t.teardown(() => reader.close())
    const written: string[] = []
    const write = process.stdout.write.bind(process.stdout)
    process.stdout.write = (chunk, ...rest) => {
      if (String(chunk).includes('EXPECTING')) written.push(String(chunk))
      return write(chunk, ...(rest as []))
    }
    t.teardown(() => {
      process.stdout.write = write
    })
    const good = lines('Subject: good\n\nGood\n')
    for (const [name, make] of Object.entries(bombs)) {
      const mail = withEmptyLine(make())
      const began = performance.now()
      const end = await reader.read(mail, origin)
      const ms = performance.now() - began
      t.comment(`${name}: ${end.kind} in ${ms.toFixed()} ms, ${mail.length} bytes`)
      t.ok(mail.length < 21 * 2 ** 20)
      t.ok(ms < 60_000, `${name}: ${end.kind}`)
      t.match(await reader.read(good, origin), { kind: 'read', read: { subject: 'good' } })
    }
    t.same(written, [], 'nothing of it is printed by what takes it apart')
  },
)
