import type { Principal } from '../accounts/index.js'
import { checkOpen, type Plans, readBilling } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import { serve } from '../contract/index.js'
import { type Api, reply } from '../http/index.js'
import type { Store } from '../store/index.js'
import { contactFieldsAnswer, deletedContactField, shownContactField } from './answers.js'
import { createContactField, deleteContactField, updateContactField } from './contact-field.js'
import * as operations from './contract.js'

/**
 * `/v1/contact-fields`: how an account calls the fields of its contacts, and who may change them. Only making one needs
 * an open account.
 */
export function contactFieldRoutes(
  api: Api<Principal>,
  deps: { store: Store; clock: Clock; plans: Plans },
): void {
  serve(api, operations.listContactFields, ({ account }) =>
    contactFieldsAnswer(deps.store.read, account.accountId),
  )
  serve(api, operations.createContactField, async ({ account, body, remember }) => {
    checkOpen(await readBilling(deps.store.read, deps.plans, account.accountId))
    const field = await createContactField(deps, account.accountId, body, (tx, made) =>
      remember(tx, shownContactField(made), 201),
    )
    return reply(201, shownContactField(field))
  })
  serve(api, operations.updateContactField, async ({ account, params, body }) =>
    shownContactField(await updateContactField(deps, account.accountId, params.id, body)),
  )
  serve(api, operations.deleteContactField, async ({ account, params, note }) => {
    const { label } = await deleteContactField(deps, account.accountId, params.id)
    note({ detail: { name: label } })
    return deletedContactField
  })
}
