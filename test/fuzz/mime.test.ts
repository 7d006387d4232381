import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { glimpseHeader, readMessageContent } from '../../src/mime/index.js'
import { bytesOf, fuzz } from './driver.js'

const folder = 'test/fixtures/reports'
const seeds = readdirSync(folder)
  .filter((name) => name.endsWith('.eml'))
  .map((name) => readFileSync(join(folder, name), 'latin1'))
const tokens = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  '"',
  ';',
  '=',
  '--',
  '\r\n\r\n',
  '\r\n ',
  '=?',
  '?=',
  'Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n',
  'Content-Type: message/rfc822\r\n',
  'Content-Transfer-Encoding: base64\r\n',
  'Content-Transfer-Encoding: quoted-printable\r\n',
  '=?utf-8?B?',
  '=?utf-7?Q?+AGE-?=',
  '=?x?Q?=41=?=',
  'charset=utf-16',
  'charset=x',
  '\xff\xfe',
  'boundary=""',
  'boundary*0=a; boundary*1=b',
  "filename*=utf-8''%00",
  'Subject: ',
  'From: (a',
  'begin 644 a\r\n',
  '<a href="',
  '<!--',
  '&#0;',
  '(',
  '<',
  'name="',
  '=\r\n',
  '=ZZ',
]

fuzz('MIME', 1_200, { seeds, tokens }, async (input) => {
  const raw = bytesOf(input)
  const { headers, text, html, attachments } = await readMessageContent(raw)
  if (headers.length > 200 || attachments.length > 100) return 'too many parts'
  // What is shown is in the mail; a character takes at most three bytes more than it had.
  const shown = (text?.length ?? 0) + (html?.length ?? 0)
  if (shown > 8 * raw.length + 1_000) return `${shown} characters of ${raw.length} bytes`
  const long = headers.find(({ name, value }) => name.length > 100 || value.length > 5_000)
  if (long !== undefined) return `a header of ${long.value.length}`
  const names = attachments.map(({ filename, mimeType }) => filename + mimeType).join('')
  const { subject, from } = glimpseHeader(raw)
  if (subject.length > 500 || from.length > 320) return 'a long subject'
  return /\p{Cc}/u.test(subject + from + names) ? 'a control character' : undefined
})
