import { type Infer, optional, refine, type, unknown } from 'superstruct'
import { type Principal, refuseOtherDomain } from '../accounts/index.js'
import { keepNewest } from '../bounded/index.js'
import { findByPhone } from '../contacts/index.js'
import { ApiError } from '../errors/index.js'
import { check, listOf, QueryInteger, rule, ShapeError, Uuid } from '../fields/index.js'
import type { Api } from '../http/index.js'
import { isJsonObject } from '../json/index.js'
import { parseMailbox } from '../mime/index.js'
import { cursorOf, idInCursor } from '../store/index.js'
import { type AcceptedEmail, type Alongside, acceptBatch, acceptEmail, maxBatch } from './accept.js'
import { maxSendBytes } from './attachments.js'
import { cancelScheduled } from './change.js'
import type { EmailDeps } from './deps.js'
import { foreignFields, refuseForeignFields } from './foreign-fields.js'
import { listEmails } from './list.js'
import { FilterFields, filterOf } from './list-query.js'
import { readEmail } from './read.js'
import {
  Attachments,
  Content,
  filled,
  Metadata,
  Recipient,
  ReplyTo,
  SendBody,
  Sender,
  type SendInput,
  Subject,
} from './send-body.js'

const maxTold = 1_000
const maxBatchBytes = 32 * 1024 * 1024
const EmailId = { params: type({ id: Uuid }), notFound: 'The account has no email with this id' }
const maxPage = 500
const usualPage = 100
/** The cursor is judged with its list. */
const EmailsQuery = type({
  limit: optional(QueryInteger(1, maxPage)),
  cursor: optional(
    rule<string>('the nextCursor of an earlier answer', (value) => typeof value === 'string'),
  ),
  ...FilterFields,
})
/**
 * Items are judged one by one later, because interface.md wants every wrong one named with its
 * index.
 */
const BatchBody = type({
  emails: listOf(unknown(), maxBatch, 1),
  attachments: optional(Attachments),
})

/**
 * Refusals of the request come before anything is looked up; the answer is remembered in the
 * transaction of the mail.
 */
export function emailRoutes(api: Api<Principal>, deps: EmailDeps): void {
  const { maxBytes } = deps.attachments
  const send = { body: SendBody, maxBodyBytes: maxSendBytes(maxBytes) }
  api.post('/v1/emails/send', send, async ({ account, body, remember }) => {
    refuseForeignFields(body)
    refuseOtherSender(account, body.from)
    const accepted = await acceptEmail(deps, account.accountId, body, (tx, email) =>
      remember(tx, sendAnswer(email)),
    )
    return sendAnswer(accepted)
  })

  const batch = { body: BatchBody, maxBodyBytes: Math.max(maxBatchBytes, maxSendBytes(maxBytes)) }
  api.post('/v1/emails/batch', batch, async ({ account, body, remember, letGo }) => {
    refuseForeignFields(body, ['attachments'])
    // Emptied as well: what is read is let go of as soon as the mails are drafted.
    const items = body.emails.splice(0).map((item) => itemOf(item, account))
    const input = { items, attachments: body.attachments, letGo }
    const { ids } = await acceptBatch(deps, account.accountId, input, (tx, { ids }) =>
      remember(tx, batchAnswer(ids)),
    )
    return batchAnswer(ids)
  })

  api.post('/v1/emails/ussd', { body: UssdBody }, async ({ account, body, remember }) => {
    refuseForeignFields(body, ['replyTo', 'to', 'text'])
    refuseOtherSender(account, body.from)
    const { id } = await acceptUssd(deps, account.accountId, body, (tx, { id }) =>
      remember(tx, ussdAnswer(id)),
    )
    return ussdAnswer(id)
  })

  // Clients ask again and again; the operator is told of a damaged mail once.
  const told = new Map<string, true>()
  const tellDamage = (emailId: string) => (columns: string[]) => {
    if (told.has(emailId)) return
    keepNewest(told, emailId, true, maxTold)
    deps.log.error({ emailId, columns }, 'A stored mail is damaged; the rest of it is answered')
  }

  /** The account's mail; for a key that is limited to domains only their mails exist. */
  const readOwn = async (account: Principal, id: string) => {
    const email = await readEmail(deps.store.read, account.accountId, id, tellDamage(id))
    if (!mayUse(account, email.from))
      throw new ApiError('not_found', 'The account has no email with this id')
    return email
  }

  api.get(
    '/v1/emails',
    { query: EmailsQuery },
    async ({ account: { accountId }, query: { limit = usualPage, cursor, ...given } }) => {
      const filter = filterOf(given)
      // A page of one filter is no page of another.
      const scope = `emails ${accountId} ${JSON.stringify(filter)}`
      const before = cursor === undefined ? undefined : idInCursor(cursor, scope)
      const { emails, next } = await listEmails(deps.store.read, accountId, filter, {
        limit,
        before,
      })
      const nextCursor = next === undefined ? null : cursorOf(next, scope)
      return { emails, hasMore: next !== undefined, nextCursor }
    },
  )

  api.get('/v1/emails/:id', EmailId, async ({ account, params }) => ({
    email: await readOwn(account, params.id),
  }))

  api.delete('/v1/emails/:id/cancel', EmailId, async ({ account, params }) => {
    if (account.domains !== null) await readOwn(account, params.id)
    await cancelScheduled(deps, account.accountId, params.id)
    return { message: 'Scheduled email cancelled' }
  })
}

const batchAnswer = (ids: string[]) => ({ queued: ids.length, ids })

const ussdAnswer = (ref: string) => ({ queued: true, ref })

function sendAnswer({ id, scheduledAt }: AcceptedEmail) {
  if (scheduledAt === undefined) return { id, message: 'Email queued' }
  return { id, status: 'scheduled', scheduledAt, message: 'Email scheduled' }
}

/** An item of a batch that has the shape of a send, or one sentence about each field that is wrong. */
function itemOf(item: unknown, account: Principal): SendInput | ApiError {
  if (!isJsonObject(item)) {
    return fault('Expected an object with the fields of a send')
  }
  const foreign = foreignFields(item)
  try {
    const valid = check(item, SendBody)
    if (foreign !== undefined) return fault(foreign)
    refuseOtherSender(account, valid.from)
    return valid
  } catch (error) {
    if (error instanceof ApiError) return error
    if (!(error instanceof ShapeError)) throw error
    return fault([error.message, foreign].filter(Boolean).join('; '))
  }
}

/** Throws a 403 for a sender that the key may not use; what is no sender at all is refused later. */
function refuseOtherSender(account: Principal, from: string): void {
  if (account.domains === null) return
  const domain = parseMailbox(from)?.domain
  if (domain !== undefined) refuseOtherDomain(account, domain)
}

const mayUse = ({ domains }: Principal, from: string) =>
  domains === null || domains.includes(parseMailbox(from)?.domain ?? '')

const fault = (message: string) => new ApiError('validation_error', message)

const Fields = type({
  from: Sender,
  phoneNumber: optional(filled('a string: a phone number')),
  to: optional(Recipient),
  subject: Subject,
  html: Content(1),
  text: optional(Content(0)),
  replyTo: optional(ReplyTo),
  metadata: optional(Metadata),
})

/** A mail that a USSD callback asks for: to an address, or to the contact with a phone number. */
const UssdBody = refine(Fields, 'required', (body) => {
  if (body.to !== undefined || body.phoneNumber !== undefined) return true
  const message = 'Expected an address, because phoneNumber is absent'
  return { path: ['to'], key: 'to', value: undefined, type: Recipient.type, message }
})

/** Takes the mail in as any other transactional one. */
async function acceptUssd(
  deps: EmailDeps,
  accountId: string,
  { phoneNumber, to, ...mail }: Infer<typeof Fields>,
  alongside?: Alongside<AcceptedEmail>,
): Promise<AcceptedEmail> {
  const recipient =
    to ??
    (await findByPhone(deps.store.read, accountId, phoneNumber ?? '', deps.defaultCountry)).email
  const { from, subject, html, text, replyTo, metadata } = mail
  const input = { from, to: recipient, subject, html, text, replyTo, metadata }
  return await acceptEmail(deps, accountId, input, alongside)
}
