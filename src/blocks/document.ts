import { refine } from 'superstruct'
import {
  colour,
  type Field,
  field,
  flag,
  list,
  maybe,
  oneOf,
  someLines,
  structOf,
  suchAs,
  type TypeOf,
  table,
  text,
  textThat,
  variants,
  whole,
} from '../fields/index.js'
import { isLinkTarget } from './target.js'

/*
 * The content of a mail as blocks, for people who write no HTML. It is data: only what stands here is a block, and
 * `markup.ts` makes the HTML.
 */

/** How many blocks a document may have, including those in columns. */
export const maxBlocks = 200
/** How many bytes of JSON a document may have. */
export const maxDocumentBytes = 256 * 1024
const maxText = 20_000

const maybeColour = (about: string) => maybe(colour(about))

// Characters are counted as people and JSON Schema do: one beyond U+FFFF counts once, though its length is two.
const hasRoom = (value: string) =>
  value.length <= maxText || (value.length <= 2 * maxText && [...value].length <= maxText)

/** Whether a text has no control characters but line ends and tabs. */
const isProse = (value: string) =>
  hasRoom(value) && value.isWellFormed() && !/[^\P{Cc}\r\n\t]/u.test(value)

const prose = (about: string) =>
  textThat(
    `a text of at most ${maxText} characters`,
    isProse,
    text(about, { maxLength: maxText }),
    someLines(0, maxText),
  )

const inlineRules =
  '`**bold**`, `*italic*`, `[words](https://…)`, merge tags; an empty line begins a paragraph, `\\*` is a star'

const isTarget = (value: string) => isProse(value) && value.length <= 2000 && isLinkTarget(value)

const target = (about: string) =>
  textThat(
    'a link with https, http, mailto or tel, or a merge tag',
    isTarget,
    { type: 'string', maxLength: 2000, description: about },
    suchAs('a link or a merge tag', 'https://www.example.com'),
  )

const align = maybe(
  oneOf(['left', 'center', 'right'], 'Where it stands; the default is left, of a footer center'),
)
const ground = maybeColour('Behind the block; by default nothing')
const space = (side: string) =>
  maybe(whole(`Empty pixels ${side} it; the default is 10`, { least: 0, most: 100 }))
const frame = {
  id: maybe(
    textThat('1 to 40 of a-z, 0-9 and "-"', (value) => /^[a-z0-9-]{1,40}$/.test(value), {
      type: 'string',
      pattern: '^[a-z0-9-]{1,40}$',
      description: 'A name for yourself, which nothing is made of',
    }),
  ),
  background: ground,
  above: space('above'),
  below: space('below'),
}

const simple = {
  heading: {
    text: prose(`The words: ${inlineRules}`),
    level: maybe(whole('1 is the largest; the default is 2', { least: 1, most: 3 })),
    align,
    color: maybeColour('Of the words'),
    ...frame,
  },
  text: {
    text: prose(`The words: ${inlineRules}`),
    size: maybe(whole('In pixels; the default is 16', { least: 10, most: 40 })),
    align,
    color: maybeColour('Of the words'),
    ...frame,
  },
  picture: {
    url: target('Where the picture is'),
    alt: prose(
      'What it shows, for who does not see it; empty where it says nothing that the words do not',
    ),
    width: maybe(
      whole(
        'In pixels; the default is the width of the picture where the account has it, and else the whole width',
        { least: 8, most: 800 },
      ),
    ),
    link: maybe(target('Where a click leads')),
    align,
    ...frame,
  },
  button: {
    text: prose('The words on it; merge tags'),
    url: target('Where it leads'),
    align,
    color: maybeColour('Of the button'),
    textColor: maybeColour('Of its words'),
    ...frame,
  },
  divider: {
    color: maybeColour('Of the line'),
    thickness: maybe(whole('In pixels; the default is 1', { least: 1, most: 20 })),
    ...frame,
  },
  space: { height: whole('In pixels', { least: 1, most: 200 }), background: ground, id: frame.id },
  list: {
    items: list(prose(`An item: ${inlineRules}`), { least: 1, most: 100 }),
    numbered: maybe(flag('Numbers in place of dots')),
    align,
    color: maybeColour('Of the words'),
    ...frame,
  },
  social: {
    links: list(
      table(
        { name: prose('The words of the link'), url: target('Where it leads') },
        { noOthers: true },
      ),
      { least: 1, most: 12, about: 'Links side by side' },
    ),
    align,
    color: maybeColour('Of the links'),
    ...frame,
  },
  footer: {
    text: maybe(prose(`What stands above the links to unsubscribe: ${inlineRules}`)),
    align,
    color: maybeColour('Of the words'),
    ...frame,
  },
  html: { html: prose('HTML as it is'), ...frame },
} as const

const block = variants('type', simple)
/** A block that may stand in a column, or by itself. */
export type SimpleBlock = TypeOf<typeof block>

const anyBlock = variants('type', {
  ...simple,
  columns: {
    columns: list(list(block, { most: 50 }), {
      least: 2,
      most: 3,
      about: 'Side by side; on a phone one below the other',
    }),
    background: ground,
    id: frame.id,
  },
})
export type Block = TypeOf<typeof anyBlock>
/** The type names that tell blocks apart. */
export type BlockType = Block['type']

const fonts = {
  sans: 'Arial, Helvetica, sans-serif',
  serif: 'Georgia, "Times New Roman", serif',
  verdana: 'Verdana, Geneva, sans-serif',
  mono: '"Courier New", Courier, monospace',
} as const
/** The font families behind a font's name, all of which mail programs have. */
export const familyOf = (font: keyof typeof fonts = 'sans'): string => fonts[font]
const fontNames = Object.keys(fonts) as (keyof typeof fonts)[]

const documentFields = {
  version: whole('Always 1', { least: 1, most: 1 }),
  width: maybe(whole('In pixels; the default is 600', { least: 320, most: 800 })),
  font: maybe(oneOf(fontNames, 'The default is sans')),
  colors: maybe(
    table(
      {
        background: maybeColour('Around the mail'),
        page: maybeColour('Behind the blocks'),
        text: maybeColour('Of words'),
        link: maybeColour('Of links'),
        button: maybeColour('Of buttons'),
        buttonText: maybeColour('Of the words on buttons'),
      },
      { noOthers: true, about: "Those that are not given are the account's brand" },
    ),
  ),
  blocks: list(anyBlock, { most: maxBlocks, about: 'From the top down' }),
}

const document = table(documentFields, { noOthers: true })
/** A mail of blocks. */
export type BlockDocument = TypeOf<typeof document>

/**
 * How many blocks there are, including those in columns. It is asked also of values that turn out to be no document.
 */
const countOf = (blocks: unknown): number =>
  (Array.isArray(blocks) ? (blocks as unknown[]) : []).reduce((sum: number, one) => {
    const { columns } = (one ?? {}) as { columns?: unknown }
    return sum + 1 + (Array.isArray(columns) ? columns.flat().length : 0)
  }, 0)

function fits(given: BlockDocument): true | string {
  const blocks = countOf(given.blocks)
  if (blocks > maxBlocks) {
    return `It has ${blocks} blocks, those in columns counted, and may have ${maxBlocks} at most`
  }
  const bytes = Buffer.byteLength(JSON.stringify(given))
  return (
    bytes <= maxDocumentBytes ||
    `It has ${bytes} bytes of JSON, and may have ${maxDocumentBytes} at most`
  )
}

/** The field of a document: checked block by block, and bounded as a whole. */
export const blockDocument: Field<BlockDocument> = field(
  refine(structOf(document), 'document', fits),
  document.schema,
)
