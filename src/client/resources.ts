import { type Body, type Methods, pick, type Query } from './call.js'
import { type ImportSource, importContacts } from './import.js'
import type { CallOptions, Core } from './request.js'
import { type SendManyOptions, type Sent, sendMany } from './send-many.js'
import type { EventAccepted, NewEvents } from './types.js'

/** Campaigns. */
export const broadcastMethods = ({
  plain,
  byId,
  byIds,
  byIdWithBody,
  withBody,
  pages,
  pagesById,
}: Methods) => ({
  /** Counts the people whom it would reach. */
  preview: withBody('POST /v1/broadcasts/preview'),
  /** Sends one mail of it to a mailbox of your own. */
  test: withBody('POST /v1/broadcasts/test'),
  /** Sends it at once, at `scheduledAt`, or keeps it as a draft. */
  create: withBody('POST /v1/broadcasts'),
  list: pages('GET /v1/broadcasts', 'broadcasts'),
  get: byId('GET /v1/broadcasts/{id}'),
  /** Changes a draft; an empty `topicId`, `name` or `scheduledAt` removes it. */
  update: byIdWithBody('PATCH /v1/broadcasts/{id}'),
  recipients: pagesById('GET /v1/broadcasts/{id}/recipients', 'recipients'),
  /** What people and machines did with it, by time, link, provider and reason. */
  report: byId('GET /v1/broadcasts/{id}/report'),
  /** When it would be finished, and what would hold it up. */
  rehearse: byId('POST /v1/broadcasts/{id}/rehearse'),
  /** A draft like it, without its time. */
  duplicate: byId('POST /v1/broadcasts/{id}/duplicate'),
  /** Sends a draft. */
  send: byId('POST /v1/broadcasts/{id}/send'),
  /** Pauses a campaign that is scheduled or sending; mails under way at this moment still leave. */
  pause: byId('POST /v1/broadcasts/{id}/pause'),
  /** Resumes a paused campaign. */
  resume: byId('POST /v1/broadcasts/{id}/resume'),
  /** Cancels a draft or a scheduled campaign. */
  cancel: byId('POST /v1/broadcasts/{id}/cancel'),
  /** Cancels the mails that have not left, even of a campaign that is sending. */
  cancelRest: byId('POST /v1/broadcasts/{id}/cancel-rest'),
  /** Makes a campaign that has not begun a draft again. */
  takeBack: byId('POST /v1/broadcasts/{id}/take-back'),
  /** Chooses which of the tested versions the rest gets. */
  chooseVariant: byIds('POST /v1/broadcasts/{id}/variants/{key}/choose'),
  /** The marketing plan, and what is used of it. */
  usage: plain('GET /v1/broadcasts/plan/usage'),
})

export const contactMethods = (methods: Methods, core: Core) => {
  const { call, part, byId, byIds, byIdWithBody, withBody, pages, pagesById } = methods
  return {
    lists: {
      list: part('GET /v1/contacts/lists', 'lists'),
      create: (name: string, options?: CallOptions) =>
        call('POST /v1/contacts/lists', { body: { name } }, options),
      /** One list, and how it grows. */
      get: byId('GET /v1/contacts/lists/{id}'),
      rename: byIdWithBody('PATCH /v1/contacts/lists/{id}'),
      /** Deletes the list and its contacts, for good. */
      delete: byId('DELETE /v1/contacts/lists/{id}'),
    },
    /** Puts a contact on a list, given by its id. */
    add: byIdWithBody('POST /v1/contacts/{listId}'),
    /**
     * Contacts of all lists and of none: by the beginning of address, name or phone number, by list
     * and by state.
     */
    find: pages('GET /v1/contacts/all', 'contacts'),
    /** A contact with its lists, and why mail goes there or does not. */
    get: byId('GET /v1/contacts/all/{id}'),
    /** An empty name or phone number removes it; metadata is merged into the known fields. */
    update: byIdWithBody('PATCH /v1/contacts/all/{id}'),
    /** The fields of contacts: their names, their values, and which of them recipients may change. */
    fields: {
      list: part('GET /v1/contact-fields', 'fields'),
      create: withBody('POST /v1/contact-fields'),
      update: byIdWithBody('PATCH /v1/contact-fields/{id}'),
      /** Deletes the description; the contacts' values stay. */
      delete: byId('DELETE /v1/contact-fields/{id}'),
    },
    /** One action on all contacts that fit, as a task. */
    bulk: {
      start: withBody('POST /v1/contacts/bulk'),
      get: byId('GET /v1/contacts/bulk/{id}'),
      stop: byId('DELETE /v1/contacts/bulk/{id}'),
    },
    /** All that is known of an address: its mails a page at a time. */
    download: pagesById('GET /v1/contacts/downloads/{email}', 'mails'),
    /** Forgets an address for good, as a task. */
    erasures: {
      start: (address: string, options?: CallOptions) =>
        call('POST /v1/contacts/erasures', { body: { address } }, options),
      get: byId('GET /v1/contacts/erasures/{id}'),
    },
    /** Removes the contact from all lists, for good. */
    delete: byId('DELETE /v1/contacts/all/{id}'),
    /** Who is on a list. */
    list: pagesById('GET /v1/contacts/{listId}', 'contacts'),
    /** Takes a contact off a list. */
    remove: byIds('DELETE /v1/contacts/{listId}/{contactId}'),
    /**
     * A CSV file, streamed. It is never repeated by itself: the counted rows are in, and
     * `ImportInterrupted` says how many. The same file again skips these.
     */
    import: (
      listId: string,
      file: ImportSource,
      query?: Query<'POST /v1/contacts/{listId}/import'>,
      options?: CallOptions,
    ) => importContacts(core, listId, file, query, options),
  }
}

/** Templates, by their slugs. */
export const templateMethods = ({
  byId,
  byIds,
  withBody,
  byIdWithBody,
  pages,
  pagesById,
}: Methods) => ({
  list: pages('GET /v1/templates', 'templates'),
  create: withBody('POST /v1/templates'),
  get: byId('GET /v1/templates/{slug}'),
  /** Saves the next version. */
  update: byIdWithBody('PATCH /v1/templates/{slug}'),
  delete: byId('DELETE /v1/templates/{slug}'),
  render: byIdWithBody('POST /v1/templates/{slug}/render'),
  versions: pagesById('GET /v1/templates/{slug}/versions', 'versions'),
  getVersion: byIds('GET /v1/templates/{slug}/versions/{version}'),
  restore: byIds('POST /v1/templates/{slug}/versions/{version}/restore'),
})

export const automationMethods = (methods: Methods) => {
  const { call, byId, withBody, byIdWithBody, pages, pagesById } = methods
  return {
    /** Always disabled at first. */
    create: withBody('POST /v1/automations'),
    list: pages('GET /v1/automations', 'automations'),
    get: byId('GET /v1/automations/{id}'),
    update: byIdWithBody('PATCH /v1/automations/{id}'),
    /** Makes a disabled one with the same steps; `draft` copies its draft too. */
    duplicate: (
      id: string,
      { draft, ...options }: Body<'POST /v1/automations/{id}/duplicate'> & CallOptions = {},
    ) => {
      const body = draft === undefined ? {} : { draft }
      return call('POST /v1/automations/{id}/duplicate', { params: [id], body }, options)
    },
    /** The draft, or the version if there is no draft. */
    getDraft: byId('GET /v1/automations/{id}/draft'),
    /** Saves an incomplete draft too; the version stays in force. */
    updateDraft: byIdWithBody('PATCH /v1/automations/{id}/draft'),
    /** Puts the draft in force. */
    enableDraft: byIdWithBody('POST /v1/automations/{id}/draft/enable'),
    discardDraft: byId('DELETE /v1/automations/{id}/draft'),
    /** Lets its event start it. */
    enable: byId('POST /v1/automations/{id}/enable'),
    /** No event starts it; runs under way finish. */
    disable: byId('POST /v1/automations/{id}/disable'),
    /** For good; its runs are cancelled. */
    archive: byId('POST /v1/automations/{id}/archive'),
    /** No run takes a step until it is resumed. */
    pause: (
      id: string,
      body: Body<'POST /v1/automations/{id}/pause'> = {},
      options?: CallOptions,
    ) => call('POST /v1/automations/{id}/pause', { params: [id], body }, options),
    /** Says what happens to steps that fell due meanwhile: `shift`, `now` or `skip`. */
    resume: byIdWithBody('POST /v1/automations/{id}/resume'),
    /** Moves runs of older versions to the steps of another. */
    move: byIdWithBody('POST /v1/automations/{id}/move'),
    /** Starts it for a list or a segment, so many contacts an hour. */
    startFor: byIdWithBody('POST /v1/automations/{id}/start'),
    /** How far that is. */
    getStart: byId('GET /v1/automations/{id}/start'),
    stopStart: byId('DELETE /v1/automations/{id}/start'),
    /** How runs stand, step by step. */
    standing: byId('GET /v1/automations/{id}/standing'),
    /** Walks somebody through it; nothing is written or sent. */
    simulate: byIdWithBody('POST /v1/automations/{id}/simulate'),
    runs: pagesById('GET /v1/automations/{id}/runs', 'runs'),
    /** Starts it for one contact, whatever event starts it otherwise. */
    startRun: byIdWithBody('POST /v1/automations/{id}/runs'),
    getRun: byId('GET /v1/automations/runs/{id}'),
    cancelRun: byId('POST /v1/automations/runs/{id}/cancel'),
    /** Stops all runs that fit; the appliance does the work by itself. */
    cancelRuns: byIdWithBody('POST /v1/automations/{id}/cancel'),
    /** How far that is. */
    getRunsCancelled: byId('GET /v1/automations/{id}/cancel'),
    stopCancelling: byId('DELETE /v1/automations/{id}/cancel'),
  }
}

export const topicMethods = ({ call, byId, withBody, byIdWithBody }: Methods) => ({
  list: (query?: Query<'GET /v1/topics'>, options?: CallOptions) =>
    pick(call('GET /v1/topics', { query }, options), 'topics'),
  create: withBody('POST /v1/topics'),
  /** Changes it; `archived: false` restores it. */
  update: byIdWithBody('PATCH /v1/topics/{id}'),
  archive: byId('DELETE /v1/topics/{id}'),
  /** The latest 500 people who left it. */
  optOuts: byId('GET /v1/topics/{id}/opt-outs'),
})

/** Forms by which people ask for mail themselves. */
export const formMethods = ({ part, byId, withBody, byIdWithBody }: Methods) => ({
  list: part('GET /v1/forms', 'forms'),
  create: withBody('POST /v1/forms'),
  /** With its figures. */
  get: byId('GET /v1/forms/{id}'),
  /** Changes it; `archived` takes it out of use or restores it. */
  update: byIdWithBody('PATCH /v1/forms/{id}'),
  /** Lets a form that has stopped by itself go on. */
  resume: byId('POST /v1/forms/{id}/resume'),
  /** The work that it asks of a browser while its confirmations bounce. */
  work: byId('GET /v1/forms/{id}/work'),
  /** Submits what a visitor of a page of yours has typed. */
  submit: byIdWithBody('POST /v1/forms/{id}/submissions'),
})

/** Pictures for mails. */
export const pictureMethods = ({ pages, byId, withBody, byIdWithBody }: Methods) => ({
  list: pages('GET /v1/pictures', 'pictures'),
  /** `content` is the file in base64. */
  add: withBody('POST /v1/pictures'),
  get: byId('GET /v1/pictures/{id}'),
  update: byIdWithBody('PATCH /v1/pictures/{id}'),
  /** Mails that were sent with it no longer show it. */
  delete: byId('DELETE /v1/pictures/{id}'),
})

/** How the account looks to recipients. */
export const brandMethods = ({ plain, withBody }: Methods) => ({
  get: plain('GET /v1/brand'),
  update: withBody('PATCH /v1/brand'),
})

/** Saved rules about people. */
export const segmentMethods = ({ part, byId, byIdWithBody, withBody, pagesById }: Methods) => ({
  list: part('GET /v1/segments', 'segments'),
  create: withBody('POST /v1/segments'),
  /** How many people a rule would fit; estimated from a sample if there are many. */
  count: withBody('POST /v1/segments/count'),
  get: byId('GET /v1/segments/{id}'),
  update: byIdWithBody('PATCH /v1/segments/{id}'),
  /** Deletes the rule, and none of its contacts. */
  delete: byId('DELETE /v1/segments/{id}'),
  members: pagesById('GET /v1/segments/{id}/members', 'contacts'),
})

/** Who must not be mailed, by address. */
export const suppressionMethods = ({ call, byId, withBody, pages }: Methods) => ({
  list: pages('GET /v1/suppressions', 'suppressions'),
  add: withBody('POST /v1/suppressions'),
  import: withBody('POST /v1/suppressions/import'),
  /** Why an address is, or is not, mailed. */
  get: byId('GET /v1/suppressions/{email}'),
  remove: (
    email: string,
    query?: Query<'DELETE /v1/suppressions/{email}'>,
    options?: CallOptions,
  ) => call('DELETE /v1/suppressions/{email}', { params: [email], query }, options),
})

/** Sending domains. */
export const domainMethods = ({ part, byId, byIdWithQuery, withBody, byIdWithBody }: Methods) => ({
  list: part('GET /v1/domains', 'domains'),
  /** Answers with the DNS records to publish. */
  add: withBody('POST /v1/domains'),
  get: byId('GET /v1/domains/{id}'),
  update: byIdWithBody('PATCH /v1/domains/{id}'),
  delete: byId('DELETE /v1/domains/{id}'),
  /** Checks whether the records are published. */
  verify: byId('POST /v1/domains/{id}/verify'),
  /** Makes new DKIM keys beside those in use; `atOnce` replaces leaked ones at once. */
  rotate: byIdWithBody('POST /v1/domains/{id}/rotate'),
  /** What receivers report about mail in its name, by source. */
  dmarc: byIdWithQuery('GET /v1/domains/{id}/dmarc'),
})

/** Mail that is held because it is far more than usual, to people who never got any. */
export const surgeMethods = ({ part, byId }: Methods) => ({
  list: part('GET /v1/surges', 'surges'),
  get: byId('GET /v1/surges/{id}'),
  /** Lets the mail leave; refused for a key that handed it in. */
  release: byId('POST /v1/surges/{id}/release'),
  /** Fails the mail, which is then never sent. */
  fail: byId('POST /v1/surges/{id}/fail'),
})

/** Rules for mail that comes in; the first that fits decides. */
export const receivingMethods = ({
  plain,
  part,
  byId,
  withBody,
  byIdWithBody,
  withQuery,
}: Methods) => ({
  list: part('GET /v1/receiving/rules', 'rules'),
  add: withBody('POST /v1/receiving/rules'),
  get: byId('GET /v1/receiving/rules/{id}'),
  /** Changes it; `place` moves it. */
  update: byIdWithBody('PATCH /v1/receiving/rules/{id}'),
  delete: byId('DELETE /v1/receiving/rules/{id}'),
  /** Where mail to an address would go. */
  where: withQuery('GET /v1/receiving/where'),
  /** How much of the plan is used and left, and what was refused for it. */
  usage: plain('GET /v1/receiving/usage'),
})

/** Mail that came in. */
export const receivedMethods = ({ call, pages, byId }: Methods) => ({
  list: pages('GET /v1/received', 'received'),
  get: byId('GET /v1/received/{id}'),
  /** The file of that number, counted from 1, in base64. */
  file: (id: string, number: number, options?: CallOptions) =>
    call('GET /v1/received/{id}/attachments/{number}', { params: [id, `${number}`] }, options),
  /** The message as it was received, in base64. */
  source: byId('GET /v1/received/{id}/raw'),
  delete: byId('DELETE /v1/received/{id}'),
})

type EventOfBatch = NewEvents['events'][number]

/** What contacts did, for automations. */
export const eventMethods = ({ withBody, pages }: Methods) => {
  const batch = withBody('POST /v1/events/batch')
  return {
    send: withBody('POST /v1/events/send'),
    /** The names of events received, and which automations listen for them. */
    names: pages('GET /v1/events/names', 'names'),
    /** Up to 100 events, in their order, all or none. */
    batch: (events: readonly EventOfBatch[], options?: CallOptions) => batch({ events }, options),
    /** Any number of events; yields `{ index, value }` or `{ index, error }` for each. */
    sendMany(
      events: Iterable<EventOfBatch> | AsyncIterable<EventOfBatch>,
      options?: SendManyOptions,
    ): AsyncGenerator<Sent<EventAccepted>, void, undefined> {
      const send = async (items: EventOfBatch[], keyed: CallOptions) =>
        (await batch({ events: items }, keyed)).results
      // One at a time: events have an order.
      return sendMany({ source: events, send, weight: () => 1 }, { concurrency: 1, ...options })
    },
  }
}

/** What keys of the scope `test` have sent. */
export const inboxMethods = ({ call, plain, pages }: Methods) => ({
  list: pages('GET /v1/inbox', 'messages'),
  get: (id: string | number, options?: CallOptions) =>
    pick(call('GET /v1/inbox/{id}', { params: [`${id}`] }, options), 'message'),
  clear: plain('DELETE /v1/inbox'),
})

/** Figures over time. */
export const statsMethods = ({ withQuery }: Methods) => ({
  get: withQuery('GET /v1/stats'),
})

/** The endpoints of webhooks; `readWebhook` and the handlers read what arrives there. */
export const webhookMethods = ({
  part,
  byId,
  byIds,
  withBody,
  byIdWithBody,
  pagesById,
}: Methods) => ({
  list: part('GET /v1/webhooks', 'webhooks'),
  /** Shows the secret, this once. */
  create: withBody('POST /v1/webhooks'),
  get: byId('GET /v1/webhooks/{id}'),
  update: byIdWithBody('PATCH /v1/webhooks/{id}'),
  delete: byId('DELETE /v1/webhooks/{id}'),
  rotate: byIdWithBody('POST /v1/webhooks/{id}/rotate'),
  test: byId('POST /v1/webhooks/{id}/test'),
  deliveries: pagesById('GET /v1/webhooks/{id}/deliveries', 'deliveries'),
  replay: byIds('POST /v1/webhooks/{id}/deliveries/{deliveryId}/replay'),
  /** Replays the deliveries from one number to another, both included. */
  replayRange: byIdWithBody('POST /v1/webhooks/{id}/deliveries/replay'),
  replayFailed: byId('POST /v1/webhooks/{id}/replay'),
})

/** API keys. A new key is shown in the answer to `create`, and never again. */
export const keyMethods = ({ part, byId, withBody, byIdWithBody }: Methods) => ({
  list: part('GET /v1/keys', 'keys'),
  create: withBody('POST /v1/keys'),
  get: byId('GET /v1/keys/{id}'),
  update: byIdWithBody('PATCH /v1/keys/{id}'),
  delete: byId('DELETE /v1/keys/{id}'),
})
