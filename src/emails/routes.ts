import { type Principal, refuseOtherDomain } from '../accounts/index.js'
import { keepNewest } from '../bounded/index.js'
import { findByPhone } from '../contacts/index.js'
import { type BodyOf, serve, usualPage } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import { check, ShapeError, structOf } from '../fields/index.js'
import type { Api } from '../http/index.js'
import { isJsonObject } from '../json/index.js'
import { parseMailbox } from '../mime/index.js'
import { isTestId } from '../store/index.js'
import { type AcceptedEmail, type Alongside, acceptBatch, acceptEmail } from './accept.js'
import { maxSendBytes } from './attachments.js'
import { cancelScheduled } from './change.js'
import * as operations from './contract.js'
import type { EmailDeps } from './deps.js'
import { foreignFields, ownFields, refuseForeignFields } from './foreign-fields.js'
import { handingKey } from './handing-key.js'
import { emailsAnswer } from './list.js'
import { readEmail } from './read.js'
import { batchBody, type SendInput, sendBody, ussdBody } from './send-body.js'

const ofSend = ownFields(sendBody)
const ofBatch = ownFields(batchBody)
const ofUssd = ownFields(ussdBody)

const maxTold = 1_000
const maxBatchBytes = 32 * 1024 * 1024

/**
 * Refusals of the request come before anything is looked up; the answer is remembered in the
 * transaction of the mail.
 */
export function emailRoutes(api: Api<Principal>, deps: EmailDeps): void {
  const maxBodyBytes = maxSendBytes(deps.attachments.maxBytes)
  serve(
    api,
    operations.sendEmail,
    async ({ account, body, remember }) => {
      refuseForeignFields(body, ofSend)
      refuseOtherSender(account, body.from)
      const accepted = await acceptEmail(
        deps,
        account.accountId,
        body,
        (tx, email) => remember(tx, sendAnswer(email)),
        { by: handingKey(deps, account), ...howOf(account) },
      )
      return sendAnswer(accepted)
    },
    { maxBodyBytes },
  )

  serve(
    api,
    operations.sendBatch,
    async ({ account, body, remember, letGo }) => {
      refuseForeignFields(body, ofBatch)
      // The body is emptied too, so that its items are freed as soon as the mails are drafted.
      const items = body.emails.splice(0).map((item) => itemOf(item, account))
      const by = handingKey(deps, account)
      const input = { items, attachments: body.attachments, by, letGo, ...howOf(account) }
      const { ids } = await acceptBatch(deps, account.accountId, input, (tx, { ids }) =>
        remember(tx, batchAnswer(ids)),
      )
      return batchAnswer(ids)
    },
    { maxBodyBytes: Math.max(maxBatchBytes, maxBodyBytes) },
  )

  serve(api, operations.sendFromUssd, async ({ account, body, remember }) => {
    refuseForeignFields(body, ofUssd)
    refuseOtherSender(account, body.from)
    const { id } = await acceptUssd(deps, account, body, (tx, { id }) =>
      remember(tx, ussdAnswer(id)),
    )
    return ussdAnswer(id)
  })

  // Clients ask repeatedly, but the operator is told of a damaged mail once.
  const told = new Map<string, true>()
  const tellDamage = (emailId: string) => (columns: string[]) => {
    if (told.has(emailId)) return
    keepNewest(told, emailId, true, maxTold)
    deps.log.error({ emailId, columns }, 'A stored mail is damaged; the rest of it is answered')
  }

  /**
   * The account's mail. For a key that is limited to domains only their mails exist; for a test key, only test mails.
   */
  const readOwn = async (account: Principal, id: string) => {
    if (account.isTest && !isTestId(id)) throw noSuchEmail()
    const email = await readEmail(deps.store.read, account.accountId, id, tellDamage(id))
    if (!mayUse(account, email.from)) throw noSuchEmail()
    return email
  }

  serve(api, operations.listEmails, ({ account, query }) =>
    emailsAnswer(
      deps.store.read,
      account.accountId,
      { ...query, limit: query.limit ?? usualPage },
      { domains: account.domains, ...(account.isTest && { test: true }) },
    ),
  )

  serve(api, operations.getEmail, async ({ account, params }) => ({
    email: await readOwn(account, params.id),
  }))

  serve(api, operations.cancelEmail, async ({ account, params }) => {
    if (account.domains !== null || account.isTest) await readOwn(account, params.id)
    await cancelScheduled(deps, account.accountId, params.id)
    return { message: 'Scheduled email cancelled' }
  })
}

const noSuchEmail = () => new ApiError('not_found', 'The account has no email with this id')

/** How the mail of a key is taken in. */
const howOf = ({ isTest }: Principal) => ({ isTest })

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
  const foreign = foreignFields(item, ofSend)
  try {
    const valid = check(item, structOf(sendBody))
    if (foreign !== undefined) return fault(foreign)
    refuseOtherSender(account, valid.from)
    return valid
  } catch (error) {
    if (error instanceof ApiError) return error
    if (!(error instanceof ShapeError)) throw error
    return fault([error.message, foreign].filter(Boolean).join('; '))
  }
}

/** Throws a 403 for a sender that the key may not use; text that is no sender is refused later. */
function refuseOtherSender(account: Principal, from: string): void {
  if (account.domains === null) return
  const domain = parseMailbox(from)?.domain
  if (domain !== undefined) refuseOtherDomain(account, domain)
}

const mayUse = ({ domains }: Principal, from: string) =>
  domains === null || domains.includes(parseMailbox(from)?.domain ?? '')

const fault = (message: string) => new ApiError('validation_error', message)

/** Takes the mail in as any other transactional one. */
async function acceptUssd(
  deps: EmailDeps,
  account: Principal,
  { phoneNumber, to, ...mail }: BodyOf<typeof operations.sendFromUssd>,
  alongside?: Alongside<AcceptedEmail>,
): Promise<AcceptedEmail> {
  const { accountId } = account
  const recipient =
    to ??
    (await findByPhone(deps.store.read, accountId, phoneNumber ?? '', deps.defaultCountry)).email
  const { from, subject, html, text, replyTo, metadata } = mail
  const input = { from, to: recipient, subject, html, text, replyTo, metadata }
  const by = handingKey(deps, account)
  return await acceptEmail(deps, accountId, input, alongside, { by, ...howOf(account) })
}
