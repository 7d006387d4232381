import { isoTime } from '../../clock/index.js'
import { auditOf } from '../../contract/index.js'
import { oneOf, structOf, table, words } from '../../fields/index.js'
import * as operations from '../../webhooks/contract.js'
import {
  countRequests,
  deleteEndpoint,
  findEndpoint,
  judgeTarget,
  rotateSecret,
  updateEndpoint,
} from '../../webhooks/index.js'
import { plural } from '../format.js'
import type { FormTokens } from '../keys/once.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { SecretView } from './create.js'
import type { WebhookPageDeps } from './deps.js'
import { eventChoices } from './events.js'
import { type EndpointView, endpointView } from './view.js'

/** The page's values; `once` is sent with the form that makes a new secret. */
interface SettingsView {
  accountId: string
  endpoint: EndpointView
  enabled: boolean
  once: string
  events: typeof eventChoices
  overlaps: typeof overlaps
  values: { url: string; events: readonly string[] }
  /** What a deletion also deletes. */
  deletion: string
  faults: Faults
}

// In seconds. While both secrets sign, a receiver can change to the new one without losing a
// request.
const overlaps = [
  { value: '0', label: 'Not at all: it is void at once' },
  { value: '3600', label: 'For an hour' },
  { value: '86400', label: 'For a day' },
  { value: '604800', label: 'For a week' },
]

// Counting further would read an index of a million rows for one sentence.
const mostCounted = 10_000
const shownRequests = (requests: number) =>
  requests > mostCounted
    ? `more than ${plural(mostCounted, 'request')}`
    : plural(requests, 'request')

const ChangeForm = structOf(table({ url: operations.url, events: operations.events }))
const overlap = oneOf(overlaps.map(({ value }) => value))
const RotateForm = structOf(table({ overlap, once: words() }))

/** An endpoint's URL, events and secret, and its deletion. */
export function settingsPages(
  pages: AccountPages,
  deps: WebhookPageDeps & { once: FormTokens },
): void {
  const { store, once } = deps
  const endpointOf = ({ account, params }: Pick<Visit, 'account' | 'params'>) =>
    findEndpoint(store.read, account.id, params.id ?? '')

  const show = async (visit: Visit, faults: Faults): Promise<PageAnswer> => {
    const { account, base, now } = visit
    const found = await endpointOf(visit)
    const { waiting, kept } = await countRequests(store.read, found.id, mostCounted + 1)
    const endpoint = endpointView(found, base, now)
    const view: SettingsView = {
      accountId: account.id,
      enabled: found.enabled,
      faults,
      overlaps,
      events: eventChoices,
      once: once.token(),
      endpoint,
      values: { url: found.url, events: found.events },
      deletion: `Delete the webhook to ${endpoint.title}? ${shownRequests(waiting)} that wait are not sent then, and the log of ${shownRequests(kept)} goes.`,
    }
    return page('webhooks/settings', view, { title: `Settings of ${endpoint.title}` })
  }
  pages.get('/webhooks/:id/settings', 'webhooks.write', (visit) => show(visit, noFaults))
  const common = { action: 'webhooks.write', sudo: true, again: show } as const

  pages.post('/webhooks/:id/settings', { ...common, form: ChangeForm }, async (visit) => {
    const { account, base, form } = visit
    const { id, url } = await endpointOf(visit)
    const { events } = form
    const guard = { resolver: deps.openResolver(), allow: deps.allow }
    // A target that cannot be reached yet is saved all the same: the receiver may be built later.
    const doubt = form.url === url ? undefined : await judgeTarget(guard, form.url)
    const changed = await updateEndpoint(deps, account.id, id, { url: form.url, events })
    const flash = doubt === undefined ? 'Saved' : `Saved, but it cannot be reached yet: ${doubt}`
    const audit = auditOf(operations.updateWebhook, {
      target: id,
      detail: { url: changed.url, events },
    })
    return redirect(`${base}/webhooks/${id}`, { flash, audit })
  })

  pages.post('/webhooks/:id/rotate', { ...common, form: RotateForm }, async (visit) => {
    const { account, base, form } = visit
    const { id, url } = await endpointOf(visit)
    const overlapMs = Number(form.overlap) * 1_000
    const rotate = () => rotateSecret(deps, account.id, id, overlapMs)
    // Reloading the answer would make another secret, which nobody would keep.
    const { secret, oldSecretUntil } = await once.run(form.once, rotate)
    const until = oldSecretUntil === null ? undefined : isoTime(oldSecretUntil)
    const view: SecretView = {
      title: 'The new secret of your webhook',
      url: `${base}/webhooks/${id}`,
      target: url,
      secret,
      remark:
        until === undefined
          ? 'The secret before it is void.'
          : `The secret before it signs too until ${until}.`,
    }
    const audit = auditOf(operations.rotateWebhookSecret, {
      target: id,
      detail: { oldSecretUntil: until },
    })
    return page('webhooks/secret', view, { title: view.title, audit })
  })

  for (const [name, enabled, flash] of [
    ['enable', true, 'It is enabled again: a replay sends what was set aside'],
    ['disable', false, 'It is disabled'],
  ] as const) {
    pages.post(`/webhooks/:id/${name}`, common, async (visit) => {
      const { id } = await endpointOf(visit)
      // The overview page recognises by this value that somebody disabled the endpoint on purpose.
      await updateEndpoint(deps, visit.account.id, id, { enabled }, 'account')
      const audit = { action: `webhook.${name}`, target: id }
      return redirect(`${visit.base}/webhooks/${id}`, { flash, audit })
    })
  }

  pages.post('/webhooks/:id/delete', common, async (visit) => {
    const { id, url } = await endpointOf(visit)
    await deleteEndpoint(deps, visit.account.id, id)
    const audit = auditOf(operations.deleteWebhook, { target: id, detail: { url } })
    return redirect(`${visit.base}/webhooks`, { flash: `The webhook to ${url} is deleted`, audit })
  })
}
