/*
 * Cards that are folded, with script: the line that folds a card has the words that are typed into it and is pressed by
 * Return too, and what else is open in cards is open again when these come anew. Which cards are folded is in their boxes.
 */

/** Keeps the folds of a form's cards. */
export function keepFolds(form: HTMLFormElement): void {
  form.addEventListener('input', ({ target }) => {
    const card = target instanceof Element ? target.closest('.block') : null
    const words = card?.querySelector(':scope > .fold')?.lastChild
    if (card !== null && words && !isFold(target)) tellWords(words, card)
  })
  // In a box, Return would send the form.
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !isFold(event.target)) return
    event.preventDefault()
    event.target.click()
  })
  keepOverSaves(form)
}

/** Whether it is the box that folds a card: it changes nothing that is kept or previewed. */
export const isFold = (target: EventTarget | null): target is HTMLInputElement =>
  target instanceof HTMLInputElement && target.closest('.fold') !== null

function tellWords(told: Node, card: Element): void {
  const lines = card.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
    ':scope > .body > .field :is(textarea, input[type=text])',
  )
  const words = [...lines].map(({ value }) => value.trim()).find((value) => value !== '')
  if (words !== undefined) told.textContent = ` ${words.slice(0, mostShown)}`
}

// As the server shows them.
const mostShown = 50

/** A part that is open: the card in which it is, if it is in one, and its words. */
type OpenPart = readonly [card: string, words: string]

/** What somebody has opened, such as the look of a card. What asks whether something is to be done is none of it. */
export const openParts = (within: ParentNode): OpenPart[] =>
  partsIn(within).flatMap((part) => (part.open ? [nameOf(part)] : []))

/** Opens the same parts in what has come in their place; `after`: the card that a card has become, if it is there. */
export function openAgain(
  within: ParentNode,
  parts: readonly OpenPart[],
  after: (card: string) => string | undefined = (card) => card,
): void {
  const open = new Set(
    parts.flatMap(([card, words]) => {
      const now = card === '' ? card : after(card)
      return now === undefined ? [] : [keyOf([now, words])]
    }),
  )
  for (const part of partsIn(within)) if (open.has(keyOf(nameOf(part)))) part.open = true
}

const partsIn = (within: ParentNode) => [
  ...within.querySelectorAll<HTMLDetailsElement>('details:not(.confirm)'),
]
const nameOf = (part: Element): OpenPart => [
  part.closest('.block')?.id ?? '',
  part.querySelector('summary')?.textContent ?? '',
]
const keyOf = (part: OpenPart) => part.join('\n')

/** What is open when a form is saved is open on the page that comes then. */
function keepOverSaves(form: HTMLFormElement): void {
  const last: unknown = JSON.parse(sessionStorage.getItem(savedOpen) ?? 'null')
  sessionStorage.removeItem(savedOpen)
  if (isSaved(last) && location.pathname.startsWith(last.page)) openAgain(form, last.parts)
  form.addEventListener('submit', (event) => {
    if (event.defaultPrevented) return
    const page = new URL(form.action).pathname.replace(/(?:-\/)?new$/, '')
    sessionStorage.setItem(savedOpen, JSON.stringify({ page, parts: openParts(form) }))
  })
}

const savedOpen = 'open at a save'

const isSaved = (value: unknown): value is { page: string; parts: OpenPart[] } =>
  typeof value === 'object' && value !== null && 'page' in value && 'parts' in value
