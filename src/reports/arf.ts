import { addressIn, fieldBlocks, type ReportFields } from './fields.js'
import type { Message } from './message.js'
import type { Feedback } from './report.js'

/** RFC 5965 §7.3, RFC 6430, RFC 6591, and what older loops send. Others are only noted. */
const meanings: Readonly<Record<string, Feedback['means']>> = {
  abuse: 'complaint',
  fraud: 'complaint',
  // Yahoo and AOL of old, before the type had its name.
  'abuse-report': 'complaint',
  spam: 'complaint',
  'opt-out': 'unsubscribe',
  'opt-out-list': 'unsubscribe',
}

/** A complaint by a feedback loop; undefined for any other mail. */
export function readFeedback(message: Message): { form: string; feedback: Feedback } | undefined {
  const fields = feedbackFields(message)
  if (fields !== undefined) return { form: 'ARF', feedback: fromFields(fields) }
  return readJunkMailReport(message)
}

function feedbackFields({ parts, text }: Message): ReportFields | undefined {
  const part = parts.find(({ type }) => type === 'message/feedback-report')
  if (part !== undefined) return fieldBlocks(part.body)[0] ?? new Map()
  // Some programs send the part as plain text, or its type is lost on the way.
  for (const body of [...parts.map((other) => other.body), text]) {
    const at = body.search(/^[ \t]?Feedback-Type[ \t]*:/im)
    if (at < 0) continue
    // Fields come in any order (RFC 5965 §3), so fields above Feedback-Type belong to the block
    // too.
    const blockStart = body.lastIndexOf('\n\n', at) + 1
    const fields = fieldBlocks(body.slice(blockStart))[0]
    // A mail that merely talks about reports has no version and no agent.
    if (fields?.has('user-agent') || fields?.has('version')) return fields
  }
  return undefined
}

function fromFields(fields: ReportFields): Feedback {
  const type = (fields.get('feedback-type') ?? '').toLowerCase().replace(/[^a-z0-9-].*$/s, '')
  return {
    type,
    means: Object.hasOwn(meanings, type) ? (meanings[type] ?? 'nothing') : 'nothing',
    userAgent: (fields.get('user-agent') ?? '').slice(0, 200),
    originalRecipient: addressIn(
      fields.get('original-rcpt-to') ?? fields.get('removal-recipient') ?? '',
    ),
  }
}

/** Microsoft's Junk Mail Reporting Program: the message alone, no feedback-report part. */
function readJunkMailReport(message: Message) {
  const recipient = message.header('x-hmxmroriginalrecipient')
  const named = /^complaint about message from /i.test(message.header('subject'))
  const returned = message.parts.find(({ type }) => type === 'message/rfc822')
  if (returned === undefined || (recipient === '' && !named)) return undefined
  const inside = fieldBlocks(returned.body)[0]?.get('x-hmxmroriginalrecipient')
  const originalRecipient = addressIn(recipient || inside)
  const feedback: Feedback = { type: 'abuse', means: 'complaint', userAgent: '', originalRecipient }
  return { form: 'Microsoft JMRP', feedback }
}
