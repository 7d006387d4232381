import { domainToASCII } from 'node:url'
import { type Infer, optional, type } from 'superstruct'
import { ApiError } from '../errors/index.js'
import { rule } from '../fields/index.js'
import { parseMailbox } from '../mime/index.js'
import type { EmailStatus, MailTag } from '../store/index.js'
import type { EmailFilter } from './candidates.js'
import { parseTime } from './schedule.js'
import { filled } from './send-body.js'

/** The contract's, in the order of a mail's life. */
export const emailStatuses: readonly EmailStatus[] = [
  ...(['queued', 'scheduled', 'sending', 'sent', 'delivered'] as const),
  ...(['bounced', 'failed', 'cancelled', 'suppressed'] as const),
]

const isStatus = (text: string): text is EmailStatus => emailStatuses.some((one) => one === text)

const textThat = (expected: string, holds: (text: string) => boolean) =>
  rule<string>(expected, (value) => typeof value === 'string' && holds(value))

const Address = textThat('an address: email@domain', (text) => parseMailbox(text) !== undefined)
const Id = textThat('a UUID', (text) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
const Time = textThat(
  'a date and time in ISO 8601, e.g. 2026-11-21T12:00:00Z',
  (text) => parseTime(text) !== undefined,
)

/** What clients and operators ask of the list, as they write it. */
export const FilterFields = {
  status: optional(
    textThat(`one or more of ${emailStatuses.join(', ')}, joined by commas`, (text) =>
      text.split(',').every(isStatus),
    ),
  ),
  to: optional(Address),
  from: optional(Address),
  domain: optional(textThat('a domain', (text) => domainToASCII(text) !== '')),
  type: optional(
    textThat('transactional or marketing', (text) => /^(?:transactional|marketing)$/.test(text)),
  ),
  topicId: optional(Id),
  broadcastId: optional(Id),
  template: optional(filled('the slug of a template')),
  tag: optional(textThat('a tag: name:value', (text) => tagOf(text) !== undefined)),
  messageId: optional(
    textThat('a Message-ID: <left@right>', (text) => messageIdOf(text) !== undefined),
  ),
  automationId: optional(Id),
  step: optional(filled('the key of a step')),
  createdAfter: optional(Time),
  createdBefore: optional(Time),
}

const Fields = type(FilterFields)

/** The filter that is meant; what is no filter was refused before. */
export function filterOf(given: Infer<typeof Fields>): EmailFilter {
  const { status, to, from, domain, type, tag, template, messageId, automationId, step } = given
  if (step !== undefined && automationId === undefined) {
    throw new ApiError(
      'validation_error',
      'step needs automationId beside it: the automation that has the step',
    )
  }
  return {
    status: status === undefined ? undefined : [...new Set(status.split(',').filter(isStatus))],
    to: to === undefined ? undefined : addressOf(to),
    from: from === undefined ? undefined : addressOf(from),
    domain: domain === undefined ? undefined : domainToASCII(domain).toLowerCase(),
    type: type === 'transactional' || type === 'marketing' ? type : undefined,
    topicId: given.topicId?.toLowerCase(),
    broadcastId: given.broadcastId?.toLowerCase(),
    template,
    tag: tag === undefined ? undefined : tagOf(tag),
    messageId: messageId === undefined ? undefined : messageIdOf(messageId),
    automationId: automationId?.toLowerCase(),
    step,
    createdAfter: given.createdAfter === undefined ? undefined : parseTime(given.createdAfter),
    createdBefore: given.createdBefore === undefined ? undefined : parseTime(given.createdBefore),
  }
}

/** By the whole address; a search by parts would have to read every mail. */
function addressOf(text: string): string {
  const mailbox = parseMailbox(text)
  if (mailbox === undefined)
    throw new ApiError('validation_error', `"${text}" is not an email address`)
  return mailbox.address
}

/** With or without its angle brackets. */
function messageIdOf(text: string): string | undefined {
  const [, inner] = /^<?([^\s<>@]+@[^\s<>@]+)>?$/.exec(text.trim()) ?? []
  return inner === undefined ? undefined : `<${inner}>`
}

/** No name of a tag has a colon. */
function tagOf(text: string): MailTag | undefined {
  const [, name, value] = /^([A-Za-z0-9_-]+):(.+)$/s.exec(text) ?? []
  return name === undefined || value === undefined ? undefined : { name, value }
}
