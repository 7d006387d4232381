import type { BlockDocument, BlockType } from '../../blocks/index.js'

/** A question of a block's card. `lines` are a list with an item a line, `links` one with 'words https://…' a line. */
export interface BlockQuestion {
  name: string
  label: string
  kind: 'line' | 'text' | 'lines' | 'links' | 'code' | 'number' | 'colour' | 'tick' | 'choice'
  options?: readonly { value: string; label: string }[]
  hint?: string
  /** How it is asked in a notice that everybody must get. */
  inNotice?: { label: string; hint: string }
  /** Stands behind 'Look', which most leave as it is. */
  look?: true
  /** Offers the account's pictures beside what is typed; while there are none this is its hint. */
  offersPictures?: { orElse: string }
}

const align: BlockQuestion = {
  name: 'align',
  label: 'Where it stands',
  kind: 'choice',
  options: [
    { value: '', label: 'As usual' },
    { value: 'left', label: 'Left' },
    { value: 'center', label: 'In the middle' },
    { value: 'right', label: 'Right' },
  ],
  look: true,
}
const colour = (name: string, label: string): BlockQuestion => ({
  name,
  label,
  kind: 'colour',
  look: true,
})
const space = (name: string, label: string): BlockQuestion => ({
  name,
  label,
  kind: 'number',
  look: true,
})
const frame = [
  colour('background', 'Colour behind it'),
  space('above', 'Pixels above'),
  space('below', 'Pixels below'),
]
const ofWords = [align, colour('color', 'Colour of the words'), ...frame]

/** What the card of each kind of block asks for. */
export const questions: Readonly<Record<BlockType, readonly BlockQuestion[]>> = {
  heading: [
    { name: 'text', label: 'Words', kind: 'line' },
    {
      name: 'level',
      label: 'Size',
      kind: 'choice',
      options: [
        { value: '1', label: 'Large' },
        { value: '', label: 'Usual' },
        { value: '3', label: 'Small' },
      ],
    },
    ...ofWords,
  ],
  text: [
    { name: 'text', label: 'Words', kind: 'text' },
    space('size', 'Size in pixels'),
    ...ofWords,
  ],
  picture: [
    {
      name: 'url',
      label: 'Address of the picture',
      kind: 'line',
      hint: 'Choose one of your pictures below, which brings what it shows, or type https://…',
      offersPictures: { orElse: 'Type https://…, or add a picture of yours below.' },
    },
    {
      name: 'alt',
      label: 'What it shows',
      kind: 'line',
      hint: 'For people who do not see it. Empty where it only decorates.',
    },
    { name: 'link', label: 'Leads to', kind: 'line', hint: 'https://…, or empty' },
    {
      ...space('width', 'Width in pixels'),
      hint: 'Empty: as wide as one of your pictures is, and at most as the mail.',
    },
    align,
    ...frame,
  ],
  button: [
    { name: 'text', label: 'Words on it', kind: 'line' },
    { name: 'url', label: 'Leads to', kind: 'line', hint: 'https://…' },
    align,
    colour('color', 'Colour of the button'),
    colour('textColor', 'Colour of its words'),
    ...frame,
  ],
  divider: [colour('color', 'Colour'), space('thickness', 'Pixels thick'), ...frame],
  space: [
    { name: 'height', label: 'Height in pixels', kind: 'number' },
    colour('background', 'Colour'),
  ],
  list: [
    { name: 'items', label: 'Items, one a line', kind: 'lines' },
    { name: 'numbered', label: 'Numbered', kind: 'tick' },
    ...ofWords,
  ],
  social: [
    { name: 'links', label: 'Links, one a line', kind: 'links', hint: 'Mastodon https://…' },
    align,
    colour('color', 'Colour of the links'),
    ...frame,
  ],
  footer: [
    {
      name: 'text',
      label: 'Words above the links to unsubscribe',
      kind: 'text',
      hint: 'Such as why people get this. The links and your postal address follow by themselves.',
      inNotice: {
        label: 'Words above your postal address',
        hint: 'Such as why people get this. Your postal address follows by itself; a notice has no link to unsubscribe.',
      },
    },
    align,
    colour('color', 'Colour of the words'),
    ...frame,
  ],
  html: [{ name: 'html', label: 'HTML', kind: 'code' }, ...frame],
  columns: [colour('background', 'Colour behind it')],
}

/** What blocks are called where people choose one, the most usual first, which a browser has chosen. */
export const blockNames: Readonly<Record<BlockType, string>> = {
  text: 'Text',
  heading: 'Heading',
  picture: 'Picture',
  button: 'Button',
  list: 'List',
  columns: 'Columns',
  divider: 'Line',
  space: 'Space',
  social: 'Links',
  footer: 'Footer',
  html: 'HTML',
}

/** The kind of block that people call so, or whose name in a document that is. */
export const kindNamed = (name: string | undefined): BlockType | undefined =>
  (Object.keys(blockNames) as BlockType[]).find((one) => one === name || blockNames[one] === name)

/** A block as it is added: enough of it that one sees where it stands. */
export const newBlock: Readonly<Record<BlockType, Readonly<Record<string, unknown>>>> = {
  heading: { text: 'A heading' },
  text: { text: 'Write here what you have to say.' },
  // Empty: else a browser offers those pictures alone whose addresses begin like that.
  picture: { url: '', alt: '' },
  button: { text: 'Have a look', url: 'https://' },
  list: { items: ['First', 'Second'] },
  columns: { columns: [[{ type: 'text', text: 'Left' }], [{ type: 'text', text: 'Right' }]] },
  divider: {},
  space: { height: 24 },
  social: { links: [{ name: 'Our site', url: 'https://' }] },
  footer: {},
  html: { html: '<p>…</p>' },
}

/** What a new mail of blocks begins with: one sees what there is, and how a name comes in. */
export const firstBlocks: BlockDocument = {
  version: 1,
  blocks: [
    { type: 'heading', level: 1, text: 'Hello {{ firstName | default: "there" }}' },
    { type: 'text', text: 'Write here what you have to say.' },
    { type: 'button', text: 'Have a look', url: 'https://example.com/' },
    { type: 'divider' },
    { type: 'footer' },
  ],
}
