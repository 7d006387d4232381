import { createHash } from 'node:crypto'
import { makeContent } from '../contents/index.js'
import { hashBody } from '../dkim/index.js'
import type { RawMessage } from '../emails/index.js'
import { dateField, mailboxField, parseMailbox, structuredField, textField } from '../mime/index.js'
import type { ReportSender } from './sender.js'

/** What a report's mail is made from. */
export interface ReportMail {
  sender: ReportSender
  to: string
  domain: string
  reportId: string
  fileName: string
  /** The report, packed. */
  gzip: Buffer
  messageId: string
  subject: string
  now: number
}

/** A report by mail, RFC 8460 §5.3, ready to be signed. */
export async function composeReportMail(mail: ReportMail): Promise<RawMessage> {
  const { sender, domain, fileName, gzip, messageId, now } = mail
  const from = parseMailbox(sender.from)
  const to = parseMailbox(mail.to)
  if (from === undefined || to === undefined) throw new TypeError('Not an address')
  // RFC 2045 §6.7: `=_` occurs in no base64, and not in the words below.
  const boundary = `=_${createHash('sha256').update(gzip).digest('base64url').slice(0, 24)}`
  const header = [
    dateField('Date', now),
    mailboxField('From', [from]),
    mailboxField('To', [to]),
    textField('Subject', mail.subject),
    structuredField('Message-ID', messageId),
    structuredField('TLS-Report-Domain', domain),
    structuredField('TLS-Report-Submitter', sender.domain),
    // RFC 3834: no vacation responder should answer it. RFC 8689 §4: it leaves even where TLS is broken.
    structuredField('Auto-Submitted', 'auto-generated'),
    structuredField('TLS-Required', 'No'),
    structuredField('MIME-Version', '1.0'),
    `Content-Type: multipart/report; report-type="tlsrpt";\r\n boundary="${boundary}"\r\n`,
  ].join('')
  const words = [
    `This is an aggregate report about TLS with the mail servers of ${domain},`,
    `made by ${sender.domain} (RFC 8460). It was asked for by the TXT record at`,
    `_smtp._tls.${domain}.`,
  ]
  const body = [
    `--${boundary}`,
    'Content-Type: text/plain; charset=us-ascii',
    '',
    ...words,
    '',
    `--${boundary}`,
    'Content-Type: application/tlsrpt+gzip',
    'Content-Transfer-Encoding: base64',
    'Content-Disposition: attachment;',
    ` filename="${fileName}"`,
    '',
    ...(gzip.toString('base64').match(/.{1,76}/g) ?? []),
    '',
    `--${boundary}--`,
    '',
  ].join('\r\n')
  const bytes = Buffer.from(body)
  return {
    messageId,
    header: Buffer.from(header),
    body: makeContent([bytes]),
    bodyHash: await hashBody(one(bytes)),
    eightBit: false,
    smtpUtf8: from.utf8Local || to.utf8Local,
    parts: null,
  }
}

/** The body as an async source, which the hash of DKIM takes. */
async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
