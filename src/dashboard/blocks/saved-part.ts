import type { Read } from '../../store/index.js'
import { templatesOfBlocks } from '../../templates/index.js'
import type { Faults } from '../shell/faults.js'
import { field } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'
import type { BlockCard } from './card.js'

// A select has room for these; the others are found by their name on the page of templates.
const mostOffered = 30

/** What an account has kept, and what was kept just now. */
export interface SavedBlocks {
  slugs: readonly string[]
  keptAs: string | undefined
  /** Where templates are. */
  at: string
}

export const savedBlocks = async (
  read: Read,
  { accountId, base }: { accountId: string; base: string },
  keptAs: string | undefined,
): Promise<SavedBlocks> => ({
  slugs: await templatesOfBlocks(read, accountId, mostOffered),
  keptAs,
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
  { slugs, keptAs, at }: SavedBlocks,
  cards: readonly BlockCard[],
  { faults, change, store, isClosed }: SavedOptions,
): Html {
  const options = cards
    .filter((card) => !isClosed(card))
    .map(({ place, title }) => ({ value: place, label: `${title} ${Number(place) + 1}` }))
  const isWrong = 'keepAs' in faults.fields
  return html`<details class="card" id="kept"${(isWrong || keptAs !== undefined) && html` open`}><summary>Blocks to use again</summary>
${keptAs !== undefined && html`<p role="status">They are kept as <a href="${at}/${keptAs}">${keptAs}</a>.</p>`}
<p class="hint">What you keep is a template: a new campaign can begin with it, and it is renamed by a copy and deleted under <a href="${at}">Templates</a>.</p>
${
  slugs.length > 0 &&
  html`<p class="buttons add"><label for="insert-from">Add the blocks of</label><select id="insert-from" name="insertFrom">${slugs.map(
    (slug) => html`<option value="${slug}">${slug}</option>`,
  )}</select><button name="do" value="insert:" formaction="${change}#block-${cards.length}" formnovalidate>Add at the end</button></p>`
}${field({
  name: 'keepWhich',
  label: 'Keep',
  type: 'select',
  value: '',
  options: [{ value: '', label: 'All blocks' }, ...options],
})}${field({
  name: 'keepAs',
  label: 'Under the name',
  hint: 'Such as our-footer: a-z, 0-9, "_" and "-".',
  maxlength: 64,
  autocomplete: 'off',
  required: false,
  faults,
})}<p class="buttons"><button name="do" value="keep:" formaction="${store}#kept" formnovalidate>Keep</button></p></details>`
}
