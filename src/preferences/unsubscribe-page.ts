import { type AccountFace, accountFace } from '../accounts/index.js'
import type { Page, PageRequest, Pages } from '../http/index.js'
import { listTopics, topicName } from '../topics/index.js'
import { stringsFor } from './addressed.js'
import { coloursPath } from './colours.js'
import { erasedPage } from './erased-page.js'
import type { PreferenceLinks, UnsubscribeLinks, UnsubscribeTarget } from './link.js'
import { askedReason, isToSayWhy, keepReason, reasonIn } from './reason.js'
import { hasLeft, resubscribe, type SubscriptionDeps, unsubscribe } from './subscription.js'
import { deadLink, logoOf, page, renderNotice } from './view.js'

/** What the pages behind links need. */
export interface UnsubscribePageDeps extends SubscriptionDeps {
  unsubscribeLinks: UnsubscribeLinks
  preferenceLinks: PreferenceLinks
}

/** A link that was made here, for an account that is still there. */
interface Opened {
  target: UnsubscribeTarget
  face: AccountFace
  /** Its `Accept-Language`. */
  browser: string | undefined
}

const path = '/unsubscribe/:token'

/** One button to leave, and one to come back; mail clients post the first without showing it. */
export function unsubscribePage(pages: Pages, deps: UnsubscribePageDeps): void {
  const opened = async ({
    params: { token = '' },
    header,
  }: PageRequest): Promise<Opened | undefined> => {
    const target = deps.unsubscribeLinks.read(token)
    const face = target && (await accountFace(deps.store.read, target.accountId))
    return face && { target, face, browser: header('accept-language') }
  }

  const ofErased = ({ target, face, browser }: Opened) =>
    erasedPage(deps.store.read, target, face, browser)

  // Scanners and previews follow links: opening the page must change nothing.
  pages.get(path, async (request) => {
    const link = await opened(request)
    if (link === undefined) return deadLink(request)
    const erased = await ofErased(link)
    if (erased !== undefined) return erased
    return await show(deps, link, (await hasLeft(deps.store.read, link.target)) ? 'done' : 'ask')
  })

  // There is no cookie and the link itself is the proof, so a post may come from anywhere.
  pages.post(path, { crossSite: true }, async (request) => {
    const { form } = request
    const link = await opened(request)
    if (link === undefined) return deadLink(request)
    const erased = await ofErased(link)
    if (erased !== undefined) return erased
    // RFC 8058 §3.2: the mail client posts this for the recipient, and expects no redirect.
    if (form.get('List-Unsubscribe') === 'One-Click') {
      await unsubscribe(deps, link.target, 'One-click unsubscribe')
      return await show(deps, link, 'done')
    }
    switch (form.get('action')) {
      case 'unsubscribe':
        await unsubscribe(deps, link.target, 'Unsubscribe page')
        return await show(deps, link, 'done')
      case 'reason': {
        const said = reasonIn(form)
        const isKept = said !== undefined && (await keepReason(deps, link.target, said))
        const hasGone = await hasLeft(deps.store.read, link.target)
        return await show(deps, link, hasGone ? 'done' : 'ask', { isKept })
      }
      case 'resubscribe':
        return await show(deps, link, (await resubscribe(deps, link.target)) ? 'back' : 'done')
      default:
        return await show(deps, link, 'ask', { status: 400 })
    }
  })
}

/** The page with one button, to leave or to come back; `isKept`: they have just said why they left. */
async function show(
  { store: { read }, preferenceLinks }: UnsubscribePageDeps,
  { target: { accountId, address, topicId, emailId }, face, browser }: Opened,
  state: 'ask' | 'done' | 'back',
  { isKept = false, status = 200 }: { isKept?: boolean; status?: number } = {},
): Promise<Page> {
  const strings = await stringsFor(read, face, { accountId, address }, browser)
  const topic = topicId && ((await topicName(read, accountId, topicId)) ?? strings.someTopic)
  const hasTopics = (await listTopics(read, accountId, { limit: 1 })).length > 0
  const asksWhy = state === 'done' && (await isToSayWhy(read, { accountId, address }))
  const { title, lines, button } = strings[state]
  const html = renderNotice({
    language: strings.language,
    title,
    logo: logoOf(face),
    colours: coloursPath(face.colours),
    lines: lines({ account: face.name, address, topic }),
    form: {
      action: state === 'done' ? 'resubscribe' : 'unsubscribe',
      button,
      quiet: state !== 'ask',
    },
    message: isKept ? strings.reason.thanks : undefined,
    reason: asksWhy ? askedReason(strings) : undefined,
    link: hasTopics
      ? { href: preferenceLinks.url({ accountId, address, emailId }), text: strings.toCentre }
      : undefined,
  })
  return page(html, status)
}
