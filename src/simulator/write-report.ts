import { randomUUID } from 'node:crypto'

/** What a report is about. */
export interface ReportSubject {
  /** The return path, which names the delivery. */
  mailFrom: string
  recipient: string
  /** The part of the mail's header that is returned; may be empty. */
  header: Buffer
  /** Who reports. */
  reporter: string
  at: number
}

/** A report that a mail could not be delivered after all (RFC 3464). */
export function writeBounce({ mailFrom, recipient, header, reporter, at }: ReportSubject): Buffer {
  const status = `Reporting-MTA: dns; ${reporter}
Arrival-Date: ${mailDate(at)}

Final-Recipient: rfc822; ${recipient}
Action: failed
Status: 5.1.1
Remote-MTA: dns; ${reporter}
Diagnostic-Code: smtp; 550 5.1.1 The mailbox is gone
`
  return report(
    { from: `MAILER-DAEMON@${reporter}`, to: mailFrom, subject: 'Undelivered Mail', at, reporter },
    'delivery-status',
    [
      ['text/plain', `Your mail to <${recipient}> could not be delivered: the mailbox is gone.\n`],
      ['message/delivery-status', status],
      ['text/rfc822-headers', header.toString('latin1')],
    ],
  )
}

/** A recipient's complaint, as feedback loops send it (RFC 5965). */
export function writeComplaint(reported: ReportSubject & { feedback: string }): Buffer {
  const { mailFrom, recipient, header, reporter, at, feedback } = reported
  const details = `Feedback-Type: abuse
User-Agent: Posthorn-Simulator/1
Version: 1
Original-Mail-From: <${mailFrom}>
Original-Rcpt-To: <${recipient}>
Arrival-Date: ${mailDate(at)}
Reporting-MTA: dns; ${reporter}
`
  return report(
    {
      from: `complaints@${reporter}`,
      to: feedback,
      subject: 'Complaint about a mail',
      at,
      reporter,
    },
    'feedback-report',
    [
      ['text/plain', `<${recipient}> says that this mail is spam.\n`],
      ['message/feedback-report', details],
      ['text/rfc822-headers', header.toString('latin1')],
    ],
  )
}

/** From whom and to whom a report goes. */
interface Envelope {
  from: string
  to: string
  subject: string
  at: number
  reporter: string
}

/** A `multipart/report` (RFC 6522). CRLF is put in last, because the parts are written with plain line ends. */
function report(
  { from, to, subject, at, reporter }: Envelope,
  type: 'delivery-status' | 'feedback-report',
  parts: readonly (readonly [type: string, content: string])[],
): Buffer {
  const id = randomUUID()
  const boundary = `=_${id}`
  const body = parts.map(
    ([contentType, content]) => `--${boundary}\nContent-Type: ${contentType}\n\n${content}\n`,
  )
  const message = `From: <${from}>
To: <${to}>
Subject: ${subject}
Date: ${mailDate(at)}
Message-ID: <${id}@${reporter}>
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=${type};
 boundary="${boundary}"

${body.join('')}--${boundary}--
`
  return Buffer.from(message.replaceAll(/\r\n|\r|\n/g, '\r\n'), 'latin1')
}

/** RFC 5322 §3.3: `Sat, 21 Nov 2026 11:00:00 +0000`. */
const mailDate = (at: number) => new Date(at).toUTCString().replace('GMT', '+0000')
