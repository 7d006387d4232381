import MailComposer from 'nodemailer/lib/mail-composer'
import PostalMime from 'postal-mime'
import t from 'tap'
import {
  type ComposedMessage,
  composeMessage,
  composeParts,
  encloseMessage,
  type Mailbox,
  type MessageInput,
  parseMailbox,
} from '../../src/mime/index.js'
import { finalDot } from '../../src/smtp/index.js'
import { stuffDots } from '../../src/smtp/message.js'
import { randomMail } from './random-mail.js'

const mailbox = (text: string): Mailbox => {
  const parsed = parseMailbox(text)
  if (parsed === undefined) throw new Error(`No mailbox: ${text}`)
  return parsed
}

const input = (fields: Partial<MessageInput> = {}): MessageInput => ({
  from: mailbox('Ann <ann@example.com>'),
  to: [mailbox('bob@example.net')],
  subject: 'Hello',
  text: 'Hi Bob\n',
  messageId: '1@example.com',
  dateMs: Date.parse('2026-11-21T12:00:00.999Z'),
  ...fields,
})

const whole = ({ header, body }: ComposedMessage): Buffer =>
  Buffer.concat([header, Buffer.from('\r\n'), body])

const headerOf = (fields: Partial<MessageInput>): string =>
  composeMessage(input(fields)).header.toString()

/** One field with its folds, without its last CRLF. */
const field = (name: string, fields: Partial<MessageInput>): string =>
  new RegExp(`^${name}:.*(?:\r\n .*)*`, 'm').exec(headerOf(fields))?.[0] ?? ''

const bodyOf = (text: string): string => composeMessage(input({ text })).body.toString('latin1')
const encodingOf = (text: string): string =>
  field('Content-Transfer-Encoding', { text }).replace(/.*: /, '')

t.test('a plain message, byte for byte', async (t) => {
  t.equal(
    whole(composeMessage(input())).toString(),
    [
      'Date: Sat, 21 Nov 2026 12:00:00 +0000',
      'From: Ann <ann@example.com>',
      'To: bob@example.net',
      'Subject: Hello',
      'Message-ID: <1@example.com>',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      'Hi Bob',
      '',
    ].join('\r\n'),
  )
})

t.test('text and HTML are alternatives, extra headers and Reply-To in their place', async (t) => {
  const message = composeMessage(
    input({
      html: '<p>Zoë sends greetings</p>',
      replyTo: [mailbox('Help <help@example.com>')],
      messageId: '<2@example.com>',
      extraHeaders: [
        { name: 'List-Unsubscribe', value: '<https://example.com/u/1>' },
        { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
      ],
    }),
  )
  const boundary = /boundary="(.*)"/.exec(message.header.toString())?.[1] ?? ''
  t.match(boundary, /^=_[\w-]{24}$/)
  t.equal(
    whole(message).toString(),
    [
      'Date: Sat, 21 Nov 2026 12:00:00 +0000',
      'From: Ann <ann@example.com>',
      'Reply-To: Help <help@example.com>',
      'To: bob@example.net',
      'Subject: Hello',
      'Message-ID: <2@example.com>',
      'List-Unsubscribe: <https://example.com/u/1>',
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
      'MIME-Version: 1.0',
      'Content-Type: multipart/alternative;',
      ` boundary="${boundary}"`,
      '',
      `--${boundary}`,
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      'Hi Bob',
      '',
      `--${boundary}`,
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      '<p>Zo=C3=AB sends greetings</p>',
      `--${boundary}--`,
      '',
    ].join('\r\n'),
  )
})

t.test('subjects: as they are, folded, or in encoded-words', async (t) => {
  const cases: [subject: string, expected: string][] = [
    ['', ''],
    ['Hello', ' Hello'],
    ['a  b "c" <d>', ' a  b "c" <d>'],
    ['Zoë sends greetings', ' =?UTF-8?Q?Zo=C3=AB_sends_greetings?='],
    ['漢字', ' =?UTF-8?B?5ryi5a2X?='],
    ['=?UTF-8?Q?no?=', ' =?UTF-8?B?PT9VVEYtOD9RP25vPz0=?='],
    [' padded ', ' =?UTF-8?Q?_padded_?='],
    ['tab\there', ' =?UTF-8?Q?tab=09here?='],
    [
      `${'word '.repeat(20)}end`,
      ' word word word word word word word word word word word word word\r\n word word word word word word word end',
    ],
    ['x'.repeat(70), ` =?UTF-8?Q?${'x'.repeat(52)}?=\r\n =?UTF-8?Q?${'x'.repeat(18)}?=`],
    // 39 octets a word: the tenth emoji would be split, so it begins the next.
    ['👋'.repeat(10), ` =?UTF-8?B?${b64('👋'.repeat(9))}?=\r\n =?UTF-8?B?${b64('👋')}?=`],
    [
      `${'a'.repeat(48)}é${'a'.repeat(9)}`,
      ` =?UTF-8?Q?${'a'.repeat(48)}?=\r\n =?UTF-8?Q?=C3=A9${'a'.repeat(9)}?=`,
    ],
  ]
  for (const [subject, expected] of cases) {
    t.equal(field('Subject', { subject }), `Subject:${expected}`, subject)
  }
})

t.test('display names: atoms, quoted strings or encoded-words', async (t) => {
  const cases: [name: string, expected: string][] = [
    ['Ann B', 'Ann B <ann@example.com>'],
    ['Ann B.', '"Ann B." <ann@example.com>'],
    ['a "b" \\ c', '"a \\"b\\" \\\\ c" <ann@example.com>'],
    ['Zoë from Acme', '=?UTF-8?Q?Zo=C3=AB_from_Acme?= <ann@example.com>'],
    ['=?UTF-8?Q?x?=', '=?UTF-8?B?PT9VVEYtOD9RP3g/PQ==?= <ann@example.com>'],
    ['岡田', '=?UTF-8?B?5bKh55Sw?= <ann@example.com>'],
    ['n'.repeat(61), `=?UTF-8?Q?${'n'.repeat(52)}?=\r\n =?UTF-8?Q?nnnnnnnnn?= <ann@example.com>`],
  ]
  for (const [name, expected] of cases) {
    t.equal(
      field('From', { from: { ...mailbox('ann@example.com'), name } }),
      `From: ${expected}`,
      name,
    )
  }
})

t.test('fifty recipients are folded between, never inside, their addresses', async (t) => {
  const to = Array.from({ length: 50 }, (_, i) => mailbox(`R. ${i} <r${i}@example.com>`))
  const lines = field('To', { to }).split('\r\n')
  t.ok(lines.length > 15)
  t.ok(lines.every((line) => line.length <= 78))
  const parsed = await PostalMime.parse(whole(composeMessage(input({ to }))))
  t.same(
    parsed.to,
    to.map(({ address, name }) => ({ address, name })),
  )
})

t.test('a quoted local part stands in angle brackets', async (t) => {
  const to = [mailbox('"b c"@example.com'), mailbox('B <"a, b"@example.com>')]
  t.equal(field('To', { to }), 'To: <"b c"@example.com>, B <"a, b"@example.com>')
})

t.test('a UTF-8 local part stands in the header as it is, and the message says so', async (t) => {
  const to = [mailbox('b@example.com'), mailbox('Jörg <jörg@bücher.example>')]
  const message = composeMessage(input({ to }))
  t.equal(message.smtpUtf8, true)
  t.ok(
    message.header.includes(
      'To: b@example.com, =?UTF-8?B?SsO2cmc=?= <jörg@xn--bcher-kva.example>\r\n',
    ),
  )
  t.equal(composeMessage(input({ to: [mailbox('Jörg <j@bücher.example>')] })).smtpUtf8, false)
  t.equal(composeMessage(input({ replyTo: [mailbox('é@example.com')] })).smtpUtf8, true)
})

t.test('each part has the encoding that suits it', async (t) => {
  const cases: [text: string, encoding: string, body?: string][] = [
    ['', '7bit', '\r\n'],
    ['no line end', '7bit', 'no line end\r\n'],
    ['a\nb\rc\r\nd\n\re', '7bit', 'a\r\nb\r\nc\r\nd\r\n\r\ne\r\n'],
    ['a\r\n\r\n', '7bit', 'a\r\n\r\n'],
    ['tab\tand space \n', '7bit', 'tab\tand space \r\n'],
    ['.\n..\n', '7bit', '.\r\n..\r\n'],
    ['x'.repeat(998), '7bit'],
    [`${'x'.repeat(998)}\n${'y'.repeat(998)}\n`, '7bit'],
    ['x'.repeat(999), 'quoted-printable'],
    [`a\n${'x'.repeat(999)}\nb`, 'quoted-printable'],
    ['From me', 'quoted-printable', '=46rom me\r\n'],
    ['a\nFrom me', 'quoted-printable', 'a\r\n=46rom me\r\n'],
    ['a\nFrom: me, From me', '7bit'],
    ['a nul \0', 'quoted-printable', 'a nul =00\r\n'],
    ['a del \x7f', 'quoted-printable', 'a del =7F\r\n'],
    ['a café = something good', 'quoted-printable', 'a caf=C3=A9 =3D something good\r\n'],
    ['é trailing \n and tab\t', 'quoted-printable', '=C3=A9 trailing=20\r\n and tab=09\r\n'],
    ['see é\n.\n.x and y\n', 'quoted-printable', 'see =C3=A9\r\n=2E\r\n=2Ex and y\r\n'],
    ['漢字かな交じり文', 'base64', `${b64('漢字かな交じり文')}\r\n`],
    ['lone \ud800 surrogate in text', 'quoted-printable', 'lone =EF=BF=BD surrogate in text\r\n'],
  ]
  for (const [text, encoding, body] of cases) {
    t.equal(encodingOf(text), encoding, JSON.stringify(text))
    if (body !== undefined) t.equal(bodyOf(text), body, JSON.stringify(text))
  }
  t.same(
    bodyOf('漢'.repeat(57))
      .split('\r\n')
      .map((line) => line.length),
    [76, 76, 76, 0],
    'base64 in lines of 76',
  )
})

t.test('quoted-printable lines end where RFC 2045 lets them', async (t) => {
  // 'é ' makes the part quoted-printable and takes the first line.
  const lines = (line: string) => bodyOf(`é\n${line}`).split('\r\n').slice(1, -1)
  t.same(lines('x'.repeat(76)), ['x'.repeat(76)], 'a whole line of 76 needs no soft break')
  t.same(lines('x'.repeat(77)), [`${'x'.repeat(75)}=`, 'xx'])
  t.same(lines(`${'x'.repeat(73)}=`), [`${'x'.repeat(73)}=3D`], 'an escape may end at 76')
  t.same(lines(`${'x'.repeat(74)}=`), [`${'x'.repeat(74)}=`, '=3D'], 'and is never split')
  t.same(lines(`${'x'.repeat(75)}..`), [`${'x'.repeat(75)}=`, '=2E.'], 'no dot begins a line')
  t.same(lines(`${'x'.repeat(75)} `), [`${'x'.repeat(75)}=`, '=20'], 'no space ends one')
  t.same(lines(`${'x'.repeat(74)}  y`), [`${'x'.repeat(74)} =`, ' y'])
})

t.test('the boundary is fixed by the Message-ID and occurs in no part', async (t) => {
  const boundary = (fields: Partial<MessageInput>) =>
    /boundary="(.*)"/.exec(headerOf({ html: '<p>', ...fields }))?.[1] ?? ''
  const first = boundary({})
  t.equal(boundary({}), first)
  t.not(boundary({ messageId: '2@example.com' }), first)
  const hostile = `a\n--${first}\nContent-Type: text/html\n\nfooled\n--${first}--\n`
  t.not(boundary({ text: hostile }), first)
  const parsed = await PostalMime.parse(
    whole(composeMessage(input({ text: hostile, html: '<p>' }))),
  )
  t.equal(parsed.text, `${hostile}\n`)
  t.equal(parsed.html, '<p>\n')
})

t.test('parts that many messages share are encoded once', async (t) => {
  const html = '<p>漢字</p>'
  const parts = composeParts('Grüße', html)
  const { text: _, ...fields } = input()
  t.same(
    whole(composeMessage(fields, parts)),
    whole(composeMessage(input({ text: 'Grüße', html }))),
  )
})

t.test('a header that a client could have written into throws', async (t) => {
  for (const bad of ['a\r\nBcc: x@example.com', 'a\nb', 'a\rb', 'a\0b']) {
    const ann = mailbox('ann@example.com')
    const cases: Record<string, Partial<MessageInput>> = {
      subject: { subject: bad },
      'name in From': { from: { ...ann, name: bad } },
      'name in To': { to: [ann, { ...ann, name: bad }] },
      'address in To': { to: [{ ...ann, address: bad }] },
      'address in Reply-To': { replyTo: [{ ...ann, address: bad }] },
      'Message-ID': { messageId: `${bad}@example.com` },
      'extra value': { extraHeaders: [{ name: 'X-A', value: bad }] },
      'extra name': { extraHeaders: [{ name: bad, value: 'a' }] },
    }
    for (const [place, fields] of Object.entries(cases)) {
      t.throws(() => composeMessage(input(fields)), TypeError, `${place}: ${JSON.stringify(bad)}`)
    }
  }
})

t.test('a header that would be wrong throws', async (t) => {
  const extra = (name: string, value: string) => ({ extraHeaders: [{ name, value }] })
  for (const fields of [
    { to: [] },
    { messageId: 'no-at-sign' },
    { messageId: '<a@b' },
    { messageId: 'é@example.com' },
    { dateMs: Number.NaN },
    extra('Subject', 'a second one'),
    extra('content-type', 'text/plain'),
    extra('', 'a'),
    extra('X A', 'a'),
    extra('X:', 'a'),
    extra('X-A', ''),
    extra('X-A', 'é'),
    extra('X-A', 'x'.repeat(1000)),
  ]) {
    t.throws(() => composeMessage(input(fields)), TypeError, JSON.stringify(fields))
  }
})

t.test("a reader sees in it what it sees in MailComposer's", async (t) => {
  const mails: Partial<MessageInput>[] = [
    {},
    { html: '<p>Hi Bob</p>' },
    { text: undefined, html: '<p>Only</p>' },
    { subject: 'Ünïcödé 👋🏽 '.repeat(10).trim(), text: 'Grüße\n.\n..\n' },
    { from: mailbox('"Ann \\"A\\" O\'Neil, Esq." <ann@example.com>'), html: '漢字' },
    { to: [mailbox('Bob B <b@b.example>'), mailbox('Søren <s@bücher.example>')] },
    { replyTo: [mailbox('Hülp <help@example.com>')], text: `${'long '.repeat(500)}\nend\n` },
  ]
  for (const fields of mails) {
    const mail = input(fields)
    const address = (box: Mailbox) => ({ name: box.name ?? '', address: box.address })
    const theirs = await new MailComposer({
      from: address(mail.from),
      to: mail.to.map(address),
      ...(mail.replyTo && { replyTo: mail.replyTo.map(address) }),
      subject: mail.subject,
      text: mail.text,
      html: mail.html,
      messageId: `<${mail.messageId}>`,
      date: new Date(mail.dateMs),
      newline: 'windows',
    })
      .compile()
      .build()
    t.same(
      seen(await PostalMime.parse(whole(composeMessage(mail)))),
      seen(await PostalMime.parse(theirs)),
    )
  }
})

t.test('300 random mails: sound on the wire, and read as they were written', async (t) => {
  for (let seed = 1; seed <= 300; seed++) {
    const mail = randomMail(seed)
    const message = composeMessage(mail)
    const raw = whole(message)
    const fault = wireFault(message)
    const parsed = await PostalMime.parse(raw)
    const read = {
      subject: parsed.subject ?? '',
      from: named(parsed.from),
      to: parsed.to?.map(named),
      replyTo: parsed.replyTo?.map(named),
      messageId: parsed.messageId,
      text: content(parsed.text),
      html: content(parsed.html),
    }
    const written = {
      subject: mail.subject,
      from: named(mail.from),
      to: mail.to.map(named),
      replyTo: mail.replyTo?.map(named),
      messageId: `<${mail.messageId}>`,
      text: mail.text === undefined ? undefined : content(mail.text),
      html: mail.html === undefined ? undefined : content(mail.html),
    }
    if (fault !== undefined || JSON.stringify(read) !== JSON.stringify(written)) {
      t.same({ seed, fault, ...read }, { seed, fault: undefined, ...written })
      return
    }
  }
  t.pass('300 mails')
})

t.test(
  'a message enclosed in one piece is what goes over the wire, unless it says that it has dots',
  async (t) => {
    const signature = Buffer.from('DKIM-Signature: x\r\n')
    const stuffed = (message: ComposedMessage, front: Buffer) =>
      Buffer.concat(stuffDots([front, whole(message)]))
    const texts = ['.', 'a\n.b', '.a\r\nb', 'a.\n\n', 'é\n.b', '', '\n.', 'a\r.b', ' .b', '\n']
    const mails = [
      ...texts.flatMap((text) => [
        input({ text }),
        input({ text: 'a', html: text }),
        input({ html: text }),
      ]),
      input({ customHeaders: { '.X-Odd': '1' } }),
      input({ customHeaders: { 'X-Odd': `${'a '.repeat(60)}.b` } }),
      ...Array.from({ length: 300 }, (_, i) => randomMail(i)),
    ]
    let dotted = 0
    for (const mail of mails) {
      const message = composeMessage(mail)
      const expected = stuffed(message, signature)
      const isLonger = expected.length > signature.length + whole(message).length + finalDot.length
      if (message.isDotted !== isLonger) t.fail(`${message.isDotted}: ${JSON.stringify(mail)}`)
      if (isLonger) dotted++
      else if (!encloseMessage(message, signature, finalDot).equals(expected))
        t.fail(JSON.stringify(mail))
    }
    t.ok(dotted >= 10 && dotted < mails.length - 100, `${dotted} have dots`)
    const message = composeMessage(input())
    for (const bytes of [0, 1, 2_047, 2_048, 2_049, 5_000]) {
      const front = Buffer.from('X: '.padEnd(bytes, 'x'))
      t.ok(
        encloseMessage(message, front, finalDot).equals(stuffed(message, front)),
        `${bytes} before it`,
      )
    }
  },
)

function seen(mail: Awaited<ReturnType<typeof PostalMime.parse>>) {
  const { subject, from, to, replyTo, messageId, date, text, html } = mail
  const trimmed = { text: content(text), html: content(html) }
  return { subject, from, to, replyTo, messageId, date, ...trimmed }
}

function named(box: { name?: string; address?: string } | undefined) {
  return { name: box?.name ?? '', address: box?.address }
}

/** Line ends as LF, less those at the end, which postal-mime adds to. */
function content(text: string | undefined): string | undefined {
  return (
    text &&
    Buffer.from(text)
      .toString()
      .replace(/\r\n?|\n/g, '\n')
      .replace(/\n+$/, '')
  )
}

/** What a relay could object to, if anything. */
function wireFault({ header, body, smtpUtf8 }: ComposedMessage): string | undefined {
  const head = header.toString('latin1')
  const text = body.toString('latin1')
  if (/\r(?!\n)|(?<!\r)\n/.test(head + text)) return 'a bare CR or LF'
  if (!head.endsWith('\r\n') || !text.endsWith('\r\n')) return 'no line end at the end'
  if (/\r\n[ \t]*\r\n/.test(head)) return 'an empty line in the header'
  if (/[^\t\r\n -~]/.test(text)) return 'an octet in the body that is not printable ASCII'
  if (!smtpUtf8 && /[^\r\n -~]/.test(head)) return 'an octet in the header that is not ASCII'
  const lines = [...head.split('\r\n'), ...text.split('\r\n')]
  if (lines.some((line) => line.length > 998)) return 'a line over 998'
  const long = head.split('\r\n').filter((line) => line.length > 78)
  if (long.some((line) => line.includes('=?'))) return 'an encoded-word on a long line'
  if (!long.every((line) => /^(?:[\w-]+:)? \S+$/.test(line))) return 'a line that could be folded'
  if (/^From /m.test(text)) return 'a line that begins with From'
  return undefined
}

function b64(text: string): string {
  return Buffer.from(text).toString('base64')
}
