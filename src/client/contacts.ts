import type { Methods, Query } from './call.js'
import { type ImportSource, importContacts } from './import.js'
import type { CallOptions, Core } from './request.js'

export const contactMethods = (methods: Methods, core: Core) => {
  const { call, part, byId, byIds, byIdWithBody, pagesById } = methods
  return {
    lists: {
      list: part('GET /v1/contacts/lists', 'lists'),
      create: (name: string, options?: CallOptions) =>
        call('POST /v1/contacts/lists', { body: { name } }, options),
      rename: byIdWithBody('PATCH /v1/contacts/lists/{id}'),
      /** The list and its contacts, for good. */
      delete: byId('DELETE /v1/contacts/lists/{id}'),
    },
    /** Puts a contact on a list, given by its id. */
    add: byIdWithBody('POST /v1/contacts/{listId}'),
    /** Who is on a list. */
    list: pagesById('GET /v1/contacts/{listId}', 'contacts'),
    /** Takes a contact off a list. */
    remove: byIds('DELETE /v1/contacts/{listId}/{contactId}'),
    /**
     * A CSV file, streamed. It is never tried again by itself: what is counted is in, and
     * `ImportInterrupted` says how many that are. The same file again skips those.
     */
    import: (
      listId: string,
      file: ImportSource,
      query?: Query<'POST /v1/contacts/{listId}/import'>,
      options?: CallOptions,
    ) => importContacts(core, listId, file, query, options),
  }
}
