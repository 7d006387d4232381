import type { Form } from '../../http/index.js'
import type { Read } from '../../store/index.js'
import { templatesOfBlocks } from '../../templates/index.js'
import type { Faults } from '../shell/faults.js'
import { field } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'
import type { BlockCard } from './card.js'
import { keptName } from './kept-name.js'

// A select has room for these; the others are found by their name on the page of templates.
const mostOffered = 30

/** What an account has kept, and what was done with it just now. */
export interface SavedBlocks {
  slugs: readonly string[]
  keptAs: string | undefined
  /** The name that somebody has typed for some more. */
  keepAs: string
  removed: string | undefined
  /** Where blocks were taken in. */
  insertedAt: string | undefined
  /** Where templates are. */
  at: string
}

export const savedBlocks = async (
  read: Read,
  { accountId, base }: { accountId: string; base: string },
  fields: Form,
): Promise<SavedBlocks> => ({
  slugs: await templatesOfBlocks(read, accountId, mostOffered),
  keptAs: fields.get('keptAs'),
  keepAs: fields.get('keepAs') ?? '',
  removed: fields.get('keptGone'),
  insertedAt: fields.get('insertedAt'),
  at: `${base}/templates`,
})

interface SavedOptions {
  faults: Faults
  /** Where buttons lead that store nothing, and those that do. */
  change: string
  store: string
  /** Of a closed card the page has too little to offer it. */
  isClosed: (card: BlockCard) => boolean
}

/** Takes in blocks that were kept, and keeps some of these or all: what is kept is a template, on the page of templates. */
export function savedPart(
  { slugs, keptAs, keepAs, removed, insertedAt, at }: SavedBlocks,
  cards: readonly BlockCard[],
  { faults, change, store, isClosed }: SavedOptions,
): Html {
  const options = cards
    .filter((card) => !isClosed(card))
    .map(({ place, title }) => ({ value: place, label: `${title} ${Number(place) + 1}` }))
  const isWrong = ['keepAs', 'renameTo', 'insertFrom'].some((name) => name in faults.fields)
  const gone = faults.fields.insertFrom
  const isOpen =
    isWrong || keepAs !== '' || [keptAs, removed, insertedAt].some((one) => one !== undefined)
  const places = [
    { value: '', label: 'at the end' },
    ...(cards.length === 0 ? [] : [{ value: '-1', label: 'at the top' }]),
    ...options.map(({ value, label }) => ({ value, label: `after ${label}` })),
  ]
  return html`<details class="card" id="kept"${isOpen && html` open`}><summary>Blocks to use again</summary>
${keptAs !== undefined && html`<p role="status">They are kept as <a href="${at}/${keptAs}">${keptName(keptAs)}</a>.</p>`}
${removed !== undefined && html`<p role="status">${keptName(removed)} is removed.</p>`}
${insertedAt !== undefined && html`<p role="status">The blocks are added. <a href="#block-${insertedAt}">Go to the first of them</a></p>`}
<p class="hint">What you keep is a template: a new campaign can begin with it, and it is among the <a href="${at}">Templates</a>.</p>
${gone !== undefined && html`<div id="field-insertFrom"><p class="fault" id="field-insertFrom-fault">${gone}</p></div>`}${
  slugs.length > 0 &&
  html`<p class="buttons add"><label for="insert-from">Add the blocks of</label><select id="insert-from" name="insertFrom"${gone !== undefined && html` aria-invalid="true" aria-describedby="field-insertFrom-fault"`}>${slugs.map(
    (slug) => html`<option value="${slug}">${keptName(slug)}</option>`,
  )}</select><label for="insert-at">where</label><select id="insert-at" name="insertAt">${places.map(
    ({ value, label }) => html`<option value="${value}">${label}`,
  )}</select><button name="do" value="insert:" formaction="${change}#kept" formnovalidate>Add</button></p>
<details${'renameTo' in faults.fields && html` open`}><summary>Rename or remove what is chosen</summary><p class="hint">What sends it by its name would not find it any more. Mails that were sent stay as they are.</p>${field(
    {
      name: 'renameTo',
      label: 'New name',
      maxlength: 64,
      autocomplete: 'off',
      required: false,
      faults,
    },
  )}<p class="buttons"><button name="do" value="rename:" formaction="${store}#kept" formnovalidate>Rename</button><button class="danger" name="do" value="remove:" formaction="${store}#kept" formnovalidate>Remove it for good</button></p></details>`
}${field({
  name: 'keepWhich',
  label: 'Keep',
  type: 'select',
  compact: true,
  value: '',
  options: [{ value: '', label: 'All blocks' }, ...options],
})}${field({
  name: 'keepAs',
  label: 'Under the name',
  hint: 'Such as: Our footer.',
  value: keepAs,
  maxlength: 64,
  autocomplete: 'off',
  required: false,
  faults,
})}<p class="buttons"><button name="do" value="keep:" formaction="${store}#kept" formnovalidate>Keep</button></p></details>`
}
