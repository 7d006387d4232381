import type { Principal } from '../accounts/index.js'
import { serve, usualPage } from '../contract/index.js'
import type { Api } from '../http/index.js'
import { refuseInexact } from '../json/index.js'
import { answerFor, contactAnswer, deletedContact, shownMember } from './answers.js'
import * as operations from './contract.js'
import type { ContactDeps } from './list.js'
import { changeContact } from './one.js'
import { toE164 } from './phone.js'
import { deleteContact } from './remove.js'
import { findContacts } from './search.js'

/** What these routes need. */
interface AllContactDeps extends ContactDeps {
  /** The country of phone numbers without an international prefix; ISO 3166, e.g. `NG`. */
  defaultCountry: string
}

/**
 * Contacts of all lists and of none: found, read, changed, deleted. An account that may add nothing may still do all of
 * this.
 */
export function allContactRoutes(api: Api<Principal>, deps: AllContactDeps): void {
  const { read } = deps.store
  const { defaultCountry } = deps

  serve(api, operations.findContacts, async ({ account, query }) => {
    const { limit = usualPage, cursor, list, segment, sort, ...search } = query
    const wanted = { ...search, listId: list, segmentId: segment, newest: sort === 'newest' }
    const options = { limit, cursor, defaultCountry }
    const found = await findContacts(read, account.accountId, wanted, options)
    const { members, nextCursor } = found
    return { contacts: members.map(shownMember), hasMore: nextCursor !== null, nextCursor }
  })

  serve(api, operations.getContact, ({ account, params }) =>
    contactAnswer(read, account.accountId, params.id),
  )

  serve(
    api,
    operations.updateContactIn(defaultCountry),
    async ({ account: { accountId }, params, body: { phone, ...body } }) => {
      refuseInexact('metadata', body.metadata)
      const number = phone && toE164(phone, defaultCountry)
      const update = { ...body, phone: number }
      const contact = await changeContact(deps, accountId, params.id, update)
      return await answerFor(read, accountId, contact)
    },
  )

  serve(api, operations.deleteContact, async ({ account, params, note }) => {
    const { id, email } = await deleteContact(deps, account.accountId, params.id)
    note({ target: id, detail: { email } })
    return deletedContact(id)
  })
}
