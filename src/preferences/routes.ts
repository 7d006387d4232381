import { findAccount } from '../accounts/index.js'
import type { Page, Pages } from '../http/index.js'
import { topicName } from '../topics/index.js'
import type { UnsubscribeLinks, UnsubscribeTarget } from './link.js'
import { english as strings } from './strings.js'
import { hasLeft, resubscribe, type SubscriptionDeps, unsubscribe } from './subscription.js'
import { renderPage, styleSheet } from './view.js'

export interface PreferenceDeps extends SubscriptionDeps {
  links: UnsubscribeLinks
}

const path = '/unsubscribe/:token'

/** The page behind the link of a marketing mail, for the public listener. */
export function preferenceRoutes(pages: Pages, deps: PreferenceDeps): void {
  const { links, store } = deps
  pages.file('/unsubscribe.css', { bytes: styleSheet(), contentType: 'text/css; charset=utf-8' })

  // Scanners and previews follow links: opening it must change nothing.
  pages.get(path, async ({ params }) => {
    const target = links.read(params.token ?? '')
    if (target === undefined) return unknown()
    return await show(deps, target, (await hasLeft(store.read, target)) ? 'done' : 'ask')
  })

  // No cookie takes part and the link itself is the proof, so a post may come from anywhere.
  pages.post(path, { crossSite: true }, async ({ params, form }) => {
    const target = links.read(params.token ?? '')
    if (target === undefined) return unknown()
    // RFC 8058 §3.2: the mail client posts this for the recipient, and expects no redirect.
    if (form.get('List-Unsubscribe') === 'One-Click') {
      await unsubscribe(deps, target, 'One-click unsubscribe')
      return await show(deps, target, 'done')
    }
    switch (form.get('action')) {
      case 'unsubscribe':
        await unsubscribe(deps, target, 'Unsubscribe page')
        return await show(deps, target, 'done')
      case 'resubscribe':
        await resubscribe(deps, target)
        return await show(deps, target, 'back')
      default:
        return { ...(await show(deps, target, 'ask')), status: 400 }
    }
  })
}

async function show(
  { store: { read } }: PreferenceDeps,
  { accountId, address, topicId }: UnsubscribeTarget,
  state: 'ask' | 'done' | 'back',
): Promise<Page> {
  const { name: account } = await findAccount(read, accountId)
  const topic = topicId && ((await topicName(read, accountId, topicId)) ?? strings.someTopic)
  const { title, lines, button } = strings[state]
  const form = {
    action: state === 'done' ? 'resubscribe' : 'unsubscribe',
    button,
    quiet: state !== 'ask',
  } as const
  const html = renderPage({
    language: strings.language,
    title,
    lines: lines({ account, address, topic }),
    form,
  })
  return { html, headers: { 'X-Robots-Tag': 'noindex' } }
}

/** The same for every link that was not made here, whatever is wrong with it. */
const unknown = (): Page => ({
  status: 404,
  html: renderPage({ language: strings.language, ...strings.unknown }),
  headers: { 'X-Robots-Tag': 'noindex' },
})
