import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readReport } from '../../src/reports/index.js'
import { bytesOf, fuzz } from './driver.js'

const folder = 'test/fixtures/reports'
const fixtures = (those: (number: number) => boolean) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.eml') && those(Number(name.slice(0, 2))))
    .map((name) => readFileSync(join(folder, name), 'latin1'))

const words = [
  '\r\n',
  '\n',
  '\r\n\r\n',
  ' ',
  '\t',
  ':',
  ';',
  '<',
  '>',
  '@',
  '"',
  '(',
  ')',
  ',',
  '\0',
  '\xff',
  'rfc822;',
  'utf-8;',
  'smtp; 550 ',
  '5.1.1 ',
  '4.2.2 ',
  'User unknown',
  'mailbox full',
  'x@y.test',
  '--',
  'Content-Type: message/delivery-status\r\n\r\n',
  'This is the mail system\r\n',
]
const dsnWords = [
  'Final-Recipient: rfc822; a@b.test\r\n',
  'Original-Recipient: rfc822; c@d.test\r\n',
  'Action: failed\r\n',
  'Action: delayed\r\n',
  'Status: 5.0.0\r\n',
  'Status: 9.9.9\r\n',
  'Diagnostic-Code: smtp; 550-x\r\n 550 5.1.1 y\r\n',
  'Remote-MTA: dns; mx.test\r\n',
  'said: ',
]
const arfWords = [
  'Feedback-Type: abuse\r\n',
  'Feedback-Type: opt-out\r\n',
  'User-Agent: x/1\r\n',
  'Version: 1\r\n',
  'Original-Rcpt-To: <a@b.test>\r\n',
  'Original-Mail-From: <x@y.test>\r\n',
  'Removal-Recipient: a\r\n',
  'Content-Type: message/feedback-report\r\n\r\n',
  'Message-ID: <1@x>\r\n',
  'X-HmXmrOriginalRecipient: a@b.test\r\n',
]

/** Where an address may be written otherwise than it reads: encodings, comments, folds. */
const isEncoded =
  /base64|quoted-printable|=\?|\\x\{|\+[0-9a-f]{2}|&#|&[a-z]+;|%[0-9a-f]{2}|[^\x00-\x7e]|\0|\\/i
const squeezed = (text: string) => text.replaceAll(/[\s"<>()]+/g, '').toLowerCase()

async function look(input: string): Promise<string | undefined> {
  const report = await readReport(bytesOf(input))
  const { messageId, to, subject } = report.original
  if (Math.max(messageId.length, to.length, subject.length) > 10_000) return 'a long original'
  const named = [...report.tokens]
  if (report.kind === 'arf') {
    named.push(report.feedback.originalRecipient)
    if (report.feedback.type !== report.feedback.type.toLowerCase()) return 'a type in capitals'
  } else if (report.kind === 'dsn') {
    if (report.recipients.length === 0) return 'a report about nobody'
    if (report.recipients.length > input.length / 8) return 'more recipients than there is text'
    for (const { status, diagnostic, finalRecipient, originalRecipient } of report.recipients) {
      if (!/^([245]\.\d{1,3}\.\d{1,3})?$/.test(status)) return `the status ${status}`
      if (diagnostic.length > 1_000) return `${diagnostic.length} characters of diagnostic`
      named.push(finalRecipient, originalRecipient)
    }
  }
  if (isEncoded.test(input)) return undefined
  const text = squeezed(input)
  const made = named.find((address) => !text.includes(squeezed(address)))
  return made === undefined ? undefined : `nobody wrote ${JSON.stringify(made)}`
}

const dsn = fixtures((number) => number < 40)
fuzz('delivery reports', 1_500, { seeds: dsn, tokens: [...words, ...dsnWords] }, look)
const arf = fixtures((number) => number >= 40 && number < 50)
fuzz('complaints', 1_500, { seeds: arf, tokens: [...words, ...arfWords] }, look)
