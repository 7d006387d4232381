import { readBilling } from '../../billing/index.js'
import { cursorOf, idInCursor, pageOf } from '../../store/index.js'
import { listEndpoints } from '../../webhooks/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type BesidePages, listOf } from '../shell/listing.js'
import type { Visit } from '../shell/visit.js'
import type { WebhookPageDeps } from './deps.js'
import { type EndpointView, endpointView } from './view.js'

/** One page of the list. */
interface WebhooksView extends BesidePages {
  base: string
  accountId: string
  mayWrite: boolean
  /** The plan's name, where it has no webhooks. */
  planWithout: string | undefined
  endpoints: EndpointView[]
}

const pageSize = 50

/** The account's endpoints. */
export async function listPage(
  { store: { read }, plans }: WebhookPageDeps,
  visit: Visit,
): Promise<PageAnswer> {
  const { account, base, query, now } = visit
  // The cursor is signed for this list of this account: one of another account does not work.
  const scope = `webhooks page ${account.id}`
  const { rows, ...beside } = await listOf({ path: `${base}/webhooks`, query }, async (cursor) => {
    const after = cursor === undefined ? undefined : idInCursor(cursor, scope)
    const found = await listEndpoints(read, account.id, { after, limit: pageSize + 1 })
    return pageOf(found, pageSize, ({ id }) => cursorOf(id, scope))
  })
  const { plan } = await readBilling(read, plans, account.id)
  const view: WebhooksView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('webhooks.write'),
    planWithout: plan.webhooks ? undefined : plan.name,
    endpoints: rows.map((endpoint) => endpointView(endpoint, base, now)),
    ...beside,
  }
  return page('webhooks/list', view, { title: 'Webhooks' })
}
