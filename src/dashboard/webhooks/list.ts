import { readBilling } from '../../billing/index.js'
import { cursorOf, idInCursor, pageOf } from '../../store/index.js'
import { listEndpoints } from '../../webhooks/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Visit } from '../shell/visit.js'
import type { WebhookPageDeps } from './deps.js'
import { type EndpointView, endpointView } from './view.js'

/** One page of the list. */
interface WebhooksView {
  base: string
  accountId: string
  mayWrite: boolean
  /** The plan's name, where it has no webhooks. */
  planWithout: string | undefined
  endpoints: EndpointView[]
  newer: string | undefined
  older: string | undefined
}

const pageSize = 50

/** The account's endpoints. */
export async function listPage(
  { store: { read }, plans }: WebhookPageDeps,
  visit: Visit,
): Promise<PageAnswer> {
  const { account, base, query, now } = visit
  // The cursor is signed for this list of this account: another one's leads nowhere.
  const scope = `webhooks page ${account.id}`
  const cursor = query.get('after')
  const after = cursor === null ? undefined : idInCursor(cursor, scope)
  const found = await listEndpoints(read, account.id, { after, limit: pageSize + 1 })
  const { page: endpoints, nextCursor } = pageOf(found, pageSize, ({ id }) => cursorOf(id, scope))
  const { plan } = await readBilling(read, plans, account.id)
  const view: WebhooksView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('webhooks.write'),
    planWithout: plan.webhooks ? undefined : plan.name,
    endpoints: endpoints.map((endpoint) => endpointView(endpoint, base, now)),
    newer: cursor === null ? undefined : `${base}/webhooks`,
    older: nextCursor === null ? undefined : `${base}/webhooks?after=${nextCursor}`,
  }
  return page('webhooks/list', view, { title: 'Webhooks' })
}
