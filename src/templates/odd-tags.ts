import type { BlockDocument } from '../blocks/index.js'
import { copyTags } from './copy-tags.js'
import { withLinkTags } from './encoded-tags.js'
import { blockTexts } from './faulty-block.js'
import { liquidWords } from './merge-tags.js'
import { nearestName } from './nearest-name.js'

/** A tag that can be read but names nothing. */
export interface OddTag {
  /** The name in it, where it has one: `frstName`. */
  name: string
  /** Where it is, which tag it is, and what to write. */
  says: string
}

/** The parts of a mail that may have tags. */
interface TaggedContent {
  subject: string
  html: string
  previewText?: string | null | undefined
  blocks?: BlockDocument | null | undefined
}

// A page has room for so many.
const mostOdd = 5

/** The tags of a campaign that are not fields of its contacts; `known`: the names of those fields. */
export function oddTags(content: TaggedContent, known: readonly string[]): OddTag[] {
  const texts = textsOf(content)
  const own = new Set(texts.flatMap(({ text }) => namedIn(text)))
  const names = [...new Set([...fixed, ...known])]
  const found = new Map<string, OddTag>()
  for (const { where, text, hasLines } of texts) {
    for (const { tag, name, at } of tagsIn(text)) {
      if (isKnown(name, own, names) || found.has(tag)) continue
      const line = hasLines ? `, line ${text.slice(0, at).split('\n').length}` : ''
      found.set(tag, { name, says: `${where}${line}: ${wordsOf(tag, name, names)}` })
      if (found.size >= mostOdd) return [...found.values()]
    }
  }
  return [...found.values()]
}

const fixed = ['firstName', 'lastName', 'email', ...Object.keys(copyTags)]

interface PlacedText {
  where: string
  text: string
  hasLines: boolean
}

function textsOf({ subject, previewText, html, blocks }: TaggedContent): PlacedText[] {
  const lines = [
    { where: 'Subject', text: subject, hasLines: false },
    { where: 'Preview text', text: previewText ?? '', hasLines: false },
  ]
  const body = blocks
    ? blockTexts(blocks.blocks).map(({ where, text }) => ({ where, text, hasLines: false }))
    : [{ where: 'HTML', text: withLinkTags(html), hasLines: true }]
  return [...lines, ...body].filter(({ text }) => mayHaveTag.test(text))
}

const mayHaveTag = /\{\{|\*\||%%|\[\[/

/** Names that the content gives itself. */
const namedIn = (text: string): string[] =>
  [
    ...text.matchAll(
      /\{%-?\s*(?:(?:assign|capture|increment|decrement)\s+|(?:for|tablerow)\s+)([\w-]+)/g,
    ),
  ].map(([, name = '']) => name)

// Tags of other programs: *|FNAME|*, %%name%%, [[name]].
const ofOthers = /\*\|([\w: ]{1,60})\|\*|%%([\w ]{1,60})%%|\[\[([\w ]{1,60})\]\]/g
const outputs = /\{\{-?([^{}]{0,500}?)-?\}\}/g

function* tagsIn(text: string): Generator<{ tag: string; name: string; at: number }> {
  for (const { 0: whole, 1: inside = '', index } of text.matchAll(outputs)) {
    const [expression = ''] = inside.split('|', 1)
    const name = expression.trim()
    if (name !== '' && !/^["'\d-]/.test(name)) {
      yield { tag: whole.replace(/\s+/g, ' ').slice(0, 80), name, at: index }
    }
  }
  for (const { 0: tag, 1: one, 2: two, 3: three, index } of text.matchAll(ofOthers)) {
    yield { tag, name: `${one ?? two ?? three} `, at: index }
  }
}

/** A name with a space after it comes from another program, and is not a tag here. */
function isKnown(name: string, own: ReadonlySet<string>, names: readonly string[]): boolean {
  const [root = '', second] = name.split(/[.[]/)
  if (!/^[A-Za-z_][\w-]*$/.test(root) || name.endsWith(' ') || /\s/.test(name)) return false
  if (own.has(root) || liquidWords.includes(root)) return true
  return root === 'metadata' ? second === undefined || names.includes(second) : names.includes(root)
}

// The names that other programs and people use.
const others: Readonly<Record<string, string>> = {
  fname: 'firstName',
  forename: 'firstName',
  givenname: 'firstName',
  name: 'firstName',
  lname: 'lastName',
  surname: 'lastName',
  familyname: 'lastName',
  mail: 'email',
  emailaddress: 'email',
  unsub: 'unsubscribe_url',
  unsubscribe: 'unsubscribe_url',
}

function wordsOf(tag: string, name: string, names: readonly string[]): string {
  const last = name.trim().split('.').at(-1) ?? ''
  const usual = others[last.toLowerCase().replace(/[^a-z]/g, '')]
  const nearest = nearestName(name, names) ?? nearestName(last, names) ?? usual
  const instead =
    nearest === undefined
      ? '“What you know of each reader” has those that there are.'
      : `Did you mean {{ ${nearest} }}?`
  return tag.startsWith('{{')
    ? `${tag} is no field of your contacts, and the mail says nothing there. ${instead}`
    : `${tag} is a tag of another program, and arrives as it is typed. ${instead}`
}
