import { randomBytes } from 'node:crypto'
import PostalMime from 'postal-mime'
import t from 'tap'
import {
  type AttachedPart,
  base64Size,
  composeAttached,
  encodeBase64,
  invitationMethod,
  type MessageInput,
  parseMailbox,
} from '../../src/mime/index.js'
import { missing } from '../support/tools.js'
import { postalParts, pythonParts, sha256 } from './readers.js'

const ann = parseMailbox('Ann <ann@example.com>')
const bob = parseMailbox('bob@example.net')
if (ann === undefined || bob === undefined) throw new Error('No mailbox')

const input: MessageInput = {
  from: ann,
  to: [bob],
  subject: 'Hello',
  text: 'Hi Bob\n',
  html: '<p>Hi Bob <img src="cid:logo"></p>',
  messageId: '1@example.com',
  dateMs: Date.parse('2026-11-21T12:00:00Z'),
}

const part = (fields: Partial<AttachedPart> & { content: number }): AttachedPart => ({
  filename: 'a.pdf',
  contentType: 'application/pdf',
  disposition: 'attachment',
  ...fields,
})

const contents = new Map(
  [0, 1, 2, 56, 57, 58, 65_493, 100_000].map((size, i) => [i, randomBytes(size)]),
)
const invitation = 8
contents.set(invitation, Buffer.from('BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n'))
const bytesOf = (id: number) => contents.get(id) ?? Buffer.alloc(0)

/** The message as it is sent. */
async function whole(attachments: AttachedPart[], fields: Partial<MessageInput> = {}) {
  const { header, pieces } = await composeAttached({ ...input, ...fields }, attachments)
  const body = pieces.map((piece) =>
    typeof piece === 'number' ? encodeBase64(bytesOf(attachments[piece]?.content ?? 0)) : piece,
  )
  return Buffer.concat([header, Buffer.from('\r\n'), ...body])
}

/** The types of a message's parts, nested as they are. */
function outline(raw: Buffer): string {
  return [...raw.toString('latin1').matchAll(/^Content-Type: ([\w/.-]+)/gm)]
    .map(([, type]) => type)
    .join(' ')
}

t.test('mixed holds alternative, and in it HTML is related to its pictures', async (t) => {
  const logo = part({
    filename: 'logo.png',
    contentType: 'image/png',
    disposition: 'inline',
    contentId: 'logo',
    content: 2,
  })
  t.equal(
    outline(await whole([part({ content: 1 })])),
    'multipart/mixed multipart/alternative text/plain text/html application/pdf',
  )
  t.equal(
    outline(await whole([part({ content: 1 }), logo])),
    'multipart/mixed multipart/alternative text/plain multipart/related text/html image/png application/pdf',
  )
  t.equal(
    outline(await whole([logo])),
    'multipart/alternative text/plain multipart/related text/html image/png',
  )
})

t.test('the header is ours, folded and whole; the body is 7bit with short lines', async (t) => {
  const raw = await whole([part({ filename: `${'Übersicht '.repeat(20)}.pdf`, content: 7 })], {
    subject: 'Größe',
    html: `<p>${'ä'.repeat(3_000)}</p>`,
    extraHeaders: [{ name: 'List-Unsubscribe', value: '<https://example.com/u>' }],
  })
  const text = raw.toString('latin1')
  const header = text.slice(0, text.indexOf('\r\n\r\n'))
  t.match(
    header,
    /^Date: Sat, 21 Nov 2026 12:00:00 \+0000\r\nFrom: Ann <ann@example\.com>\r\nTo: bob@example\.net\r\nSubject: =\?UTF-8\?.*\r\nMessage-ID: <1@example\.com>\r\nList-Unsubscribe: .*\r\nMIME-Version: 1\.0\r\nContent-Type: multipart\/mixed;\r\n boundary="=_-[\w-]{24}-Part_1"$/,
  )
  t.notMatch(text, /[^\r]\n|\r[^\n]|[\x80-\xff]/)
  t.notOk(text.split('\r\n').some((line) => line.length > 998))
  t.ok(text.endsWith('--\r\n'))
})

t.test('the same content makes the same body for whomever, other content another', async (t) => {
  const attachments = [part({ content: 1 })]
  const one = await composeAttached(input, attachments)
  const other = await composeAttached({ ...input, messageId: '2@example.com' }, attachments)
  t.same(one.pieces, other.pieces)
  t.equal(one.digest, other.digest)
  for (const changed of [
    composeAttached({ ...input, html: '<p>other</p>' }, attachments),
    composeAttached({ ...input, text: 'other' }, attachments),
    composeAttached(input, [part({ content: 2 })]),
    composeAttached(input, [part({ content: 1, filename: 'b.pdf' })]),
  ]) {
    t.not((await changed).digest, one.digest)
  }
})

t.test('a text that imitates boundaries and base64 changes nothing', async (t) => {
  const first = await whole([part({ content: 4 })])
  const boundary = /boundary="(.*)"/.exec(first.toString('latin1'))?.[1] ?? ''
  const text = `--${boundary}\nContent-Type: text/html\n\n${first.toString('latin1')}`
  const raw = await whole([part({ content: 4 })], { text, html: `<pre>${boundary}</pre>` })
  const mail = await PostalMime.parse(raw)
  t.equal(mail.text?.trim(), text.replaceAll('\r\n', '\n').trim())
  t.same(
    (await postalParts(raw)).map((one) => one.sha256),
    [sha256(bytesOf(4))],
  )
})

t.test('every size arrives as it was, as two readers read it', async (t) => {
  const attachments = [...contents.keys()].map((content) =>
    part({ content, filename: `${content}.bin`, contentType: 'application/octet-stream' }),
  )
  const raw = await whole(attachments)
  const wanted = attachments.map(({ filename, content }) => ({
    filename,
    sha256: sha256(bytesOf(content)),
  }))
  t.match(await postalParts(raw), wanted)
  if (missing('python3') === false) t.match(pythonParts([raw])[0], wanted)
})

t.test('an invitation is an alternative, last of them, and a file for calendars', async (t) => {
  const raw = await whole([
    part({
      filename: 'invite.ics',
      contentType: 'text/calendar; method=REQUEST',
      content: invitation,
    }),
  ])
  t.equal(
    outline(raw),
    'multipart/mixed multipart/alternative text/plain text/html text/calendar application/ics',
  )
  t.match(
    raw.toString('latin1'),
    /Content-Type: text\/calendar; charset=utf-8; method=REQUEST\r\nContent-Transfer-Encoding: base64\r\n\r\n/,
  )
  const file = { filename: 'invite.ics', type: 'application/ics' }
  t.match(
    (await postalParts(raw)).find(({ type }) => type === file.type),
    file,
  )
  if (missing('python3') === false) {
    t.match(pythonParts([raw]), [[{ ...file, sha256: sha256(bytesOf(invitation)) }]])
  }
})

t.test('only text/calendar with a method is an invitation', async (t) => {
  t.equal(invitationMethod('text/calendar; method=REQUEST'), 'REQUEST')
  t.equal(invitationMethod('Text/Calendar; charset=utf-8; Method="cancel"'), 'CANCEL')
  for (const type of ['text/calendar', 'text/calendars; method=REQUEST', 'a/b; method=REQUEST']) {
    t.equal(invitationMethod(type), undefined, type)
  }
})

t.test('base64 has lines of 76 and the size that was said', async (t) => {
  const bytes = randomBytes(300)
  for (let size = 0; size < 300; size++) {
    const lines = encodeBase64(bytes.subarray(0, size))
    t.equal(lines.length, base64Size(size))
    t.ok(Buffer.from(lines.toString(), 'base64').equals(bytes.subarray(0, size)))
    t.notOk(
      String(lines)
        .split('\r\n')
        .some((line) => line.length > 76),
    )
  }
})
