import { type, unknown } from 'superstruct'
import type { Principal } from '../accounts/index.js'
import { ApiError } from '../errors/index.js'
import { type Api, check, listOf, ShapeError, Uuid } from '../http/index.js'
import { type AcceptedEmail, acceptEmail } from './accept.js'
import { acceptBatch, maxBatch } from './batch.js'
import { cancelScheduled } from './cancel.js'
import type { EmailDeps } from './deps.js'
import { foreignFields, refuseForeignFields } from './foreign-fields.js'
import { readEmail } from './read.js'
import { SendBody, type SendInput } from './send-body.js'
import { acceptUssd, UssdBody } from './ussd.js'

const maxBatchBytes = 32 * 1024 * 1024
const EmailId = { params: type({ id: Uuid }), notFound: 'No such email' }
const BatchBody = type({ emails: listOf(unknown(), maxBatch, 1) })

export function emailRoutes(api: Api<Principal>, deps: EmailDeps): void {
  api.post('/v1/emails/send', { body: SendBody }, async ({ account, body, remember }) => {
    refuseForeignFields(body)
    const accepted = await acceptEmail(deps, account.accountId, body, (tx, email) =>
      remember(tx, sendAnswer(email)),
    )
    return sendAnswer(accepted)
  })

  const batch = { body: BatchBody, maxBodyBytes: maxBatchBytes }
  api.post('/v1/emails/batch', batch, async ({ account, body, remember }) => {
    const items = body.emails.map(itemOf)
    const { ids } = await acceptBatch(deps, account.accountId, items, (tx, { ids }) =>
      remember(tx, batchAnswer(ids)),
    )
    return batchAnswer(ids)
  })

  api.post('/v1/emails/ussd', { body: UssdBody }, async ({ account, body, remember }) => {
    refuseForeignFields(body, ['replyTo', 'to', 'text'])
    const { id } = await acceptUssd(deps, account.accountId, body, (tx, { id }) =>
      remember(tx, ussdAnswer(id)),
    )
    return ussdAnswer(id)
  })

  api.get('/v1/emails/:id', EmailId, async ({ account, params }) => ({
    email: await readEmail(deps.store.read, account.accountId, params.id),
  }))

  api.delete('/v1/emails/:id/cancel', EmailId, async ({ account, params }) => {
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
function itemOf(item: unknown): SendInput | ApiError {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    return fault('Expected an object with the fields of a send')
  }
  const foreign = foreignFields(item)
  try {
    const valid = check(item, SendBody)
    return foreign === undefined ? valid : fault(foreign)
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    return fault([error.message, foreign].filter(Boolean).join('; '))
  }
}

const fault = (message: string) => new ApiError('validation_error', message)
