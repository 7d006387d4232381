import { ApiError } from '../../errors/index.js'
import { findTemplate, samplesOf } from '../../templates/index.js'
import { shownCopy } from '../campaigns/preview.js'
import { type Html, html } from '../shell/html.js'
import { previewOf, type TemplatePreview } from '../templates/preview.js'
import { templatePath } from '../templates/way-back.js'
import type { AutomationEditDeps } from './deps.js'
import type { MailConfig } from './mail-fields.js'

// Nobody's address (RFC 2606 §2), so that nothing is known of it.
const nobody = 'reader@mail.invalid'

/** Turns the HTML of a mail into what arrives: news has its footer and the links of each copy. */
export const makeArriving =
  (
    deps: Pick<AutomationEditDeps, 'store' | 'publicUrl'>,
    accountId: string,
    { address = nobody, isNotice = false }: { address?: string; isNotice?: boolean } = {},
  ) =>
  async (html: string): Promise<string> =>
    (await shownCopy(deps, html, { accountId, address, isNotice })).html

/** A template as it arrives, with its sample values. Throws a 404 where no template has that name. */
export async function templateShown(
  deps: AutomationEditDeps,
  accountId: string,
  slug: string,
  type: MailConfig['type'],
): Promise<TemplatePreview> {
  const { read } = deps.store
  const { subject, html: source, textBody } = await findTemplate(read, accountId, slug)
  const samples = await samplesOf(read, accountId, slug)
  const draft = { subject, html: source, textBody: textBody ?? '' }
  const arriving = makeArriving(deps, accountId, { isNotice: type === 'transactional' })
  return await previewOf(deps, accountId, draft, samples, arriving)
}

/** The mail of a step with the sample values of its template; nothing where no template has that name. */
export async function mailPreview(
  deps: AutomationEditDeps,
  { accountId, base, automationId }: { accountId: string; base: string; automationId: string },
  { template: slug, type }: MailConfig,
): Promise<Html | undefined> {
  if (slug === '') return undefined
  try {
    const { mail, fault } = await templateShown(deps, accountId, slug, type)
    const change = html`<a href="${templatePath(base, slug, automationId)}">Write this mail</a>`
    if (mail === undefined)
      return html`<p class="fault">${fault?.message ?? 'It cannot be shown.'} ${change}</p>`
    return html`<p class="inbox-line"><b>${mail.subject}</b> <span class="quiet">${mail.snippet}</span></p><p class="quiet">${change}</p><iframe class="mail" title="The mail “${slug}”" src="${base}/automations/mail/${mail.id}" sandbox="allow-popups allow-popups-to-escape-sandbox" loading="lazy"></iframe>`
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'not_found') throw error
    return undefined
  }
}
