import { escapeHtml } from '../mime/index.js'
import { type Block, type BlockDocument, familyOf, type SimpleBlock } from './document.js'
import { type Inline, inlineOf, paragraphsOf } from './inline.js'

/** The account's colours, used where a document names none. */
export interface BlockColours {
  background: string
  text: string
  button: string
  buttonText: string
}

/** Sets a piece of HTML aside and returns the mark that stands for it. */
type Aside = (piece: string) => string

/** A document's MJML, and the function that puts the set-aside pieces back. */
export interface Markup {
  mjml: string
  restore(html: string): string
}

/**
 * A document as MJML. The compiler makes only the frame: whatever somebody typed is set aside meanwhile, because it
 * rewrites what it reads (mrml 1.6.1 prints attributes within texts as Rust does: a backslash becomes two). `language`
 * is that of the words, which screen readers need.
 */
export function markupOf(
  document: BlockDocument,
  brand: BlockColours,
  { language = 'en' }: { language?: string | undefined } = {},
): Markup {
  const pieces: string[] = []
  const mark = markBeside(JSON.stringify(document))
  const aside: Aside = (piece) => `${mark}${pieces.push(piece) - 1}z`
  const look = lookOf(document, brand)
  const sections = sectionsOf(document.blocks)
    .map((blocks) => sectionOf(blocks, look, aside))
    .join('')
  const mjml = `<mjml lang="${escapeHtml(language)}">${headOf(look)}<mj-body width="${look.width}px" background-color="${look.background}" css-class="ph-ground">${sections}</mj-body></mjml>`
  return {
    mjml,
    restore: (html) =>
      html.replace(new RegExp(`${mark}(\\d+)z`, 'g'), (_, at: string) => pieces[Number(at)] ?? ''),
  }
}

/** A word that occurs nowhere in a text. */
function markBeside(text: string): string {
  let number = 0
  while (text.includes(`ph${number}x`)) number++
  return `ph${number}x`
}

type Look = Required<NonNullable<BlockDocument['colors']>> & { width: number; font: string }

function lookOf({ width = 600, font, colors = {} }: BlockDocument, brand: BlockColours): Look {
  const { background = brand.background, text = brand.text, button = brand.button } = colors
  return {
    width,
    font: familyOf(font),
    background,
    text,
    button,
    page: colors.page ?? background,
    link: colors.link ?? button,
    buttonText: colors.buttonText ?? brand.buttonText,
  }
}

// Mail programs that change colours in dark mode leave alone a mail that has dark rules of its own.
const headOf = ({ font, text, link, button, buttonText }: Look) =>
  `<mj-head><mj-raw><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"></mj-raw><mj-attributes><mj-all font-family='${font}' /><mj-text font-size="16px" line-height="1.5" color="${text}" padding="10px 25px" /><mj-button background-color="${button}" color="${buttonText}" font-size="16px" border-radius="6px" inner-padding="12px 20px" padding="10px 25px" /><mj-section padding="0" /><mj-image padding="10px 25px" /></mj-attributes><mj-style>a{color:${link}}.ph-words p,.ph-words ul,.ph-words ol,.ph-words h1,.ph-words h2,.ph-words h3{margin:0}.ph-words p+p{margin-top:1em!important}@media (prefers-color-scheme:dark){.ph-ground,.ph-page,.ph-page>table{background:#16181d!important;background-color:#16181d!important}.ph-own div,.ph-own p,.ph-own li,.ph-own h1,.ph-own h2,.ph-own h3{color:#e8eaed!important}.ph-own a{color:#8ab4f8!important}}</mj-style></mj-head>`

/** Blocks one below the other share a section; columns have a section of their own. */
function sectionsOf(blocks: readonly Block[]): Block[][] {
  const sections: Block[][] = []
  for (const block of blocks) {
    const last = sections.at(-1)
    if (block.type === 'columns' || last === undefined || last[0]?.type === 'columns') {
      sections.push([block])
    } else last.push(block)
  }
  return sections
}

function sectionOf(blocks: readonly Block[], look: Look, aside: Aside): string {
  const [first] = blocks
  const ground = first?.type === 'columns' ? first.background : undefined
  // A background with its own colour keeps it in dark mode.
  const page = ground === undefined ? ' css-class="ph-page"' : ''
  const columns =
    first?.type === 'columns'
      ? first.columns
      : [blocks.filter((block): block is SimpleBlock => block.type !== 'columns')]
  const inside = columns.map((column) => {
    const content = column.map((block) => blockOf(block, look, aside)).join('')
    return `<mj-column>${content}</mj-column>`
  })
  return `<mj-section background-color="${ground ?? look.page}"${page}>${inside.join('')}</mj-section>`
}

/** One block. The compiler gets strangers' texts only escaped, and only attributes of the checked kinds. */
function blockOf(block: SimpleBlock, look: Look, aside: Aside): string {
  switch (block.type) {
    case 'heading': {
      const { level = 2 } = block
      const size = [30, 24, 19][level - 1]
      const words = paragraphsOf(block.text).flatMap((part, at) =>
        at === 0 ? part : [{ kind: 'break' } as const, ...part],
      )
      const inside = `<h${level} style="margin:0;font-size:${size}px;line-height:1.25">${htmlOf(words)}</h${level}>`
      return wordsOf(aside, block, inside, 'line-height="1.25"')
    }
    case 'text':
      return wordsOf(aside, block, paragraphs(block.text), `font-size="${block.size ?? 16}px"`)
    case 'list': {
      const name = block.numbered ? 'ol' : 'ul'
      // A dot stays beside its words, however these are aligned.
      const at =
        (block.align ?? 'left') === 'left'
          ? 'padding-left:24px'
          : 'padding:0;list-style-position:inside'
      const items = block.items.map((item) => `<li>${htmlOf(inlineOf(item))}</li>`)
      return wordsOf(aside, block, `<${name} style="margin:0;${at}">${items.join('')}</${name}>`)
    }
    case 'social': {
      const links = block.links.map(
        ({ name, url }) => `<a href="${linkTo(url)}">${htmlOf(inlineOf(name))}</a>`,
      )
      return wordsOf(aside, block, links.join(' &#183; '))
    }
    case 'footer': {
      const text = block.text ? paragraphs(block.text) : ''
      const links = `<div>{{ unsubscribe_footer }}</div>`
      return wordsOf(aside, block, text + links, 'font-size="13px"', 'center')
    }
    case 'picture': {
      const link = block.link === undefined ? '' : ` href="${aside(linkTo(block.link))}"`
      const width =
        block.width === undefined ? '' : ` width="${Math.min(block.width, look.width)}px"`
      return `<mj-image src="${aside(attribute(block.url))}" alt="${aside(attribute(block.alt))}"${link}${width} align="${block.align ?? 'left'}"${frameOf(block)} />`
    }
    case 'button': {
      const colours = `${block.color === undefined ? '' : ` background-color="${block.color}"`}${block.textColor === undefined ? '' : ` color="${block.textColor}"`}`
      return `<mj-button href="${aside(linkTo(block.url))}" align="${block.align ?? 'left'}"${colours}${frameOf(block)}>${aside(htmlOf(inlineOf(block.text)))}</mj-button>`
    }
    case 'divider':
      return `<mj-divider border-color="${block.color ?? '#d0d0d0'}" border-width="${block.thickness ?? 1}px"${frameOf(block, 25)} />`
    case 'space':
      return `<mj-spacer height="${block.height}px"${block.background === undefined ? '' : ` container-background-color="${block.background}"`} />`
    case 'html':
      return `<mj-text${frameOf(block, 0)}>${aside(block.html)}</mj-text>`
  }
}

/** A block of words. In dark mode, words without a colour of their own get the dark mode's. */
function wordsOf(
  aside: Aside,
  block: Framed & { align?: string; color?: string },
  inside: string,
  attributes = '',
  usual = 'left',
): string {
  const own = block.color === undefined && block.background === undefined ? ' ph-own' : ''
  const colour = block.color === undefined ? '' : ` color="${block.color}"`
  return `<mj-text css-class="ph-words${own}" align="${block.align ?? usual}"${colour} ${attributes}${frameOf(block)}>${aside(inside)}</mj-text>`
}

type Framed = { background?: string; above?: number; below?: number }

const frameOf = ({ background, above = 10, below = 10 }: Framed, sides = 25) =>
  ` padding="${above}px ${sides}px ${below}px ${sides}px"${background === undefined ? '' : ` container-background-color="${background}"`}`

const paragraphs = (text: string) =>
  paragraphsOf(text)
    .map((part) => `<p>${htmlOf(part)}</p>`)
    .join('')

const htmlOf = (words: readonly Inline[]): string => words.map((one) => pieceOf(one)).join('')

function pieceOf(one: Inline): string {
  switch (one.kind) {
    case 'text':
      return escapeHtml(one.text)
    case 'tag':
      return one.liquid
    case 'break':
      return '<br />'
    case 'bold':
      return `<b>${htmlOf(one.inside)}</b>`
    case 'italic':
      return `<i>${htmlOf(one.inside)}</i>`
    case 'link':
      return `<a href="${linkTo(one.url)}">${htmlOf(one.inside)}</a>`
  }
}

/**
 * A text in an attribute. A quote within Liquid would end the attribute for whatever reads the HTML before it is filled
 * in.
 */
const attribute = (text: string, ofBoth: (tag: string) => string = (tag) => tag) =>
  text
    .split(/(\{\{[^{}]*\}\}|\{%.*?%\})/s)
    .map((part, at) => {
      if (at % 2 === 0) return escapeHtml(part)
      return part.includes("'") && part.includes('"') ? ofBoth(part) : part.replaceAll('"', "'")
    })
    .join('')

/** In a link, a tag with both kinds of quotes is percent-encoded, as editors write it (`templates/encoded-tags.ts`). */
const linkTo = (text: string) =>
  attribute(text, (tag) => (tag.startsWith('{{') ? encodeURIComponent(tag) : tag))
