import Sortable from 'sortablejs'
import { openAgain, openParts } from './folds.js'
import { cardAfter, nameAfter } from './moved-cards.js'

/*
 * The cards of a form with script: a button that changes them (`do`) replaces only that part of the page, and a card
 * can be dragged to its place. The server makes the part from what is typed, as it does without script.
 */

const part = '[data-cards]'

/** Makes the form's buttons replace only its cards; `taken` gets the page that the new cards came with. */
export function keepCards(form: HTMLFormElement, taken: (page: Document) => void): void {
  if (form.querySelector(part) === null) return
  let isAsking = false
  // Whoever points at a button next points at the field to type in.
  let isPointed = false
  form.addEventListener('pointerdown', () => {
    isPointed = true
  })
  form.addEventListener('keydown', () => {
    isPointed = false
  })
  form.addEventListener('submit', (event) => {
    const { submitter } = event
    if (!(submitter instanceof HTMLButtonElement) || !isOfCards(form, submitter)) return
    event.preventDefault()
    // Before other listeners, which take a sent form for one that is over.
    event.stopImmediatePropagation()
    if (isAsking) return
    isAsking = true
    void whenFree(form)
      .then(() => bring(form, submitter, { taken, isPointed }))
      .catch((error: Error) => {
        form.querySelector(part)?.removeAttribute('inert')
        const told = form.querySelector<HTMLElement>('[data-kept]')
        if (told !== null) told.textContent = `Not done: ${error.message}`
      })
      .finally(() => {
        isAsking = false
        form.ariaBusy = null
      })
  })
  sortable(form)
}

/** Whether a button changes only the cards: their own buttons, and those of layouts while there are cards. */
const isOfCards = (form: HTMLFormElement, { name, value }: HTMLButtonElement): boolean =>
  name === 'do' ||
  (form.querySelector(part) !== null &&
    (name === 'layout' || (name === 'replace' && value.startsWith('layout:'))))

const lookMs = 50

/** Waits until what was typed is kept, so that the next request has the new revision. */
async function whenFree(form: HTMLFormElement): Promise<void> {
  while (form.ariaBusy === 'true') await new Promise((done) => setTimeout(done, lookMs))
  form.ariaBusy = 'true'
}

async function bring(
  form: HTMLFormElement,
  button: HTMLButtonElement,
  { taken, isPointed }: { taken: (page: Document) => void; isPointed: boolean },
): Promise<void> {
  const page = await answerTo(form, button)
  const [there, made] = [form.querySelector(part), page.querySelector(part)]
  if (there === null || made === null) throw new Error('log in again, in another tab')
  const typing = typedInto(there)
  const parts = openParts(there)
  there.replaceWith(made)
  openAgain(made, parts, (card) => cardAfter(button.value, card))
  // The status is outside of the cards: it is read aloud only if it existed before its words.
  const moved = form.querySelector('[data-moved]')
  if (moved !== null) moved.textContent = page.querySelector('[data-moved]')?.textContent ?? ''
  // The layouts, or the question whether one may replace what is written.
  const begin = page.getElementById('begin')
  if (begin !== null) document.getElementById('begin')?.replaceWith(begin)
  // The message about an earlier action is shown once, as when the whole page comes anew.
  document.querySelector('[data-once]')?.remove()
  document.getElementById('faults')?.remove()
  const faults = page.getElementById('faults')
  if (faults !== null) form.before(faults)
  taken(page)
  sortable(form)
  if (typing !== undefined) goOnTyping(form, button.value, typing)
  else if (faults !== null) faults.focus()
  else if (!isElsewhere(made)) focusOn(form, button, isPointed)
  // The change is kept and previewed like typed text.
  form.querySelector(part)?.dispatchEvent(new Event('input', { bubbles: true }))
}

// A server that says nothing for so long is told to be away; a file may take its time over a slow line.
const mostMs = 30_000
const mostFileMs = 180_000

/** The page that a button asks for; it is asked for again where somebody has gone on typing meanwhile. */
async function answerTo(form: HTMLFormElement, button: HTMLButtonElement): Promise<Document> {
  // A look changes nothing, so what is typed meanwhile is only looked at again.
  const isLook = /^(rule:)?show:/.test(button.value)
  const typed = () => {
    const texts = new URLSearchParams(textsOf(new FormData(form, button)))
    if (isLook) texts.append('looks', 'on')
    return texts
  }
  // A request that stores something is sent once, and nobody can type until its answer comes.
  const stores =
    !isLook &&
    button.formAction.split('#')[0] !== new URL(form.dataset.preview ?? '', location.href).href
  form.querySelector(part)?.toggleAttribute('inert', stores)
  for (;;) {
    const sent = typed()
    const isFile = button.formEnctype === 'multipart/form-data'
    const body = isFile ? new FormData(form, button) : sent
    const signal = AbortSignal.timeout(isFile ? mostFileMs : mostMs)
    const text = await fetch(button.formAction, { method: 'POST', body, signal })
      .then((answer) => answer.text())
      .catch(() => {
        throw new Error('there is no way to the server now')
      })
    const page = new DOMParser().parseFromString(text, 'text/html')
    if (stores || String(typed()) === String(sent)) return page
  }
}

const textsOf = (form: FormData): [string, string][] =>
  [...form].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))

type Line = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** The field of the cards in which somebody is typing or choosing. */
function typedInto(cards: Element): Line | undefined {
  const { activeElement: at } = document
  const isLine =
    at instanceof HTMLInputElement ||
    at instanceof HTMLTextAreaElement ||
    at instanceof HTMLSelectElement
  return isLine && cards.contains(at) ? at : undefined
}

/** Whether somebody is in a field outside of the cards. */
function isElsewhere(cards: Element): boolean {
  const { activeElement: at } = document
  return (
    at !== null &&
    at !== document.body &&
    !cards.contains(at) &&
    at.matches('input, textarea, select, .cm-content')
  )
}

/** Puts the focus back into the same field, which may have another name now that cards have moved. */
function goOnTyping(form: HTMLFormElement, deed: string, was: Line): void {
  const name = nameAfter(deed, was.name)
  // Conditions have fields with the same names, each with an id of its own.
  const same = name === was.name && was.id !== '' ? `#${CSS.escape(was.id)}` : undefined
  const field = form.querySelector<Line>(same ?? `[name="${CSS.escape(name)}"]`)
  field?.focus({ preventScroll: true })
  if (was instanceof HTMLSelectElement || field instanceof HTMLSelectElement) return
  if (was.selectionStart !== null) field?.setSelectionRange(was.selectionStart, was.selectionEnd)
}

/** Puts the focus of people who work by keys at the changed card: at the same button, or at a field. */
function focusOn(
  form: HTMLFormElement,
  { value, formAction }: HTMLButtonElement,
  isPointed: boolean,
): void {
  const place = form.querySelector<HTMLInputElement>('input[name=open]')?.value ?? ''
  const card =
    document.getElementById(`block-${place}`) ??
    document.getElementById(new URL(formAction).hash.slice(1)) ??
    [...form.querySelectorAll<HTMLElement>('.block')].at(-1)
  // The last card is gone: the next thing to do is to add one.
  if (card === undefined) {
    form.querySelector<HTMLElement>('.blocks .add select')?.focus()
    return
  }
  const [deed = ''] = value.split(':')
  const isMove = deed === 'up' || deed === 'down'
  const isButton = isPointed || isMove
  const wanted = [
    // The card's own button, not that of a card in one of its ways.
    ...(isMove ? [`button[name=do][value="${CSS.escape(`${deed}:${place}`)}"]`] : []),
    card.matches('.condition')
      ? 'select'
      : isButton
        ? `button[name=do][value^="${deed}:"]`
        : 'textarea, input, .cm-content',
    'button',
  ]
  const targets = wanted.flatMap((one) => [...card.querySelectorAll<HTMLElement>(one)])
  targets.find((one) => one.checkVisibility())?.focus({ preventScroll: true })
  card.scrollIntoView({ block: 'nearest' })
}

/** Lets cards be dragged within their list, by a handle that only script shows. */
function sortable(form: HTMLFormElement): void {
  for (const list of form.querySelectorAll<HTMLElement>(':is(.blocks, .column):has(> .block)')) {
    const cards = () => [...list.querySelectorAll<HTMLElement>(':scope > .block')]
    for (const card of cards()) {
      const handle = Object.assign(document.createElement('i'), { textContent: '⠿' })
      handle.className = 'handle'
      handle.ariaHidden = 'true'
      const isFixed = card.hasAttribute('data-fixed')
      if (!isFixed) card.querySelector(':scope > .buttons:not(.add)')?.prepend(handle)
    }
    Sortable.create(list, {
      draggable: '>.block',
      handle: '.handle',
      animation: 120,
      onEnd: ({ item }) => {
        const place = item.id.replace('block-', '')
        const to = cards().indexOf(item)
        if (String(to) !== place.split('.').at(-1)) press(form, `move:${place}:${to}`)
      },
    })
  }
}

/** Sends a deed for which the page has no button. */
function press(form: HTMLFormElement, deed: string): void {
  const button = document.createElement('button')
  Object.assign(button, { name: 'do', value: deed, hidden: true, formNoValidate: true })
  button.formAction = form.dataset.keep ?? form.dataset.preview ?? ''
  // The button goes when the answer replaces the cards.
  form.querySelector(part)?.append(button)
  form.requestSubmit(button)
}
