import type { Answer, Operations, Posthorn } from '../../src/client/index.js'

/** What a method is given in tests: the ids in its path, and an example of the document as its body. */
export interface Given<N extends keyof Operations> {
  ids: string[]
  body: Operations[N]['body']
}

/**
 * Each operation of the document, by the one method that asks for it: whoever adds an operation adds a
 * line here, or this does not compile. `field` names the part of the answer that a method gives alone.
 */
type Methods = {
  [N in keyof Operations]: {
    ask(posthorn: Posthorn, given: Given<N>): PromiseLike<unknown>
    field?: keyof Answer<N>
  }
}

const first = (ids: readonly string[]) => ids[0] ?? ''
const second = (ids: readonly string[]) => ids[1] ?? ''

export const methods: Methods = {
  'POST /v1/emails/send': { ask: ({ emails }, { body }) => emails.send(body as never) },
  'POST /v1/emails/batch': { ask: ({ emails }, { body }) => emails.batch(body.emails as never) },
  'POST /v1/emails/ussd': { ask: ({ emails }, { body }) => emails.ussd(body) },
  'GET /v1/emails': { ask: ({ emails }) => emails.list() },
  'GET /v1/emails/{id}': { ask: ({ emails }, { ids }) => emails.get(first(ids)), field: 'email' },
  'DELETE /v1/emails/{id}/cancel': { ask: ({ emails }, { ids }) => emails.cancel(first(ids)) },

  'GET /v1/contacts/lists': { ask: ({ contacts }) => contacts.lists.list(), field: 'lists' },
  'POST /v1/contacts/lists': {
    ask: ({ contacts }, { body }) => contacts.lists.create(body.name),
  },
  'GET /v1/contacts/lists/{id}': {
    ask: ({ contacts }, { ids }) => contacts.lists.get(first(ids)),
  },
  'DELETE /v1/contacts/lists/{id}': {
    ask: ({ contacts }, { ids }) => contacts.lists.delete(first(ids)),
  },
  'GET /v1/contacts/all': { ask: ({ contacts }) => contacts.find() },
  'GET /v1/contacts/all/{id}': { ask: ({ contacts }, { ids }) => contacts.get(first(ids)) },
  'PATCH /v1/contacts/all/{id}': {
    ask: ({ contacts }, { ids, body }) => contacts.update(first(ids), body),
  },
  'POST /v1/contacts/bulk': { ask: ({ contacts }, { body }) => contacts.bulk.start(body) },
  'GET /v1/contacts/bulk/{id}': { ask: ({ contacts }, { ids }) => contacts.bulk.get(first(ids)) },
  'DELETE /v1/contacts/bulk/{id}': {
    ask: ({ contacts }, { ids }) => contacts.bulk.stop(first(ids)),
  },
  'GET /v1/contacts/downloads/{email}': {
    ask: ({ contacts }, { ids }) => contacts.download(first(ids)),
  },
  'POST /v1/contacts/erasures': {
    ask: ({ contacts }, { body }) => contacts.erasures.start(body.address),
  },
  'GET /v1/contacts/erasures/{id}': {
    ask: ({ contacts }, { ids }) => contacts.erasures.get(first(ids)),
  },
  'DELETE /v1/contacts/all/{id}': { ask: ({ contacts }, { ids }) => contacts.delete(first(ids)) },
  'GET /v1/contacts/{listId}': { ask: ({ contacts }, { ids }) => contacts.list(first(ids)) },
  'POST /v1/contacts/{listId}': {
    ask: ({ contacts }, { ids, body }) => contacts.add(first(ids), body),
  },
  'POST /v1/contacts/{listId}/import': {
    ask: ({ contacts }, { ids }) =>
      contacts.import(first(ids), new Blob(['email\nann@example.org\n'])),
  },
  'DELETE /v1/contacts/{listId}/{contactId}': {
    ask: ({ contacts }, { ids }) => contacts.remove(first(ids), second(ids)),
  },

  'GET /v1/contact-fields': { ask: ({ contacts }) => contacts.fields.list(), field: 'fields' },
  'POST /v1/contact-fields': { ask: ({ contacts }, { body }) => contacts.fields.create(body) },
  'PATCH /v1/contact-fields/{id}': {
    ask: ({ contacts }, { ids, body }) => contacts.fields.update(first(ids), body),
  },
  'DELETE /v1/contact-fields/{id}': {
    ask: ({ contacts }, { ids }) => contacts.fields.delete(first(ids)),
  },
  'GET /v1/topics': { ask: ({ topics }) => topics.list(), field: 'topics' },
  'POST /v1/topics': { ask: ({ topics }, { body }) => topics.create(body) },
  'PATCH /v1/topics/{id}': { ask: ({ topics }, { ids, body }) => topics.update(first(ids), body) },
  'DELETE /v1/topics/{id}': { ask: ({ topics }, { ids }) => topics.archive(first(ids)) },
  'GET /v1/topics/{id}/opt-outs': { ask: ({ topics }, { ids }) => topics.optOuts(first(ids)) },

  'GET /v1/forms': { ask: ({ forms }) => forms.list(), field: 'forms' },
  'POST /v1/forms': { ask: ({ forms }, { body }) => forms.create(body) },
  'GET /v1/forms/{id}': { ask: ({ forms }, { ids }) => forms.get(first(ids)) },
  'PATCH /v1/forms/{id}': { ask: ({ forms }, { ids, body }) => forms.update(first(ids), body) },
  'POST /v1/forms/{id}/resume': { ask: ({ forms }, { ids }) => forms.resume(first(ids)) },
  'GET /v1/forms/{id}/work': { ask: ({ forms }, { ids }) => forms.work(first(ids)) },
  'POST /v1/forms/{id}/submissions': {
    ask: ({ forms }, { ids, body }) => forms.submit(first(ids), body),
  },
  'GET /v1/brand': { ask: ({ brand }) => brand.get() },
  'PATCH /v1/brand': { ask: ({ brand }, { body }) => brand.update(body) },
  'GET /v1/pictures': { ask: ({ pictures }) => pictures.list() },
  'POST /v1/pictures': { ask: ({ pictures }, { body }) => pictures.add(body) },
  'GET /v1/pictures/{id}': { ask: ({ pictures }, { ids }) => pictures.get(first(ids)) },
  'PATCH /v1/pictures/{id}': {
    ask: ({ pictures }, { ids, body }) => pictures.update(first(ids), body),
  },
  'DELETE /v1/pictures/{id}': { ask: ({ pictures }, { ids }) => pictures.delete(first(ids)) },
  'GET /v1/segments': { ask: ({ segments }) => segments.list(), field: 'segments' },
  'POST /v1/segments': { ask: ({ segments }, { body }) => segments.create(body) },
  'POST /v1/segments/count': { ask: ({ segments }, { body }) => segments.count(body) },
  'GET /v1/segments/{id}': { ask: ({ segments }, { ids }) => segments.get(first(ids)) },
  'PATCH /v1/segments/{id}': {
    ask: ({ segments }, { ids, body }) => segments.update(first(ids), body),
  },
  'DELETE /v1/segments/{id}': { ask: ({ segments }, { ids }) => segments.delete(first(ids)) },
  'GET /v1/segments/{id}/members': {
    ask: ({ segments }, { ids }) => segments.members(first(ids)),
  },

  'POST /v1/broadcasts/preview': {
    ask: ({ broadcasts }, { body }) => broadcasts.preview(body),
  },
  'POST /v1/broadcasts/test': { ask: ({ broadcasts }, { body }) => broadcasts.test(body) },
  'POST /v1/broadcasts': { ask: ({ broadcasts }, { body }) => broadcasts.create(body) },
  'GET /v1/broadcasts': { ask: ({ broadcasts }) => broadcasts.list() },
  'GET /v1/broadcasts/plan/usage': { ask: ({ broadcasts }) => broadcasts.usage() },
  'GET /v1/broadcasts/{id}': { ask: ({ broadcasts }, { ids }) => broadcasts.get(first(ids)) },
  'PATCH /v1/broadcasts/{id}': {
    ask: ({ broadcasts }, { ids, body }) => broadcasts.update(first(ids), body),
  },
  'POST /v1/broadcasts/{id}/pause': {
    ask: ({ broadcasts }, { ids }) => broadcasts.pause(first(ids)),
  },
  'POST /v1/broadcasts/{id}/resume': {
    ask: ({ broadcasts }, { ids }) => broadcasts.resume(first(ids)),
  },
  'POST /v1/broadcasts/{id}/rehearse': {
    ask: ({ broadcasts }, { ids }) => broadcasts.rehearse(first(ids)),
  },
  'POST /v1/broadcasts/{id}/duplicate': {
    ask: ({ broadcasts }, { ids }) => broadcasts.duplicate(first(ids)),
  },
  'POST /v1/broadcasts/{id}/send': {
    ask: ({ broadcasts }, { ids }) => broadcasts.send(first(ids)),
  },
  'POST /v1/broadcasts/{id}/cancel': {
    ask: ({ broadcasts }, { ids }) => broadcasts.cancel(first(ids)),
  },
  'POST /v1/broadcasts/{id}/cancel-rest': {
    ask: ({ broadcasts }, { ids }) => broadcasts.cancelRest(first(ids)),
  },
  'POST /v1/broadcasts/{id}/variants/{key}/choose': {
    ask: ({ broadcasts }, { ids }) => broadcasts.chooseVariant(first(ids), second(ids)),
  },
  'POST /v1/broadcasts/{id}/take-back': {
    ask: ({ broadcasts }, { ids }) => broadcasts.takeBack(first(ids)),
  },

  'POST /v1/events/send': { ask: ({ events }, { body }) => events.send(body) },
  'POST /v1/events/batch': { ask: ({ events }, { body }) => events.batch(body.events) },
  'POST /v1/automations': { ask: ({ automations }, { body }) => automations.create(body) },
  'GET /v1/events/names': { ask: ({ events }) => events.names() },
  'GET /v1/automations': { ask: ({ automations }) => automations.list() },
  'GET /v1/automations/{id}': { ask: ({ automations }, { ids }) => automations.get(first(ids)) },
  'PATCH /v1/automations/{id}': {
    ask: ({ automations }, { ids, body }) => automations.update(first(ids), body),
  },
  'POST /v1/automations/{id}/duplicate': {
    ask: ({ automations }, { ids, body }) => automations.duplicate(first(ids), body),
  },
  'POST /v1/automations/{id}/enable': {
    ask: ({ automations }, { ids }) => automations.enable(first(ids)),
  },
  'POST /v1/automations/{id}/disable': {
    ask: ({ automations }, { ids }) => automations.disable(first(ids)),
  },
  'POST /v1/automations/{id}/archive': {
    ask: ({ automations }, { ids }) => automations.archive(first(ids)),
  },
  'POST /v1/automations/{id}/pause': {
    ask: ({ automations }, { ids, body }) => automations.pause(first(ids), body),
  },
  'POST /v1/automations/{id}/resume': {
    ask: ({ automations }, { ids, body }) => automations.resume(first(ids), body),
  },
  'POST /v1/automations/{id}/move': {
    ask: ({ automations }, { ids, body }) => automations.move(first(ids), body),
  },
  'POST /v1/automations/{id}/start': {
    ask: ({ automations }, { ids, body }) => automations.startFor(first(ids), body),
  },
  'GET /v1/automations/{id}/start': {
    ask: ({ automations }, { ids }) => automations.getStart(first(ids)),
  },
  'DELETE /v1/automations/{id}/start': {
    ask: ({ automations }, { ids }) => automations.stopStart(first(ids)),
  },
  'GET /v1/automations/{id}/standing': {
    ask: ({ automations }, { ids }) => automations.standing(first(ids)),
  },
  'GET /v1/automations/{id}/draft': {
    ask: ({ automations }, { ids }) => automations.getDraft(first(ids)),
  },
  'PATCH /v1/automations/{id}/draft': {
    ask: ({ automations }, { ids, body }) => automations.updateDraft(first(ids), body),
  },
  'POST /v1/automations/{id}/draft/enable': {
    ask: ({ automations }, { ids, body }) => automations.enableDraft(first(ids), body),
  },
  'DELETE /v1/automations/{id}/draft': {
    ask: ({ automations }, { ids }) => automations.discardDraft(first(ids)),
  },
  'POST /v1/automations/{id}/cancel': {
    ask: ({ automations }, { ids, body }) => automations.cancelRuns(first(ids), body),
  },
  'GET /v1/automations/{id}/cancel': {
    ask: ({ automations }, { ids }) => automations.getRunsCancelled(first(ids)),
  },
  'DELETE /v1/automations/{id}/cancel': {
    ask: ({ automations }, { ids }) => automations.stopCancelling(first(ids)),
  },
  'POST /v1/automations/{id}/simulate': {
    ask: ({ automations }, { ids, body }) => automations.simulate(first(ids), body),
  },
  'GET /v1/automations/{id}/runs': {
    ask: ({ automations }, { ids }) => automations.runs(first(ids)),
  },
  'POST /v1/automations/{id}/runs': {
    ask: ({ automations }, { ids, body }) => automations.startRun(first(ids), body),
  },
  'GET /v1/automations/runs/{id}': {
    ask: ({ automations }, { ids }) => automations.getRun(first(ids)),
  },
  'POST /v1/automations/runs/{id}/cancel': {
    ask: ({ automations }, { ids }) => automations.cancelRun(first(ids)),
  },

  'PATCH /v1/contacts/lists/{id}': {
    ask: ({ contacts }, { ids, body }) => contacts.lists.rename(first(ids), body),
  },
  'GET /v1/broadcasts/{id}/recipients': {
    ask: ({ broadcasts }, { ids }) => broadcasts.recipients(first(ids)),
  },
  'GET /v1/broadcasts/{id}/report': {
    ask: ({ broadcasts }, { ids }) => broadcasts.report(first(ids)),
  },
  'GET /v1/suppressions': { ask: ({ suppressions }) => suppressions.list() },
  'POST /v1/suppressions': { ask: ({ suppressions }, { body }) => suppressions.add(body) },
  'POST /v1/suppressions/import': {
    ask: ({ suppressions }, { body }) => suppressions.import(body),
  },
  'GET /v1/suppressions/{email}': {
    ask: ({ suppressions }, { ids }) => suppressions.get(first(ids)),
  },
  'DELETE /v1/suppressions/{email}': {
    ask: ({ suppressions }, { ids }) => suppressions.remove(first(ids)),
  },

  'GET /v1/templates': { ask: ({ templates }) => templates.list() },
  'POST /v1/templates': { ask: ({ templates }, { body }) => templates.create(body) },
  'GET /v1/templates/{slug}': { ask: ({ templates }, { ids }) => templates.get(first(ids)) },
  'PATCH /v1/templates/{slug}': {
    ask: ({ templates }, { ids, body }) => templates.update(first(ids), body),
  },
  'DELETE /v1/templates/{slug}': { ask: ({ templates }, { ids }) => templates.delete(first(ids)) },
  'POST /v1/templates/{slug}/render': {
    ask: ({ templates }, { ids, body }) => templates.render(first(ids), body),
  },
  'GET /v1/templates/{slug}/versions': {
    ask: ({ templates }, { ids }) => templates.versions(first(ids)),
  },
  'GET /v1/templates/{slug}/versions/{version}': {
    ask: ({ templates }, { ids }) => templates.getVersion(first(ids), second(ids)),
  },
  'POST /v1/templates/{slug}/versions/{version}/restore': {
    ask: ({ templates }, { ids }) => templates.restore(first(ids), second(ids)),
  },

  'GET /v1/webhooks': { ask: ({ webhooks }) => webhooks.list(), field: 'webhooks' },
  'POST /v1/webhooks': { ask: ({ webhooks }, { body }) => webhooks.create(body) },
  'GET /v1/webhooks/{id}': { ask: ({ webhooks }, { ids }) => webhooks.get(first(ids)) },
  'PATCH /v1/webhooks/{id}': {
    ask: ({ webhooks }, { ids, body }) => webhooks.update(first(ids), body),
  },
  'DELETE /v1/webhooks/{id}': { ask: ({ webhooks }, { ids }) => webhooks.delete(first(ids)) },
  'POST /v1/webhooks/{id}/rotate': {
    ask: ({ webhooks }, { ids, body }) => webhooks.rotate(first(ids), body),
  },
  'POST /v1/webhooks/{id}/test': { ask: ({ webhooks }, { ids }) => webhooks.test(first(ids)) },
  'GET /v1/webhooks/{id}/deliveries': {
    ask: ({ webhooks }, { ids }) => webhooks.deliveries(first(ids)),
  },
  'POST /v1/webhooks/{id}/deliveries/{deliveryId}/replay': {
    ask: ({ webhooks }, { ids }) => webhooks.replay(first(ids), second(ids)),
  },
  'POST /v1/webhooks/{id}/deliveries/replay': {
    ask: ({ webhooks }, { ids, body }) => webhooks.replayRange(first(ids), body),
  },
  'POST /v1/webhooks/{id}/replay': {
    ask: ({ webhooks }, { ids }) => webhooks.replayFailed(first(ids)),
  },

  'GET /v1/domains': { ask: ({ domains }) => domains.list(), field: 'domains' },
  'POST /v1/domains': { ask: ({ domains }, { body }) => domains.add(body) },
  'GET /v1/domains/{id}': { ask: ({ domains }, { ids }) => domains.get(first(ids)) },
  'PATCH /v1/domains/{id}': {
    ask: ({ domains }, { ids, body }) => domains.update(first(ids), body),
  },
  'DELETE /v1/domains/{id}': { ask: ({ domains }, { ids }) => domains.delete(first(ids)) },
  'POST /v1/domains/{id}/verify': { ask: ({ domains }, { ids }) => domains.verify(first(ids)) },
  'POST /v1/domains/{id}/rotate': {
    ask: ({ domains }, { ids, body }) => domains.rotate(first(ids), body),
  },
  'GET /v1/domains/{id}/dmarc': { ask: ({ domains }, { ids }) => domains.dmarc(first(ids)) },
  'GET /v1/stats': { ask: ({ stats }) => stats.get() },

  'GET /v1/receiving/rules': { ask: ({ receiving }) => receiving.list(), field: 'rules' },
  'POST /v1/receiving/rules': { ask: ({ receiving }, { body }) => receiving.add(body) },
  'GET /v1/receiving/rules/{id}': {
    ask: ({ receiving }, { ids }) => receiving.get(first(ids)),
  },
  'PATCH /v1/receiving/rules/{id}': {
    ask: ({ receiving }, { ids, body }) => receiving.update(first(ids), body),
  },
  'DELETE /v1/receiving/rules/{id}': {
    ask: ({ receiving }, { ids }) => receiving.delete(first(ids)),
  },
  'GET /v1/receiving/where': { ask: ({ receiving }) => receiving.where({ address: 'a@b.test' }) },
  'GET /v1/receiving/usage': { ask: ({ receiving }) => receiving.usage() },
  'GET /v1/received': { ask: ({ received }) => received.list() },
  'GET /v1/received/{id}': { ask: ({ received }, { ids }) => received.get(first(ids)) },
  'GET /v1/received/{id}/attachments/{number}': {
    ask: ({ received }, { ids }) => received.file(first(ids), 1),
  },
  'GET /v1/received/{id}/raw': { ask: ({ received }, { ids }) => received.source(first(ids)) },
  'DELETE /v1/received/{id}': { ask: ({ received }, { ids }) => received.delete(first(ids)) },

  'GET /v1/surges': { ask: ({ surges }) => surges.list(), field: 'surges' },
  'GET /v1/surges/{id}': { ask: ({ surges }, { ids }) => surges.get(first(ids)) },
  'POST /v1/surges/{id}/release': { ask: ({ surges }, { ids }) => surges.release(first(ids)) },
  'POST /v1/surges/{id}/fail': { ask: ({ surges }, { ids }) => surges.fail(first(ids)) },

  'GET /v1/keys': { ask: ({ keys }) => keys.list(), field: 'keys' },
  'POST /v1/keys': { ask: ({ keys }, { body }) => keys.create(body) },
  'GET /v1/keys/{id}': { ask: ({ keys }, { ids }) => keys.get(first(ids)) },
  'PATCH /v1/keys/{id}': { ask: ({ keys }, { ids, body }) => keys.update(first(ids), body) },
  'DELETE /v1/keys/{id}': { ask: ({ keys }, { ids }) => keys.delete(first(ids)) },

  'GET /v1/inbox': { ask: ({ inbox }) => inbox.list() },
  'GET /v1/inbox/{id}': { ask: ({ inbox }, { ids }) => inbox.get(first(ids)), field: 'message' },
  'DELETE /v1/inbox': { ask: ({ inbox }) => inbox.clear() },

  'GET /v1/billing/plans': { ask: ({ plans }) => plans.list(), field: 'plans' },
  'GET /v1/openapi.json': { ask: (posthorn) => posthorn.openapi() },
}
