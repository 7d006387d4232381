import { templateSenders } from '../../automations/index.js'
import type { EmailDeps } from '../../emails/index.js'
import { pageOf } from '../../store/index.js'
import { listTemplates } from '../../templates/index.js'
import { listed } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { html } from '../shell/html.js'
import { listOf } from '../shell/listing.js'
import { time } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'

const perPage = 50

/** An account's templates by slug, with what sends them. */
export async function showTemplates({ store }: EmailDeps, visit: Visit): Promise<PageAnswer> {
  const { account, base, query, now } = visit
  const listing = { path: `${base}/templates`, query }
  const { rows: shown, ...beside } = await listOf(listing, async (after) => {
    const found = await listTemplates(store.read, account.id, { after, limit: perPage + 1 })
    return pageOf(found, perPage, ({ slug }) => slug)
  })
  const senders = await templateSenders(store.read, account.id)
  const rows = shown.map(({ slug, subject, version, savedAt }) => [
    html`<a href="${base}/templates/${slug}">${slug}</a>`,
    subject,
    html`<a href="${base}/templates/${slug}/versions">${version}</a>`,
    time(savedAt, now),
    usedBy(senders.get(slug) ?? []),
  ])
  return page(
    'templates/list',
    {
      accountId: account.id,
      rows,
      ...beside,
      create: visit.may('templates.write') ? `${base}/templates/-/new` : undefined,
    },
    { title: 'Templates' },
  )
}

/** The automations that send the template, two by name. */
const usedBy = (automations: string[]) =>
  automations.length === 0 ? html`<span class="quiet">No automation</span>` : listed(automations, 2)
