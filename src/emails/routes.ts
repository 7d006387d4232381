import { type, unknown } from 'superstruct'
import type { Principal } from '../accounts/index.js'
import { type Api, check, listOf, reply, Uuid } from '../http/index.js'
import { type AcceptedEmail, acceptEmail } from './accept.js'
import { acceptBatch, maxBatch } from './batch.js'
import { cancelScheduled } from './cancel.js'
import type { EmailDeps } from './deps.js'
import { type Idempotency, idempotentRequest, type Once, replayHeaders } from './idempotency.js'
import { readEmail } from './read.js'
import { SendBody } from './send-body.js'
import { acceptUssd, UssdBody } from './ussd.js'

const maxBatchBytes = 32 * 1024 * 1024
const EmailId = { params: type({ id: Uuid }), notFound: 'No such email' }
// What a body must have is looked at after its key: a key that was used with another body is told so.
const AnyObject = type({})
const BatchBody = type({ emails: listOf(unknown(), maxBatch, 1) })

export function emailRoutes(
  api: Api<Principal>,
  deps: EmailDeps & { idempotency: Idempotency },
): void {
  api.post('/v1/emails/send', { body: AnyObject }, async (request) => {
    const { accountId } = request.account
    return replayable(
      await deps.idempotency.once(
        idempotentRequest(request, '/v1/emails/send'),
        async (remember) => {
          const accepted = await acceptEmail(
            deps,
            accountId,
            check(request.body, SendBody),
            (tx, email) => remember(tx, sendAnswer(email)),
          )
          return sendAnswer(accepted)
        },
      ),
    )
  })

  const batch = { body: AnyObject, maxBodyBytes: maxBatchBytes }
  api.post('/v1/emails/batch', batch, async (request) => {
    const { accountId } = request.account
    return replayable(
      await deps.idempotency.once(
        idempotentRequest(request, '/v1/emails/batch'),
        async (remember) => {
          const { emails } = check(request.body, BatchBody)
          const accepted = await acceptBatch(deps, accountId, emails, (tx, { ids }) =>
            remember(tx, batchAnswer(ids)),
          )
          return batchAnswer(accepted.ids)
        },
      ),
    )
  })

  api.post('/v1/emails/ussd', { body: UssdBody }, async ({ account, body }) => ({
    queued: true,
    ref: await acceptUssd(deps, account.accountId, body),
  }))

  api.get('/v1/emails/:id', EmailId, async ({ account, params }) => ({
    email: await readEmail(deps.store.read, account.accountId, params.id),
  }))

  api.delete('/v1/emails/:id/cancel', EmailId, async ({ account, params }) => {
    await cancelScheduled(deps, account.accountId, params.id)
    return { message: 'Scheduled email cancelled' }
  })
}

const batchAnswer = (ids: string[]) => ({ queued: ids.length, ids })

function sendAnswer({ id, scheduledAt }: AcceptedEmail) {
  if (scheduledAt === undefined) return { id, message: 'Email queued' }
  return { id, status: 'scheduled', scheduledAt, message: 'Email scheduled' }
}

function replayable(once: Once<unknown>) {
  return reply(200, once.response, replayHeaders(once))
}
