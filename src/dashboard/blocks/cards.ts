import { type BlockType, maxBlocks } from '../../blocks/index.js'
import type { Faults } from '../shell/faults.js'
import { type FormField, field, hiddenField } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'
import { wasName } from './answers.js'
import { type BlockCard, cardsOf } from './card.js'
import { blockButton, landing } from './card-buttons.js'
import { closedCard, firstWordsOf } from './closed-card.js'
import { nameCards } from './faulty-card.js'
import { type BlockQuestion, blockNames } from './fields.js'
import { foldName, foldsName, type TypedDocument } from './form.js'
import { oddWordsIn } from './odd-words.js'
import { areMany, blockCount, isUnfoldedByRule } from './open-cards.js'
import type { PictureChoice } from './picture-choices.js'
import { pictureChooser } from './picture-chooser.js'
import { chosenName } from './picture-words.js'
import { numberAt } from './places.js'
import { type RemovedCard, removedPart } from './removed-card.js'
import { type SavedBlocks, savedPart } from './saved-part.js'
import { wholeLook } from './whole-look.js'

/** What the cards stand in. */
interface CardsOptions {
  document: TypedDocument
  faults: Faults
  /** Where a button leads that changes the blocks and saves nothing: the page again, with what was typed. */
  change: string
  mayWrite: boolean
  /** What cards of pictures offer, and the page on which pictures are added. */
  pictures: readonly PictureChoice[]
  picturesPage: string
  /** Where a button leads that stores something, and comes back with what was typed; undefined: nobody may here. */
  store: string | undefined
  saved: SavedBlocks
  /** Everybody gets it, and nobody can unsubscribe in it. */
  isNotice?: boolean | undefined
}

/** The blocks of a mail in a form: a card each, which buttons add, move, copy and take away, with script or without. */
export function blockCards({
  document,
  faults: known,
  change,
  mayWrite,
  pictures,
  picturesPage,
  store,
  saved,
  isNotice = false,
}: CardsOptions): Html {
  const { blocks, open = '', unfolded, removed } = document
  // Words are kept as they were typed: what is told of them holds up nothing.
  const odd = Object.fromEntries(oddWordsIn(blocks).map(({ field, says }) => [field, says]))
  const faults = Object.assign({}, known, { fields: { ...odd, ...known.fields } })
  const rest = hiddenField('document', JSON.stringify(document.rest))
  const cards = cardsOf(blocks)
  nameCards(known.places, cards)
  const count = blockCount(blocks)
  const isAtWork = ({ place }: BlockCard) => `${open}.`.startsWith(`${place}.`)
  const isWrong = ({ place }: BlockCard) =>
    Object.keys(faults.fields).some((one) => one.startsWith(`b.${place}.`))
  const isClosed = (card: BlockCard) => areMany(count) && !isAtWork(card) && !isWrong(card)
  const isUnfolded = (card: BlockCard) =>
    isWrong(card) ||
    (unfolded?.get(card.block) ?? (isAtWork(card) || isUnfoldedByRule(card.block, count)))
  const isFull = count >= maxBlocks
  const shows = { isClosed, isUnfolded, isNotice, isFull, removed }
  const offers = { store, pictures, picturesPage }
  const options = { faults: asTyped(faults), change, mayWrite, ...offers, ...shows }
  const offered = html`<datalist id="${offeredId}">${pictures.map(
    ({ url, name, alt }) =>
      html`<option value="${url}"${alt !== '' && html` data-alt="${alt}"`}>${name}</option>`,
  )}</datalist>`
  return html`<div data-cards>${rest}${offered}${hiddenField('open', open)}${hiddenField(foldsName, 'on')}${
    mayWrite && html`<p class="hint">${rules}</p>${isFull && html`<p class="hint">${full}</p>`}`
  }<div class="blocks">${
    // Return in a line presses the form's first button, which must not move a block.
    mayWrite &&
    html`<button class="hidden" formaction="${change}" formnovalidate tabindex="-1">Preview</button>`
  }${cards.length === 0 && adding('', true, options)}${listed(cards, '', options)}</div>${wholeLook(document.rest, { faults: { ...asTyped(faults), places: faults.places }, mayWrite })}${
    store !== undefined &&
    savedPart(saved, cards, { isClosed, faults: asTyped(faults), change, store })
  }</div>`
}

const offeredId = 'offered-pictures'
const rules =
  'In words: **bold**, *italic*, [words](https://…), {{ firstName | default: "you" }}, and an empty line between paragraphs. Colours are such as #0a5a9c.'

const full = `It has ${maxBlocks} blocks or more, those in columns counted, and a mail has at most so many: remove one before you add another.`

interface CardOptions
  extends Pick<
    CardsOptions,
    'faults' | 'change' | 'mayWrite' | 'store' | 'pictures' | 'picturesPage'
  > {
  isClosed: (card: BlockCard) => boolean
  isUnfolded: (card: BlockCard) => boolean
  isNotice: boolean
  /** No block can be added. */
  isFull: boolean
  removed: RemovedCard | undefined
}

/** The cards of a list, whose places begin with `at`; in the place of one that was removed stands how it is put back. */
function listed(cards: readonly BlockCard[], at: string, options: CardOptions): Html {
  const { removed, change, mayWrite } = options
  const offer = (place: string) =>
    mayWrite && removed?.place === place && removedPart(removed, change)
  return html`${cards.map((card) => html`${offer(card.place)}${cardOf(card, options)}`)}${offer(`${at}${cards.length}`)}`
}

/** The fields show what was typed by themselves; of the faults, their words alone are wanted. */
const asTyped = ({ message, fields }: Faults): Faults => ({ message, fields, values: {} })

function cardOf(card: BlockCard, options: CardOptions): Html {
  const { place, title, type, block } = card
  const depth = place.split('.').length
  const name = `${title} ${numberAt(place) + 1}`
  if (options.isClosed(card)) {
    const isEnd = card.last && depth === 1 && options.mayWrite
    return html`${closedCard(card, name, options)}${isEnd && adding(place, true, options)}`
  }
  const isWrong = card.looks.some((one) => one.name in options.faults.fields)
  return html`<fieldset class="card block" id="block-${place}"><legend>${name}</legend>
${hiddenField(`b.${place}.type`, type)}${
  typeof block.id === 'string' && hiddenField(`b.${place}.id`, block.id)
}${type === 'picture' && hiddenField(chosenName(place), String(block.url ?? ''))}${foldOf(card, options)}${options.mayWrite && moves(card, name, options)}
<div class="body">${card.questions.map((one) => question(one, options))}${
    type === 'columns' && columnsOf(card, options)
  }${
    type === 'picture' &&
    options.mayWrite &&
    pictureChooser(place, String(block.url ?? ''), options)
  }${type === 'picture' && options.store !== undefined && uploading(place, options.store)}${
    card.looks.length > 0 &&
    html`<details${isWrong && html` open`}><summary>Look</summary><div class="grid">${card.looks.map((one) => question(one, options))}</div></details>`
  }${options.mayWrite && !card.last && adding(place, depth === 1, options)}</div>${
    // Below the last one something can be added though it is folded.
    options.mayWrite && card.last && adding(place, depth === 1, options)
  }</fieldset>`
}

/**
 * What folds a card: a box, so that the form says which cards are unfolded without script too. What stands behind it is
 * hidden by style alone.
 */
function foldOf(card: BlockCard, { isUnfolded }: CardOptions): Html {
  const { place, title, block } = card
  return html`<label class="fold"><input type="checkbox" name="b.${place}.${foldName}"${isUnfolded(card) && html` checked`}> ${firstWordsOf(block) || title}</label>`
}

/** The form is sent with its file by this button alone; it comes back with the picture's address filled in. */
const uploading = (place: string, store: string) =>
  html`<p class="buttons add"><label for="file-${place}">Or a file</label><input type="file" id="file-${place}" name="file.${place}" accept="image/png,image/jpeg,image/gif,image/webp" data-shrinks><button name="do" value="upload:${place}" formaction="${store}#block-${place}" formenctype="multipart/form-data" formnovalidate>Upload</button></p>`

function columnsOf({ place, columns }: BlockCard, options: CardOptions): Html {
  const count = field({
    name: `b.${place}.columns`,
    label: 'How many',
    type: 'select',
    value: String(columns.length),
    options: [
      { value: '2', label: 'Two' },
      { value: '3', label: 'Three' },
    ],
  })
  return html`${count}<p class="hint">Side by side on a wide screen, one below the other on a phone.</p>${columns.map(
    ({ at, cards }, column) =>
      html`<fieldset class="column"><legend>Column ${column + 1}</legend>${
        cards.length === 0 && options.mayWrite && adding(at, false, options)
      }${listed(cards, at, options)}</fieldset>`,
  )}`
}

function moves({ place, first, last }: BlockCard, name: string, options: CardOptions): Html {
  return html`<p class="buttons">${!first && blockButton('up', place, 'Up', name, options.change)}${
    !last && blockButton('down', place, 'Down', name, options.change)
  }${!options.isFull && blockButton('copy', place, 'Duplicate', name, options.change)}${blockButton('gone', place, 'Remove', name, options.change)}</p>`
}

/** What is added after a block, or at the top. */
function adding(place: string, withColumns: boolean, options: CardOptions): Html | false {
  if (options.isFull) return false
  const kinds = (Object.keys(blockNames) as BlockType[]).filter(
    (kind) => withColumns || kind !== 'columns',
  )
  return html`<p class="buttons add"><label>${place === '' || place.endsWith('.') ? 'Begin with' : 'Then'} <select name="kind.${place}">${kinds.map(
    // HTML §4.10.10, §13.1.2.4: an option sends its words and needs no end tag. Each card has these.
    (kind) => html`<option>${blockNames[kind]}`,
  )}</select></label><button name="do" value="add:${place}" formaction="${options.change}${landing('add', place)}" formnovalidate>Add</button></p>`
}

const types: Readonly<Record<BlockQuestion['kind'], NonNullable<FormField['type']>>> = {
  line: 'text',
  text: 'textarea',
  lines: 'textarea',
  links: 'textarea',
  code: 'code',
  number: 'number',
  colour: 'text',
  tick: 'checkbox',
  choice: 'select',
}

const question = (
  { name, question: asked, value, was }: BlockCard['questions'][number],
  { faults, mayWrite, isNotice, pictures }: CardOptions,
): Html => {
  const { label, hint: usual } = (isNotice && asked.inNotice) || asked
  const hint = pictures.length === 0 ? (asked.offersPictures?.orElse ?? usual) : usual
  return html`${was !== undefined && hiddenField(wasName(name), was)}${field({
    name,
    label,
    type: types[asked.kind],
    value,
    faults,
    readonly: !mayWrite,
    compact: true,
    ...(hint !== undefined && { hint }),
    ...(asked.options !== undefined && { options: asked.options }),
    ...(asked.kind === 'text' && { rows: 5 }),
    ...(asked.offersPictures !== undefined && { list: offeredId }),
  })}`
}
