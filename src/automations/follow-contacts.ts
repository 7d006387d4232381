import type { Contact, ContactEffect } from '../contacts/index.js'
import { newUuid } from '../store/index.js'
import type { JsonObject } from './definition.js'
import { ingestEvents, type NewEvent } from './ingest.js'
import { readListeners } from './listeners.js'
import type { LiveLimit } from './live-limit.js'
import type { Traveller } from './run.js'
import type { Versions } from './versions.js'

const names = ['$contact.created', '$list.joined']

/**
 * An effect of contacts: automations that begin with `$contact.created` or `$list.joined` are started, and
 * runs that wait for these hear them, in the transaction that adds somebody. Others cost two searches of
 * an index.
 */
export function makeFollowContacts(
  versions: Versions,
  clock: { now(): number },
  isFull: LiveLimit,
): ContactEffect {
  return async (tx, accountId, news) => {
    const contactIds = news.map(({ contact }) => contact.id)
    const isHeard = await readListeners(tx, versions, accountId, { contactIds, names })
    const events = news.flatMap(({ contact, added, listId }): NewEvent[] => {
      const payload: JsonObject = listId === undefined ? {} : { listId }
      const happened = [
        ...(added ? ['$contact.created'] : []),
        ...(listId === undefined ? [] : ['$list.joined']),
      ]
      return happened
        .filter((name) => isHeard(contact.id, name))
        .map((name) => ({
          ...{ contact: travellerOf(contact), name, payload: JSON.stringify(payload), depth: 1 },
        }))
    })
    if (events.length === 0) return
    const now = clock.now()
    const ids = { uuid: () => newUuid(now) }
    const full = await isFull(tx, now)
    await ingestEvents(tx, { ids, versions }, { accountId, now, full }, events)
  }
}

function travellerOf({ metadata, ...contact }: Contact): Traveller {
  const { id, email, firstName, lastName, phone, createdAt } = contact
  return {
    ...{ id, email, firstName, lastName, phone, createdAt },
    metadata: metadata as JsonObject,
  }
}
