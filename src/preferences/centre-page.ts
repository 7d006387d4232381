import { type AccountFace, accountFace, logoById } from '../accounts/index.js'
import { isNameField } from '../contact-fields/index.js'
import type { Form, Page, PageRequest, Pages } from '../http/index.js'
import type { Read } from '../store/index.js'
import { lift, suppressionsOf } from '../suppression/index.js'
import {
  getsSomeTopic,
  listTopics,
  optIn,
  optOut,
  type Topic,
  topicsAmong,
  topicsLeftBy,
} from '../topics/index.js'
import { stringsFor } from './addressed.js'
import { alone } from './alone.js'
import { coloursPath } from './colours.js'
import { erasedPage } from './erased-page.js'
import type { PreferenceLinks, Recipient } from './link.js'
import { type EditableField, editableFields, saveFields } from './own-fields.js'
import { askedReason, isToSayWhy, keepReason, reasonIn } from './reason.js'
import type { Strings } from './strings.js'
import {
  isBackTooOften,
  isOfTest,
  resubscribe,
  type SubscriptionDeps,
  unsubscribe,
} from './subscription.js'
import { type CentreView, deadLink, logoOf, page, renderCentre } from './view.js'

/** What the page needs. */
interface CentrePageDeps extends SubscriptionDeps {
  preferenceLinks: PreferenceLinks
}

/** A link that was made here, for an account that is still there. */
interface Opened {
  recipient: Recipient
  face: AccountFace
  /** Its `Accept-Language`. */
  browser?: string | undefined
}

const path = '/preferences/:token'
// An account may have thousands of topics, and a form has at most 1,000 fields.
const perPage = 100
// 50 fields of 300 letters, each letter of nine bytes as forms write other scripts, and as much again for the stored
// values.
const maxBodyBytes = 256 * 1024

/** The preference centre: which topics an address gets, or nothing at all. */
export function centrePage(pages: Pages, deps: CentrePageDeps): void {
  const opened = async ({
    params: { token = '' },
    header,
  }: PageRequest): Promise<Opened | undefined> => {
    const recipient = deps.preferenceLinks.read(token)
    const face = recipient && (await accountFace(deps.store.read, recipient.accountId))
    return face && { recipient, face, browser: header('accept-language') }
  }

  const ofErased = ({ recipient, face, browser }: Opened) =>
    erasedPage(deps.store.read, recipient, face, browser)

  pages.get(path, async (request) => {
    const { query } = request
    const link = await opened(request)
    if (link === undefined) return deadLink(request)
    return (await ofErased(link)) ?? (await show(deps, link, partIn(query)))
  })

  // As on the unsubscribe page, the link is the proof. The answer is the page itself, with the result: sending it twice
  // is as once.
  pages.post(path, { crossSite: true, maxBodyBytes }, async (request) => {
    const { query, form } = request
    const link = await opened(request)
    if (link === undefined) return deadLink(request)
    const erased = await ofErased(link)
    if (erased !== undefined) return erased
    const part = partIn(query)
    switch (form.get('action')) {
      case 'save': {
        const hasLeft = await saveChoices(deps, link.recipient, savedBy(form))
        return await show(deps, link, part, { after: 'save', hasLeft })
      }
      case 'leave':
        await unsubscribe(deps, link.recipient, 'Preference centre')
        return await show(deps, link, part, { after: 'leave', hasLeft: true })
      case 'reason': {
        const said = reasonIn(form)
        const isKept = said !== undefined && (await keepReason(deps, link.recipient, said))
        return await show(deps, link, part, isKept ? { after: 'reason' } : { hasLeft: true })
      }
      case 'fields': {
        const wrong = await saveFields(deps, link.recipient, form)
        if (wrong === undefined) return await show(deps, link, part, { after: 'fields' })
        return await show(deps, link, part, { after: 'wrong', wrong, status: 422 })
      }
      case 'return': {
        const isBack = await resubscribe(deps, link.recipient)
        return await show(deps, link, part, isBack ? { after: 'return' } : {})
      }
      default:
        return await show(deps, link, part, { status: 400 })
    }
  })
}

/** The part of the topics that is asked for, from 1 on. */
function partIn(query: URLSearchParams): number {
  const asked = query.get('part') ?? ''
  return /^[1-9]\d{0,3}$/.test(asked) ? Number(asked) : 1
}

/** What the form says. */
const savedBy = (form: Form): Saved => ({
  shown: new Set(form.all('shown')),
  ticked: new Set(form.all('topic')),
  showedLeft: form.get('left') === 'yes',
})

interface Course {
  /** The button that was pressed; `wrong`: a field could not be saved. */
  after?: 'save' | 'leave' | 'return' | 'reason' | 'fields' | 'wrong'
  /** They left something just now, and may say why unless they have said it. */
  hasLeft?: boolean
  /** The fields as they were typed. */
  wrong?: EditableField[]
}

/** The page as things stand. */
async function show(
  { store: { read } }: CentrePageDeps,
  link: Opened,
  part: number,
  { status = 200, ...course }: Course & { status?: number } = {},
): Promise<Page> {
  const { recipient } = link
  const fields = course.wrong ?? (await editableFields(read, recipient))
  return page(await centreOf(read, { ...link, fields }, part, course), status)
}

// Nobody's address (RFC 2606 §2), so that nothing is known of it.
const nobody = 'reader@mail.invalid'

/** The page as somebody who gets everything sees it, as one document; undefined: there is no such account. */
export async function sampleCentre(read: Read, accountId: string): Promise<string | undefined> {
  const face = await accountFace(read, accountId)
  if (face === undefined) return undefined
  const logo = face.logoId === null ? undefined : await logoById(read, face.logoId)
  const recipient = { accountId, address: nobody, emailId: undefined }
  const fields = await editableFields(read, recipient, true)
  return alone(await centreOf(read, { recipient, face, fields }, 1), logo)
}

/** The HTML of the page. */
async function centreOf(
  read: Read,
  { recipient, face, browser, fields }: Opened & { fields: readonly EditableField[] },
  part: number,
  { after, hasLeft = false }: Course = {},
): Promise<string> {
  const { left, reachable, getsSome, topics, hasMore } = await readChoices(read, recipient, part)
  const strings = await stringsFor(read, face, recipient, browser)
  const names = { account: face.name, address: recipient.address }
  const asksWhy = hasLeft && (await isToSayWhy(read, recipient))
  const { centre } = strings
  const messages = {
    save: left ? centre.status.stillLeft : getsSome ? centre.status.saved : centre.status.savedNone,
    leave: centre.status.left,
    return: centre.status.back,
    reason: strings.reason.thanks,
    fields: centre.fields.saved,
    wrong: centre.fields.notSaved,
  }
  const { title, line, button } = left ? centre.comeBack : centre.leave
  return renderCentre({
    language: strings.language,
    title: centre.title(names),
    logo: logoOf(face),
    colours: coloursPath(face.colours),
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
    parts: partLinks(strings, part, hasMore),
    reason: asksWhy ? askedReason(strings) : undefined,
    fields: fieldsView(centre.fields, face.name, fields),
    everything: { action: left ? 'return' : 'leave', title, line: line(names), button },
  })
}

const autocompletes = { firstName: 'given-name', lastName: 'family-name' } as const

/** The fields that they may change of what is known of them. */
function fieldsView(
  { title, line, none, save, wrong }: Strings['centre']['fields'],
  account: string,
  fields: readonly EditableField[],
): CentreView['fields'] {
  if (fields.length === 0) return undefined
  return {
    title: title({ account, address: '' }),
    line,
    none,
    save,
    rows: fields.map(({ name, wasName, field, value, was, isWrong }) => ({
      name,
      wasName,
      label: field.label,
      type: field.type,
      value,
      was,
      choices: field.choices,
      autocomplete: isNameField(field.name) ? autocompletes[field.name] : undefined,
      fault: isWrong ? wrong[field.type] : undefined,
    })),
  }
}

function partLinks({ centre }: Strings, part: number, hasMore: boolean): CentreView['parts'] {
  const { line, earlier, more } = centre.parts
  const links = [
    ...(part > 1 ? [{ href: `?part=${part - 1}`, text: earlier, rel: 'prev' }] : []),
    ...(hasMore ? [{ href: `?part=${part + 1}`, text: more, rel: 'next' }] : []),
  ]
  return links.length === 0 ? undefined : { line, links }
}

/** What a recipient gets from an account, as things stand. */
interface Choices {
  /** Unsubscribed from everything, also from future topics. */
  left: boolean
  /** False when something that the recipient may not lift keeps mail from the address. */
  reachable: boolean
  /** They get at least one topic, on whatever part of the page. */
  getsSome: boolean
  /** The topics of one part that are not archived, in their order. */
  topics: (Topic & { chosen: boolean })[]
  hasMore: boolean
}

/** What a submitted page says. */
interface Saved {
  /** Ids of the topics that the page showed. */
  shown: ReadonlySet<string>
  /** The shown topics that are ticked. */
  ticked: ReadonlySet<string>
  /** Whether the page said that the recipient was unsubscribed from everything. */
  showedLeft: boolean
}

/** What the recipient gets now. */
async function readChoices(
  read: Read,
  { accountId, address }: Recipient,
  part: number,
): Promise<Choices> {
  const reasons = await suppressionsOf(read, accountId, address)
  const left = reasons.some(isLeaving)
  const gone = new Set(await topicsLeftBy(read, accountId, address))
  const asked = { limit: perPage + 1, offset: (part - 1) * perPage }
  const found = await listTopics(read, accountId, asked)
  const topics = found.slice(0, perPage)
  return {
    left,
    reachable: reasons.every(isLeaving),
    getsSome: !left && (await getsSomeTopic(read, accountId, address)),
    topics: topics.map((topic) => ({ ...topic, chosen: !left && !gone.has(topic.id) })),
    hasMore: found.length > perPage,
  }
}

const isLeaving = ({ reason }: { reason: string }) => reason === 'unsubscribe'

/**
 * Applies what the page showed, in one transaction: each topic on it becomes as it was ticked, whatever another page
 * has said meanwhile; other topics stay as they are. A tick lifts an unsubscribe from everything (`interface.md`,
 * Suppression), and nothing else that blocks. Resolves with whether a topic was left.
 */
async function saveChoices(
  { store, clock }: SubscriptionDeps,
  { accountId, address, emailId }: Recipient,
  { shown, ticked, showedLeft }: Saved,
): Promise<boolean> {
  if (isOfTest({ emailId })) return false
  return await store.write(async (tx) => {
    const at = clock.now()
    // Archived topics too: one may have been archived since the page was opened. Other accounts' topics are not found.
    const seen = await topicsAmong(tx, accountId, [...shown])
    const comesBack = seen.some(({ id }) => ticked.has(id))
    // Whoever stays unsubscribed keeps the earlier choice of topics, to come back to.
    if (showedLeft && !comesBack) {
      const reasons = await suppressionsOf(tx, accountId, address)
      if (reasons.some(isLeaving)) return false
    }
    const gone = new Set(await topicsLeftBy(tx, accountId, address))
    const mayReturn = comesBack && !(await isBackTooOften(tx, { accountId, address }, at))
    let hasLeft = false
    for (const { id: topicId } of seen) {
      const change = { topicId, address, emailId }
      if (ticked.has(topicId)) {
        if (gone.has(topicId) && mayReturn) await optIn(tx, accountId, change, at)
      } else if (!gone.has(topicId)) {
        hasLeft = (await optOut(tx, accountId, change, at)) || hasLeft
      }
    }
    if (!mayReturn) return hasLeft
    const lifting = { by: 'recipient', at, reasons: ['unsubscribe'], emailId } as const
    await lift(tx, accountId, address, lifting)
    return hasLeft
  }, accountId)
}
