import { auditOf } from '../../contract/index.js'
import { structOf, table, words } from '../../fields/index.js'
import * as operations from '../../webhooks/contract.js'
import { addEndpoint, judgeTarget, refuseEndpoint, webhookEvents } from '../../webhooks/index.js'
import type { FormTokens } from '../keys/once.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { WebhookPageDeps } from './deps.js'
import { eventChoices } from './events.js'

/** The form, with what was typed when it is shown again. */
interface CreateView {
  base: string
  accountId: string
  once: string
  events: typeof eventChoices
  values: { url: string; events: readonly string[] }
  faults: Faults
}

/** A secret, shown once. */
export interface SecretView {
  title: string
  /** The page of the endpoint. */
  url: string
  target: string
  secret: string
  /** What else to know, such as how long the earlier secret still signs. */
  remark: string
}

const CreateForm = structOf(
  table({ url: operations.url, events: operations.events, once: words() }),
)

/** `/webhooks/new`: the form, and the one answer that shows the new endpoint's secret. */
export function createPages(
  pages: AccountPages,
  deps: WebhookPageDeps & { once: FormTokens },
): void {
  const { plans, once } = deps
  const show = async ({ account, base }: Visit, faults: Faults): Promise<PageAnswer> => {
    const view: CreateView = {
      base,
      accountId: account.id,
      faults,
      events: eventChoices,
      once: once.token(),
      values: { url: '', events: webhookEvents },
    }
    return page('webhooks/create', view, { title: 'Create a webhook' })
  }
  pages.get('/webhooks/new', 'webhooks.write', (visit) => show(visit, noFaults))

  const options = { action: 'webhooks.write', form: CreateForm, sudo: true, again: show } as const
  pages.post('/webhooks/new', options, async ({ account, base, form }) => {
    const { url, events } = form
    // A new resolver, which remembers no answer of a moment ago: people correct the DNS and try again.
    const guard = { resolver: deps.openResolver(), allow: deps.allow }
    const made = await once.run(form.once, async () => {
      await refuseEndpoint(deps.store.read, plans, account.id)
      const doubt = await judgeTarget(guard, url)
      return { doubt, ...(await addEndpoint(deps, plans, account.id, { url, events })) }
    })
    const view: SecretView = {
      title: 'The secret of your new webhook',
      secret: made.secret,
      target: made.url,
      url: `${base}/webhooks/${made.id}`,
      remark: made.doubt === undefined ? '' : `It cannot be reached yet: ${made.doubt}.`,
    }
    const audit = auditOf(operations.createWebhook, {
      target: made.id,
      detail: { url: made.url, events },
    })
    return page('webhooks/secret', view, { title: view.title, audit })
  })
}
