import { brandOf, contrastOf, leastContrast, shownContrast } from '../../accounts/index.js'
import { counted } from '../../amounts/index.js'
import type { BlockDocument } from '../../blocks/index.js'
import { type Broadcast, blocksOf, renderFor } from '../../broadcasts/index.js'
import { ApiError } from '../../errors/index.js'
import { textOfHtml } from '../../mime/index.js'
import type { Read } from '../../store/index.js'
import { asTags, copyTags, stranger } from '../../templates/index.js'
import { typedOf } from '../blocks/form.js'
import { oddWordsIn } from '../blocks/odd-words.js'
import type { Followed } from '../sandbox/follow-links.js'
import { checkLinks, type LinkCheck } from '../sandbox/link-check.js'
import { gmailClipBytes, subjectFindings } from '../sandbox/mail-check.js'
import type { CampaignCheck } from './check.js'
import type { CampaignPageDeps } from './deps.js'
import { fewWordsIn } from './few-words.js'
import { weakWordsOf } from './html-contrast.js'
import { punishedIn } from './html-punished.js'
import { layoutWords } from './layout-words.js'
import { spamWords } from './spam-words.js'
import { shown } from './words.js'

// Of many faults a page has room for these.
const mostTold = 3
/** Of longer HTML no text is made for a page, and no link is looked at: tenths of a second for which others would wait. */
export const mostLookedAt = 512 * 1024

/** A draft as somebody of whom nothing is known gets it. */
export interface RenderedDraft {
  subject: string
  html: string
  /** Undefined: the HTML is too long to be looked at. */
  looked: { text: string; links: LinkCheck } | undefined
}

/** Undefined where it does not render, which is told elsewhere. */
export async function renderedDraft(
  { renderer }: Pick<CampaignPageDeps, 'renderer'>,
  draft: Broadcast,
  html: string,
): Promise<RenderedDraft | undefined> {
  if (html.trim() === '' || draft.subject.trim() === '') return undefined
  const content = { subject: draft.subject, html, previewText: draft.preview_text ?? undefined }
  try {
    const made = await renderFor(renderer, draft.account_id, content, stranger)
    const looked = made.html.length > mostLookedAt ? undefined : lookInto(made.html)
    return { subject: made.subject, html: asTags(made.html), looked }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return undefined
  }
}

function lookInto(html: string): NonNullable<RenderedDraft['looked']> {
  const { text } = textOfHtml(html)
  const all = checkLinks(html, text)
  // Those that each copy has of its own are the appliance's.
  const links = all.links.filter(({ url }) => !ownTags.some((tag) => url.includes(tag)))
  return { text, links: { links, total: all.total - (all.links.length - links.length) } }
}

const ownTags = Object.values(copyTags)

/** What speaks for and against the content. `followed`: what answered, where somebody has asked. */
export async function contentChecks(
  read: Read,
  draft: Broadcast,
  { subject, html, looked }: RenderedDraft,
  { mend, followed }: { mend: CampaignCheck['mend']; followed?: readonly Followed[] | undefined },
): Promise<CampaignCheck[]> {
  const doubt = (says: string): CampaignCheck => ({ tone: 'doubt', says, ...(mend && { mend }) })
  const good = (says: string): CampaignCheck => ({ tone: 'good', says })
  const size = Buffer.byteLength(html)
  const kb = `${Math.ceil(size / 1024)} KB`
  return [
    ...subjectFindings(subject)
      .filter(({ tone }) => tone !== 'good')
      .map(({ sentence }) => doubt(sentence)),
    size > gmailClipBytes
      ? doubt(`The HTML has ${kb}: Gmail cuts a mail after 102 KB.`)
      : good(`The HTML has ${kb}, under the 102 KB at which Gmail cuts.`),
    ...(looked === undefined
      ? [doubt('It is too long for its text, links and pictures to be looked at here.')]
      : [
          ...insideChecks(looked, { doubt, good }),
          ...clientChecks(draft, { html, text: looked.text }, { doubt, good }),
        ]),
    ...(draft.archive === 0 && html.includes(asTags(copyTags.view_url))
      ? [
          doubt(
            'A link leads to {{ view_url }}, which is empty: tick “Show it on your public page of past campaigns”, or take the link out.',
          ),
        ]
      : []),
    ...layoutChecks(draft, { doubt, good }),
    ...oddWordsIn(typedOf(blocksOf(draft) ?? noBlocks).blocks).map(({ card, says }) =>
      doubt(`${card}: ${says}`),
    ),
    ...answerChecks(followed, { doubt, good }),
    ...wordChecks(`${subject} ${looked?.text ?? ''}`, { doubt }),
    ...(await contrastChecks(read, draft, { html, looked }, { doubt, good })),
  ]
}

const noBlocks: BlockDocument = { version: 1, blocks: [] }

function insideChecks(
  { text, links: { links, total } }: NonNullable<RenderedDraft['looked']>,
  says: Says,
): CampaignCheck[] {
  const pictures = links.filter(({ where }) => where === 'picture').length
  return [
    text.trim() === ''
      ? says.doubt('The text part is empty: readers without HTML see nothing.')
      : says.good('The text part is made from the HTML.'),
    ...linkChecks(links, total - pictures, says),
  ]
}

/** What clients do to it, and whether there are words to be read. */
function clientChecks(
  draft: Broadcast,
  { html, text }: { html: string; text: string },
  { doubt, good }: Says,
): CampaignCheck[] {
  const few = fewWordsIn(html, text)
  // What blocks are made into is written for all clients; a card of HTML is as it was typed.
  const written = blocksOf(draft) === null ? html : writtenIn(blocksOf(draft))
  const punished = written === '' ? [] : punishedIn(written)
  return [
    ...(few === undefined ? [] : [doubt(few)]),
    ...punished.map(doubt),
    ...(punished.length > 0 || written === ''
      ? []
      : [
          good(
            'Nothing in its HTML is taken out by mail programs, by the table of what they show.',
          ),
        ]),
  ]
}

/** The HTML that somebody has written in cards. */
const writtenIn = (document: BlockDocument | null): string =>
  (document?.blocks ?? [])
    .flatMap((block) => (block.type === 'columns' ? block.columns.flat() : [block]))
    .flatMap((block) => (block.type === 'html' ? [block.html] : []))
    .join('\n')

interface Says {
  doubt: (says: string) => CampaignCheck
  good: (says: string) => CampaignCheck
}

/** What is wrong with links and pictures, that can be seen without asking for them. */
function linkChecks(links: LinkCheck['links'], count: number, { doubt, good }: Says) {
  const wrong = links.filter(({ faults }) => faults.length > 0)
  if (wrong.length === 0) {
    return [
      good(
        count === 0 ? 'There is no link in it.' : 'Nothing is wrong with its links and pictures.',
      ),
    ]
  }
  const told = wrong.slice(0, mostTold).map(({ url, where, faults }) => {
    const what = where === 'picture' ? 'The picture' : 'The link'
    return doubt(`${what} ${url.slice(0, 100) || '(empty)'}: ${faults.join(' ')}`)
  })
  const more = wrong.length - told.length
  return more === 0 ? told : [...told, doubt(`And ${shown(more)} more with a fault.`)]
}

// Longer ones are cut where a word ends.
const mostOfWords = 60
const cutWords = (words: string) =>
  words.length <= mostOfWords
    ? words
    : `${words.slice(0, mostOfWords + 1).replace(/\s+\S*$/, '')} …`

/** What a layout says where somebody was to write. */
function layoutChecks(draft: Broadcast, { doubt }: Says): CampaignCheck[] {
  const document = blocksOf(draft)
  const left = document === null ? [] : layoutWords(document)
  if (left.length === 0) return []
  const told = left.slice(0, mostTold).map((words) => `“${cutWords(words)}”`)
  const more = left.length > told.length ? ` and ${shown(left.length - told.length)} more` : ''
  return [
    doubt(`These words are the layout’s, and nobody has changed them: ${told.join(', ')}${more}.`),
  ]
}

/** What the servers said. */
function answerChecks(followed: readonly Followed[] | undefined, { doubt, good }: Says) {
  if (followed === undefined) return []
  const dead = followed.filter((one) => !one.good)
  if (dead.length === 0) {
    return [
      good(`${counted(followed.length, 'link was', 'links were')} asked for, and all answered.`),
    ]
  }
  return dead
    .slice(0, mostTold)
    .map(({ url, sentence }) => doubt(`${url.slice(0, 100)}: ${sentence}`))
}

/** Words that filters hold against whoever writes them. */
function wordChecks(text: string, { doubt }: Pick<Says, 'doubt'>): CampaignCheck[] {
  const words = spamWords(text)
  if (words.length === 0) return []
  const told = words.slice(0, mostWords).map((one) => `“${one}”`)
  const more = words.length > told.length ? ` and ${shown(words.length - told.length)} more` : ''
  return [
    doubt(
      `Filters give points for these words, and several of them may make it spam: ${told.join(', ')}${more}.`,
    ),
  ]
}

const mostWords = 6

/**
 * Whether words can be read before what is behind them: of blocks by their colours, of HTML by what its tags say, as far as it
 * is shown.
 */
async function contrastChecks(
  read: Read,
  draft: Broadcast,
  { html, looked }: Pick<RenderedDraft, 'html' | 'looked'>,
  { doubt, good }: Says,
) {
  const document = blocksOf(draft)
  if (document === null && looked === undefined) return []
  const weak =
    document === null
      ? weakWordsOf(html.slice(0, gmailClipBytes)).map(({ words, contrast }) => ({
          what: `The words “${words}”`,
          contrast,
        }))
      : weakPairs(document, (await brandOf(read, draft.account_id)).colours)
  if (weak.length === 0) return [good('All words stand out from what is behind them.')]
  return weak
    .slice(0, mostTold)
    .map((pair) =>
      doubt(
        `${pair.what} are hard to read: their contrast is ${shownContrast(pair.contrast)}, and ${leastContrast} is wanted.`,
      ),
    )
}

type Colours = Awaited<ReturnType<typeof brandOf>>['colours']

/** Words whose colour is too near to what is behind them, each pair of colours once. */
function weakPairs(document: BlockDocument, brand: Colours) {
  const { colors = {} } = document
  const page = colors.page ?? colors.background ?? brand.background
  const words = colors.text ?? brand.text
  const button = colors.button ?? brand.button
  const onButton = colors.buttonText ?? brand.buttonText
  const found = new Map<string, { what: string; contrast: number }>()
  const look = (what: string, one: string, other: string) => {
    const contrast = contrastOf(one, other)
    if (contrast < leastContrast) found.set(`${one} ${other}`, { what, contrast })
  }
  for (const block of document.blocks) {
    const parts = block.type === 'columns' ? block.columns.flat() : [block]
    const behind = (block.type === 'columns' && block.background) || page
    for (const part of parts) {
      const ground = ('background' in part && part.background) || behind
      if (part.type === 'button') {
        look('The words on a button', part.textColor ?? onButton, part.color ?? button)
      } else if ('color' in part && part.type !== 'divider') {
        look('Some words', part.color ?? words, ground)
      } else if (part.type === 'text' || part.type === 'heading') look('Some words', words, ground)
    }
  }
  return [...found.values()]
}
