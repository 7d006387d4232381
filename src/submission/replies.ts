import { ApiError, type ErrorCode } from '../errors/index.js'
import { Refusal } from '../smtpd/index.js'
import { headerOf } from './own-headers.js'

/**
 * What an SMTP client is told for each refusal of the catalogue (RFC 3463 for the second code). A pause, a
 * suspension and an empty plan are 5yz: mail programs repeat a 4yz for days, and only a person can act.
 */
const replies: Readonly<Record<ErrorCode, string>> = {
  validation_error: '550 5.6.0',
  unsupported_media_type: '550 5.6.1',
  domain_not_verified: '550 5.7.1',
  missing_api_key: '530 5.7.0',
  invalid_api_key: '535 5.7.8',
  forbidden: '550 5.7.1',
  account_suspended: '550 5.7.1',
  account_paused: '550 5.7.1',
  not_found: '550 5.6.0',
  conflict: '550 5.6.0',
  concurrent_idempotent_request: '451 4.3.0',
  invalid_idempotent_request: '550 5.6.0',
  rate_limit_exceeded: '421 4.7.0',
  daily_quota_exceeded: '452 4.7.1',
  monthly_quota_exceeded: '550 5.7.1',
  plan_limit_exceeded: '550 5.7.1',
  subscription_past_due: '550 5.7.1',
  subscription_expired: '550 5.7.1',
  marketing_subscription_required: '550 5.7.1',
  payment_declined: '550 5.7.1',
  payment_method_required: '550 5.7.1',
  application_error: '451 4.3.0',
  service_unavailable: '451 4.3.1',
}

// RFC 5321 §4.5.3.1.5: 512 octets of a reply line, codes and CRLF included.
const maxTextLength = 480

/** Turns an error of the API into SMTP's reply for it; anything else passes through. */
export async function asRefusal<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof ApiError ? refusalOf(error) : error
  }
}

/** The reply of the catalogue for an error, its words in ASCII and on one line. */
export function refusalOf(error: ApiError): Refusal {
  // The words are the API's, but the fields have other names here.
  const words = error.message.replace(/^(?:scheduledAt|topicId)\b/, headerOf)
  const text = `${words}${more(error)}`
  // A limit of mails, not of requests: the session may go on, because mail to other recipients may be accepted
  // sooner.
  const isOfMails = error.code === 'rate_limit_exceeded' && 'per' in error.fields
  const reply = isOfMails ? '452 4.7.1' : replies[error.code]
  // RFC 5321 §4.2: a reply is ASCII.
  return new Refusal(`${reply} ${asciiLine(text)}`)
}

/**
 * A text as one line of ASCII that fits into a reply: another character is a question mark, white
 * space a blank.
 */
export const asciiLine = (text: string): string =>
  text.replace(/[^ -~]+/g, (odd) => (/^\s+$/.test(odd) ? ' ' : '?')).slice(0, maxTextLength)

/**
 * What the API says in separate fields and SMTP can only say in words: the domains that could send, or when the limit
 * ends.
 */
function more({ code, fields }: ApiError): string {
  if (code === 'domain_not_verified' && Array.isArray(fields.verifiedDomains)) {
    const names = fields.verifiedDomains.join(', ')
    return names === '' ? '; it has no verified domain' : `; verified are: ${names}`
  }
  return code !== 'rate_limit_exceeded' && typeof fields.resetsAt === 'string'
    ? `; it ends at ${fields.resetsAt}`
    : ''
}
