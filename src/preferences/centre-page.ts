import { type AccountFace, accountFace } from '../accounts/index.js'
import type { Form, Page, Pages } from '../http/index.js'
import { readChoices, type Saved, saveChoices } from './choices.js'
import type { PreferenceLinks, Recipient } from './link.js'
import { english as strings } from './strings.js'
import { resubscribe, type SubscriptionDeps, unsubscribe } from './subscription.js'
import { deadLink, page, renderCentre } from './view.js'

export interface CentrePageDeps extends SubscriptionDeps {
  preferenceLinks: PreferenceLinks
}

/** A link that was made here, for an account that is still there. */
interface Opened {
  recipient: Recipient
  face: AccountFace
}

const path = '/preferences/:token'

/** The preference centre: which topics an address gets, or nothing at all. */
export function centrePage(pages: Pages, deps: CentrePageDeps): void {
  const opened = async (token = ''): Promise<Opened | undefined> => {
    const recipient = deps.preferenceLinks.read(token)
    const face = recipient && (await accountFace(deps.store.read, recipient.accountId))
    return face && { recipient, face }
  }

  pages.get(path, async ({ params }) => {
    const link = await opened(params.token)
    return link === undefined ? deadLink(params.token) : await show(deps, link)
  })

  // As on the unsubscribe page, the link is the proof. The answer is the page itself, with what came
  // of it: sending it twice is as once.
  pages.post(path, { crossSite: true }, async ({ params, form }) => {
    const link = await opened(params.token)
    if (link === undefined) return deadLink(params.token)
    switch (form.get('action')) {
      case 'save':
        await saveChoices(deps, link.recipient, savedBy(form))
        return await show(deps, link, { after: 'save' })
      case 'leave':
        await unsubscribe(deps, link.recipient, 'Preference centre')
        return await show(deps, link, { after: 'leave' })
      case 'return':
        await resubscribe(deps, link.recipient)
        return await show(deps, link, { after: 'return' })
      default:
        return await show(deps, link, { status: 400 })
    }
  })
}

const savedBy = (form: Form): Saved => ({
  shown: new Set(form.all('shown')),
  ticked: new Set(form.all('topic')),
  showedLeft: form.get('left') === 'yes',
})

async function show(
  { store: { read } }: CentrePageDeps,
  { recipient, face }: Opened,
  { after, status = 200 }: { after?: 'save' | 'leave' | 'return'; status?: number } = {},
): Promise<Page> {
  const { left, reachable, topics } = await readChoices(read, recipient)
  const names = { account: face.name, address: recipient.address }
  const { centre } = strings
  const messages = {
    save: left
      ? centre.status.stillLeft
      : topics.some(({ chosen }) => chosen)
        ? centre.status.saved
        : centre.status.savedNone,
    leave: centre.status.left,
    return: centre.status.back,
  }
  const { title, line, button } = left ? centre.comeBack : centre.leave
  const html = renderCentre({
    language: strings.language,
    title: centre.title(names),
    logo: face.logoId === null ? undefined : `/logo/${face.logoId}`,
    message: after && messages[after],
    lines: [
      left ? centre.intro.left(names) : centre.intro.subscribed(names),
      ...(reachable ? [] : [centre.unreachable(names)]),
      centre.unaffected,
    ],
    left,
    topics,
    legend: centre.legend,
    save: centre.save,
    everything: { action: left ? 'return' : 'leave', title, line: line(names), button },
  })
  return page(html, status)
}
