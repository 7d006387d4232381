import { ApiError } from '../../errors/index.js'
import type { Read, Tx } from '../../store/index.js'
import { suppress } from '../../suppression/index.js'
import { type ContactEffect, toContact, updateContact } from '../contact.js'
import { cleanName, mergedMetadata } from '../fields.js'
import type { ContactSearch } from '../filters.js'
import { type ContactDeps, requireList } from '../list.js'
import { deleteContactsIn, putOnListIn, someOf, takeOffListIn } from '../some.js'

/** What can be done with all matching contacts. */
export const bulkDeeds = ['add', 'remove', 'set', 'unsubscribe', 'delete'] as const

/** What is to be done, and with whom. */
export interface BulkOrder {
  do: (typeof bulkDeeds)[number]
  search: ContactSearch
  /** For `add` and `remove`: the list. */
  target?: string | undefined
  /** For `set`: merged over the known metadata, key by key. */
  metadata?: Record<string, unknown> | undefined
  /** For `set`, by pages: a first or last name; an empty one is removed. */
  names?: { firstName?: string; lastName?: string } | undefined
  /** For `unsubscribe`: who asked for it; for `add`: how they agreed. */
  note?: string | undefined
  /** For `add`: whether automations start for them. */
  trigger?: boolean | undefined
  /** For `add`: whether they are asked by mail first; undefined: as the list says. */
  confirm?: boolean | undefined
  /** For the consent record: `api`, `dashboard` or `command`. */
  by: string
}

/** Throws a 422 where the order lacks something, and a 404 for a missing list. */
export async function checkBulk(read: Read, accountId: string, order: BulkOrder): Promise<void> {
  const lacks = (field: string, message: string) =>
    new ApiError('validation_error', message, { status: 422, fields: { field } })
  if (order.do === 'add' || order.do === 'remove') {
    if (order.target === undefined) throw lacks('target', 'Choose the list')
    await requireList(read, accountId, order.target)
  }
  if (order.do === 'set' && Object.keys({ ...order.metadata, ...order.names }).length === 0) {
    throw lacks('metadata', 'Name the field that is set')
  }
  if (order.do === 'unsubscribe' && !order.note?.trim()) {
    throw lacks('note', 'Write who asked for it, and how')
  }
  if (order.search.listId !== undefined) await requireList(read, accountId, order.search.listId)
}

/** Carries out an order at once for contacts chosen one by one; resolves with how many it has changed. */
export async function changeSome(
  { store, clock }: ContactDeps,
  accountId: string,
  order: Omit<BulkOrder, 'search'>,
  ids: readonly string[],
): Promise<number> {
  const whole = { ...order, search: {} }
  await checkBulk(store.read, accountId, whole)
  return await store.write(
    (tx) => applyBulk(tx, accountId, whole, { ids, now: clock.now() }),
    accountId,
  )
}

/** Carries out an order for some contacts, within a write; resolves with how many it has changed. */
export async function applyBulk(
  tx: Tx,
  accountId: string,
  order: BulkOrder,
  { ids, now, follow }: { ids: readonly string[]; now: number; follow?: ContactEffect | undefined },
): Promise<number> {
  const { target = '', by, note } = order
  switch (order.do) {
    case 'add': {
      const options = { by, note, ...(order.trigger && { follow }) }
      return await putOnListIn(tx, accountId, { listId: target, ids, now }, options)
    }
    case 'remove':
      return await takeOffListIn(tx, accountId, target, ids, now)
    case 'delete':
      return await deleteContactsIn(tx, accountId, ids, now)
    case 'set':
      return await setFields(tx, accountId, order, { ids, now })
    case 'unsubscribe': {
      let changed = 0
      for (const { email } of await someOf(tx, accountId, ids)) {
        const record = { email, reason: 'unsubscribe', by, detail: note ?? null } as const
        if (await suppress(tx, accountId, record, now)) changed++
      }
      return changed
    }
  }
}

/** A contact whose fields would become too large stays unchanged. */
async function setFields(
  tx: Tx,
  accountId: string,
  { metadata = {}, names = {} }: Pick<BulkOrder, 'metadata' | 'names'>,
  { ids, now }: { ids: readonly string[]; now: number },
): Promise<number> {
  let changed = 0
  for (const contact of (await someOf(tx, accountId, ids)).map(toContact)) {
    const { firstName = contact.firstName ?? '', lastName = contact.lastName ?? '' } = names
    const isSame =
      cleanName(firstName) === contact.firstName &&
      cleanName(lastName) === contact.lastName &&
      Object.entries(metadata).every(
        ([key, value]) => JSON.stringify(contact.metadata[key]) === JSON.stringify(value),
      )
    if (isSame || mergedMetadata(contact.metadata, metadata) === undefined) continue
    await updateContact(tx, accountId, contact, { ...names, metadata }, now)
    changed++
  }
  return changed
}
