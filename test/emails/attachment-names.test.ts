import t from 'tap'
import { readAttachmentFields } from '../../src/emails/attachment-fields.js'
import { composeAttached, encodeBase64, type Mailbox, parseMailbox } from '../../src/mime/index.js'
import { postalParts, pythonParts, sha256 } from '../mime/readers.js'
import { missing } from '../support/tools.js'

const mailbox = parseMailbox('ann@sender.test') as Mailbox
const bytes = Buffer.from('%PDF-1.7 hostile')

const read = (item: object) =>
  readAttachmentFields([{ content: bytes.toString('base64'), ...item }], 10)[0]

async function message(filename: string, contentType: string): Promise<Buffer> {
  const asked = read({ filename, contentType })
  if (asked === undefined) throw new Error('Nothing was read')
  const { header, pieces } = await composeAttached(
    { from: mailbox, to: [mailbox], subject: 'x', html: 'x', messageId: '1@x.test', dateMs: 0 },
    [{ ...asked, content: 1 }],
  )
  const body = pieces.map((piece) => (typeof piece === 'number' ? encodeBase64(bytes) : piece))
  return Buffer.concat([header, Buffer.from('\r\n'), ...body])
}

const awkward = [
  'a.pdf',
  'a b.pdf',
  'a  b   c.pdf',
  'a;b.pdf',
  'a,b.pdf',
  "it's.pdf",
  'say "hi".pdf',
  '"',
  'a=b.pdf',
  'a%20b.pdf',
  "utf-8''a.pdf",
  "utf-8'en'%41.pdf",
  '100%.pdf',
  '%41',
  '=?',
  '?=',
  '=?x?=',
  'naïve.pdf',
  'Übersicht.pdf',
  '日本語.pdf',
  'отчёт.docx',
  'تقرير.pdf',
  'דוח.pdf',
  '📎.pdf',
  '👩‍👩‍👧.png',
  'e\u0301.txt',
  '\u00e9.txt',
  'a\u00a0b.txt',
  'a\u200bb.txt',
  'a\u200fb.txt',
  'ﬁ.txt',
  '(c).pdf',
  '<a>.pdf',
  'a@b.pdf',
  '[x].pdf',
  'a:b.pdf',
  'a?b.pdf',
  'a!.pdf',
  '#.pdf',
  '&amp;.pdf',
  '.hidden',
  'a.',
  'a..pdf',
  '...',
  'no-extension',
  '-a.pdf',
  '--boundary',
  '~',
  '$(rm).pdf',
  'x.sh',
  'a.exe',
  'a.js',
  'a.pdf.exe',
  'CON',
  'filename="x"; y',
  'a"; filename="b.exe',
  'a\'b"c;d=e.pdf',
  'x'.repeat(255),
  'é'.repeat(127),
  '日'.repeat(85),
  '📎'.repeat(63),
  `${'a b '.repeat(60)}z`,
  'Content-Type: text',
  'a\u{1F468}\u{1F3FD}.txt',
  '𝔘.pdf',
  'a\u0300\u0301\u0302.txt',
  '٣.pdf',
]
// Every printable character of ASCII by itself and at both ends, but for what makes a path and `*`.
const printable = Array.from({ length: 94 }, (_, i) => String.fromCharCode(0x21 + i))
const names = [
  ...awkward,
  ...printable.filter((char) => !'/\\*'.includes(char)).map((char) => `${char}a${char}b.x`),
]

const refusedNames = [
  '',
  ' ',
  '.',
  '..',
  '/',
  '\\',
  '../a',
  '..\\a',
  'a/b',
  'C:\\a.pdf',
  '/etc/passwd',
  'a\\',
  'a\r\nBcc: x@y.test',
  'a\nb',
  'a\rb',
  'a\0b',
  'a\tb',
  '\u001b[31m',
  'a\u007f',
  'a\u0085b',
  'a\u2028b',
  'a\u2029b',
  'a\u202egpj.exe',
  'a\u202a',
  '\u2066a',
  'a\u2069',
  '\ud800',
  'a\udc00',
  'x'.repeat(256),
  'x'.repeat(1_000),
  '日'.repeat(86),
  'a*b.pdf',
  '*',
  '=?UTF-8?Q?a=2Epdf?=',
  '=?utf-8?B?YQ==?=',
  'x =?utf-8?q?a b?= y',
  1,
  null,
  true,
  ['a'],
  { a: 1 },
]

const types = [
  'application/pdf',
  'TEXT/Plain',
  'text/plain; charset=utf-8',
  'image/svg+xml',
  'x/y',
  'text/plain; charset="utf-8"',
  'application/vnd.ms-excel',
  'text/csv; header=present',
  'application/x-a.b-c+d',
  'text/html; x="a;b"',
  'application/octet-stream; name=evil.exe',
]

const refusedTypes = [
  '',
  'pdf',
  'a/',
  '/b',
  'a/b/c',
  'a b/c',
  'text/plain\r\nX: y',
  'text/plain;',
  'a/b; c',
  'a/b; c=',
  'text/plain; x="\n"',
  'text/é',
  'multipart/mixed',
  'Multipart/Alternative; boundary=x',
  'message/rfc822',
  'message/partial',
  `a/${'b'.repeat(200)}`,
  'a/b; x="a"b',
  'a/b (comment)',
  1,
  {},
]

t.test('names and types come out of two readers as they went in', async (t) => {
  const cases = [
    ...names.map((filename) => ({ filename, type: 'application/pdf' })),
    ...types.map((type) => ({ filename: 'a.bin', type })),
  ]
  t.ok(cases.length + refusedNames.length + refusedTypes.length >= 200)
  const mails = await Promise.all(cases.map(({ filename, type }) => message(filename, type)))
  const python = missing('python3') === false ? pythonParts(mails) : undefined
  for (const [i, { filename, type }] of cases.entries()) {
    const raw = mails[i] ?? Buffer.alloc(0)
    t.notMatch(raw.toString('latin1'), /[^\r]\n|\r[^\n]|[\x80-\xff]/, 'it is 7bit')
    const wanted = {
      filename: filename.trim(),
      type: type.replace(/;.*/, '').trim().toLowerCase(),
      disposition: 'attachment',
      sha256: sha256(bytes),
    }
    const [part, ...others] = await postalParts(raw)
    t.match({ ...part, type: part?.type.toLowerCase() }, wanted, `postal-mime: ${filename} ${type}`)
    t.same(others, [])
    if (python !== undefined) t.match(python[i], [wanted], `Python: ${filename} ${type}`)
  }
})

t.test('what could not come out so is refused, and the field is named', async (t) => {
  for (const filename of refusedNames) {
    t.throws(() => read({ filename }), { status: 422, message: /^attachments\[0\]\.filename: / })
  }
  for (const contentType of refusedTypes) {
    const message = /^attachments\[0\]\.contentType: /
    t.throws(() => read({ filename: 'a', contentType }), { status: 422, message })
  }
  for (const contentId of ['', ' ', '<a>', 'cid:a b', 'a\r\nb', 'ä', 'x'.repeat(129), 1]) {
    const message = /^attachments\[0\]\.contentId: /
    t.throws(() => read({ filename: 'a', contentId }), { status: 422, message })
  }
})

t.test('the spellings of other mail APIs are answered with ours', async (t) => {
  for (const [item, hints] of [
    [
      { filename: 'a', content: 'eA==', content_type: 'a/b' },
      ['contentType in place of content_type'],
    ],
    [{ filename: 'a', content: 'eA==', content_id: 'x' }, ['contentId in place of content_id']],
    [
      { Name: 'a', Content: 'eA==', ContentType: 'a/b', ContentID: 'x' },
      [
        'filename in place of Name',
        'content in place of Content',
        'contentType in place of ContentType',
      ],
    ],
    [{ FileName: 'a', RawContent: 'eA==' }, ['content in place of RawContent']],
    [{ filename: 'a', path: 'https://x.test/a' }, ['url in place of path']],
  ] as const) {
    for (const hint of hints) {
      t.throws(() => readAttachmentFields([item], 5), { status: 422, message: `write ${hint}` })
    }
  }
})
