import { type } from 'superstruct'
import type { Principal } from '../accounts/index.js'
import { type Api, Uuid } from '../http/index.js'
import { acceptEmail } from './accept.js'
import type { EmailDeps } from './deps.js'
import { readEmail } from './read.js'
import { SendBody } from './send-body.js'

export function emailRoutes(api: Api<Principal>, deps: EmailDeps): void {
  api.post('/v1/emails/send', { body: SendBody }, async ({ account, body }) => {
    const { id } = await acceptEmail(deps, account.accountId, body)
    return { id, message: 'Email queued' }
  })

  api.get('/v1/emails/:id', { params: type({ id: Uuid }) }, async ({ account, params }) => ({
    email: await readEmail(deps.store.read, account.accountId, params.id),
  }))
}
