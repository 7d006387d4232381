import type { Principal } from '../accounts/index.js'
import {
  checkAdding,
  checkOpen,
  contactCeiling,
  type Plans,
  readBilling,
} from '../billing/index.js'
import { serve, usualPage } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import { type Api, reply } from '../http/index.js'
import { refuseInexact } from '../json/index.js'
import type { Read } from '../store/index.js'
import { deletedList, listAnswer, shownList, shownMember } from './answers.js'
import { type AskedId, type AskFirst, standingOn, wantConfirmation } from './ask-first.js'
import type { BulkTasks } from './bulk-task/tasks.js'
import { addContact, type Contact, type ContactEffect } from './contact.js'
import * as operations from './contract.js'
import type { Importer } from './importer.js'
import { type ContactDeps, changeList, createList, listLists, requireList } from './list.js'
import { listMembers } from './members.js'
import { toE164 } from './phone.js'
import { deleteList, removeFromList } from './remove.js'
import { allContactRoutes } from './routes-all.js'
import { bulkRoutes } from './routes-bulk.js'

/** What the routes need, and whom they notify. */
export interface ContactRouteDeps extends ContactDeps {
  plans: Plans
  importer: Importer
  bulk: BulkTasks
  /** The country of phone numbers without an international prefix; ISO 3166, e.g. `NG`. */
  defaultCountry: string
  askFirst: AskFirst
  /** What happens when a request adds somebody. */
  follow?: ContactEffect
  /** Throws a 503 when there is no room for an import's consequences. */
  checkRoom?: () => Promise<void>
  /** Called once that is on disk. */
  followed?: () => void
}

/** Contacts and their lists by the API, with imports and exports. */
export function contactRoutes(api: Api<Principal>, deps: ContactRouteDeps): void {
  const { read } = deps.store
  allContactRoutes(api, deps)
  bulkRoutes(api, deps)
  const billingOf = (accountId: string) => readBilling(read, deps.plans, accountId)

  serve(api, operations.listContactLists, async ({ account }) => ({
    lists: (await listLists(read, account.accountId)).map(shownList),
  }))

  serve(api, operations.createContactList, async ({ account, body, remember }) => {
    checkOpen(await billingOf(account.accountId))
    const { id, name } = await createList(deps, account.accountId, body, (tx, { id, name }) =>
      remember(tx, { id, name }, 201),
    )
    return reply(201, { id, name })
  })

  serve(api, operations.getContactList, ({ account, params: { id } }) =>
    listAnswer(read, account.accountId, id, deps.clock.now()),
  )

  serve(api, operations.renameContactList, async (request) => {
    const { account, params, body } = request
    return shownList(await changeList(deps, account.accountId, params.id, body))
  })

  serve(api, operations.deleteContactList, async ({ account, params: { id }, note }) => {
    const { name, contactCount } = await deleteList(deps, account.accountId, id)
    note({ detail: { name, contactCount } })
    return deletedList(id)
  })

  serve(
    api,
    operations.listContacts,
    async ({ account, params: { listId }, query: { limit = usualPage, ...more } }) => {
      const options = { limit, ...more }
      const { members, nextCursor } = await listMembers(read, account.accountId, listId, options)
      return { contacts: members.map(shownMember), hasMore: nextCursor !== null, nextCursor }
    },
  )

  addRoute(api, deps)

  serve(
    api,
    operations.importContacts,
    async ({ account: { accountId }, params: { listId }, query, upload }) => {
      const billing = await billingOf(accountId)
      checkAdding(billing)
      await requireList(read, accountId, listId)
      const { bytes, contentType, filename = '' } = await upload()
      requireCsvType(contentType)
      const ceiling = contactCeiling(deps.plans, billing)
      const { defaultCountry } = deps
      const file = filename.toWellFormed().slice(0, maxFileName)
      const { trigger = false } = query
      const options = { listId, ceiling, file, defaultCountry, trigger }
      const { checkRoom } = deps
      const pieces = trigger && checkRoom ? whileRoom(bytes, checkRoom) : bytes
      return await deps.importer.run(accountId, pieces, options)
    },
  )

  serve(api, operations.removeContact, async ({ account, params, note }) => {
    const { listId, contactId } = params
    note({ detail: await removeFromList(deps, account.accountId, listId, contactId) })
    return { id: contactId, deleted: true, message: 'Contact removed from the list' }
  })
}

/** Puts somebody on a list, or asks them first. */
function addRoute(api: Api<Principal>, deps: ContactRouteDeps): void {
  const { read } = deps.store
  serve(
    api,
    operations.addContactTo(deps.defaultCountry),
    async ({ account: { accountId }, params: { listId }, body, remember }) => {
      const billing = await readBilling(read, deps.plans, accountId)
      checkOpen(billing)
      const ceiling = contactCeiling(deps.plans, billing)
      const checkNew = () => checkAdding(billing)
      const { email, firstName, lastName, phone, metadata, agreed } = body
      refuseUnsubscribed(body)
      refuseInexact('metadata', metadata)
      const number = phone === undefined ? undefined : toE164(phone, deps.defaultCountry)
      const given = { email, firstName, lastName, phone: number, metadata }
      if (await isAskedFirst(read, accountId, { listId, email, confirm: body.confirm })) {
        checkNew()
        const note = agreed === undefined ? 'Added by the API' : `Added by the API: ${agreed}`
        const asked = { given, listIds: [listId], note, starts: true }
        const sent = (to: AskedId) => ({ ...to, confirmation: 'sent' })
        const to = await deps.askFirst(accountId, asked, (tx, to) => remember(tx, sent(to), 202))
        return reply(202, sent(to))
      }
      const { contact, joined } = await addContact(deps, accountId, given, {
        listId,
        note: agreed,
        ceiling,
        checkNew,
        follow: deps.follow,
        alongside: (tx, { contact, joined }) => remember(tx, added(contact), statusOf(joined)),
      })
      deps.followed?.()
      return reply(statusOf(joined), added(contact))
    },
  )
}

/** Unknown fields are ignored, except these: ignoring them would send mail to somebody who has left. */
function refuseUnsubscribed(body: object): void {
  const { unsubscribed, subscribed } = body as Record<string, unknown>
  const name =
    unsubscribed === true ? 'unsubscribed' : subscribed === false ? 'subscribed' : undefined
  if (name === undefined) return
  throw new ApiError('validation_error', operations.leftElsewhere(name), {
    status: 422,
    fields: { field: name },
  })
}

/**
 * A request with `confirm` asks everybody who has not confirmed; the list's own setting asks only people who are not on
 * it.
 */
async function isAskedFirst(
  read: Read,
  accountId: string,
  { listId, email, confirm }: { listId: string; email: string; confirm: boolean | undefined },
): Promise<boolean> {
  const isWanted = await wantConfirmation(read, accountId, [listId])
  if (!(confirm ?? isWanted)) return false
  const standing = await standingOn(read, accountId, email, [listId])
  return confirm === undefined ? standing === 'off' : standing !== 'confirmed'
}

/** A long file may start more runs than there is room for: then it is cut off, and what was read is in. */
async function* whileRoom(file: AsyncIterable<Uint8Array>, checkRoom: () => Promise<void>) {
  for await (const piece of file) {
    await checkRoom()
    yield piece
  }
}

/** The answer to an addition. */
const added = ({ id, email }: Contact) => ({ id, email })
/** 201 for somebody who was not on the list before, else 200. */
const statusOf = (joined: boolean) => (joined ? 201 : 200)

// How many characters of a file's name the consent record keeps.
const maxFileName = 255

// The types that browsers and tools give a CSV file; they depend on what is installed there.
const csvTypes =
  /^(text\/(csv|plain|tab-separated-values|comma-separated-values|x-csv)|application\/(csv|x-csv|octet-stream|vnd\.ms-excel))$/

/** Throws a 415 for a file that is declared as another type than CSV. */
function requireCsvType(contentType: string): void {
  if (csvTypes.test(contentType.split(';')[0]?.trim().toLowerCase() ?? '')) return
  throw new ApiError('unsupported_media_type', 'The file is not CSV; send it as text/csv')
}
