import { domainToASCII } from 'node:url'
import { addressField } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import { type FieldValues, maybe, text, textThat, time, uuid, uuidForm } from '../fields/index.js'
import { parseMailbox } from '../mime/index.js'
import type { EmailStatus, MailTag } from '../store/index.js'
import type { EmailFilter } from './candidates.js'
import { parseTime } from './schedule.js'
import { filled } from './send-fields.js'

/** The contract's statuses, in the order of a mail's life. */
export const emailStatuses: readonly EmailStatus[] = [
  ...(['queued', 'scheduled', 'sending', 'sent', 'delivered'] as const),
  ...(['bounced', 'failed', 'cancelled', 'suppressed'] as const),
]

const isStatus = (given: string): given is EmailStatus => emailStatuses.some((one) => one === given)
const isType = (given: string): given is NonNullable<EmailFilter['type']> =>
  given === 'transactional' || given === 'marketing'

const id = (about: string) => textThat('a UUID', (given) => uuidForm.test(given), uuid(about))
/** A time in a query, as `parseTime` reads it. */
export const moment = (about: string) =>
  textThat(
    'a date and time in ISO 8601, e.g. 2026-11-21T12:00:00Z',
    (given) => parseTime(given) !== undefined,
    time(about),
  )

/** The list's filters, as clients and operators write them. */
export const filterFields = {
  status: maybe(
    textThat(
      `one or more of ${emailStatuses.join(', ')}, joined by commas`,
      (given) => given.split(',').every(isStatus),
      text(
        `Only mails with this status, or one of several joined by commas: ${emailStatuses.join(', ')}`,
        { examples: ['bounced,failed'] },
      ),
    ),
  ),
  to: maybe(addressField('Only mails with this address in `to`, `cc` or `bcc`')),
  from: maybe(addressField('Only mails from this address')),
  domain: maybe(
    textThat(
      'a domain',
      (given) => domainToASCII(given) !== '',
      text('Only mails from this sender domain'),
    ),
  ),
  type: maybe(
    textThat('transactional or marketing', isType, {
      type: 'string',
      enum: ['transactional', 'marketing'],
      description: 'Only mails of this type',
    }),
  ),
  topicId: maybe(id('Only marketing mails on this topic')),
  broadcastId: maybe(id('Only mails of this campaign')),
  template: maybe(
    filled('the slug of a template', text('Only mails made from the template with this slug')),
  ),
  tag: maybe(
    textThat(
      'a tag: name:value',
      (given) => tagOf(given) !== undefined,
      text('Only mails with this tag: `name:value`', { examples: ['kind:receipt'] }),
    ),
  ),
  messageId: maybe(
    textThat(
      'a Message-ID: <left@right>',
      (given) => messageIdOf(given) !== undefined,
      text('Only the mail with this Message-ID', {
        examples: ['<01a1fc92-9915-7533-8296-04ee3d91dd72@example.com>'],
      }),
    ),
  ),
  automationId: maybe(id('Only mails of this automation')),
  step: maybe(
    filled('the key of a step', text('Only mails of the step with this key; needs `automationId`')),
  ),
  test: maybe(
    textThat('true or false', (given) => given === 'true' || given === 'false', {
      type: 'string',
      enum: ['true', 'false'],
      description: 'Only mails of test keys, or with `false` none of them; default: both',
    }),
  ),
  createdAfter: maybe(moment('Only mails that were accepted at this time or later')),
  createdBefore: maybe(moment('Only mails that were accepted before this time')),
}

/** The filter that is meant; faulty filters were refused before. */
export function filterOf(given: FieldValues<typeof filterFields>): EmailFilter {
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
    type: type !== undefined && isType(type) ? type : undefined,
    topicId: given.topicId?.toLowerCase(),
    broadcastId: given.broadcastId?.toLowerCase(),
    template,
    tag: tag === undefined ? undefined : tagOf(tag),
    messageId: messageId === undefined ? undefined : messageIdOf(messageId),
    automationId: automationId?.toLowerCase(),
    step,
    test: given.test === undefined ? undefined : given.test === 'true',
    createdAfter: given.createdAfter === undefined ? undefined : parseTime(given.createdAfter),
    createdBefore: given.createdBefore === undefined ? undefined : parseTime(given.createdBefore),
  }
}

/** By the whole address; a search by parts would have to read every mail. */
function addressOf(given: string): string {
  const mailbox = parseMailbox(given)
  if (mailbox === undefined)
    throw new ApiError('validation_error', `"${given}" is not an email address`)
  return mailbox.address
}

/** With or without its angle brackets. */
function messageIdOf(given: string): string | undefined {
  const [, inner] = /^<?([^\s<>@]+@[^\s<>@]+)>?$/.exec(given.trim()) ?? []
  return inner === undefined ? undefined : `<${inner}>`
}

/** No name of a tag has a colon. */
function tagOf(given: string): MailTag | undefined {
  const [, name, value] = /^([A-Za-z0-9_-]+):(.+)$/s.exec(given) ?? []
  return name === undefined || value === undefined ? undefined : { name, value }
}
