/*
 * Keeps a draft while somebody writes: a moment after the last key its form is sent as 'Save' sends it. The answer is
 * the draft's page, from which the form takes its address and its revision; what is being typed stays. If somebody
 * leaves before that moment, the draft is kept on leaving, or they are asked where that is not possible.
 */

import { tellCardFaults } from './card-faults.js'
import { isFold } from './folds.js'
import { forgetKeeping, noteKeeping } from './on-its-way.js'

// Longer than the preview waits, as each time is a write.
const afterMs = 2_000
// A browser goes on sending at most 64 KiB after its page has gone (Fetch, 4.6, 'keepalive').
const mostOutliving = 60_000
// A server that says nothing for so long is told to be away: nothing waits for it any longer.
const mostMs = 15_000

/** Keeps what is typed into the form, and says so beside its buttons. */
export function keepDraft(form: HTMLFormElement): void {
  const told = form.querySelector<HTMLElement>('[data-kept]')
  if (told === null) return
  const tellFaults = tellCardFaults(form)
  let timer: number | undefined
  let isKeeping = false
  let isOver = false
  let isTyped = false
  // Not everything in the form is kept: also where it was refused, or the server could not be reached.
  let isUnkept = false

  const plan = () => {
    clearTimeout(timer)
    timer = setTimeout(() => void keep(), afterMs)
  }
  const keep = async () => {
    // One after the other, as each needs the revision that the one before it has made.
    if (isKeeping || isOver) return
    if (form.ariaBusy === 'true') return plan()
    isKeeping = true
    const draft = form.action
    noteKeeping(draft, revisionOf(form)?.value ?? '')
    form.ariaBusy = 'true'
    isTyped = false
    told.textContent = 'Keeping it…'
    try {
      const body = bodyOf(form)
      const answer = await fetch(form.dataset.keep ?? form.action, {
        method: 'POST',
        body,
        // Leaving the page meanwhile does not stop the request.
        keepalive: outlives(body),
        signal: AbortSignal.timeout(mostMs),
      })
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const says = answer.ok ? taken(form, answer, page) : refusal(page)
      // What is typed meanwhile is judged when it is kept.
      if (answer.ok && !isTyped) tellFaults(page)
      told.textContent = says
      isUnkept = isTyped || says !== kept
      // Somebody else has changed the draft: only a person can decide what happens now.
      isOver = !answer.ok && page.querySelector('form[data-newer]') !== null
      if (isOver)
        told.replaceChildren('Not kept. ', ...(page.getElementById('newer')?.children ?? []))
    } catch {
      told.textContent = 'Not kept: there is no way to the server now'
    } finally {
      isKeeping = false
      forgetKeeping(draft)
      form.ariaBusy = null
      if (isTyped) plan()
    }
  }
  form.addEventListener('input', (event) => {
    if (isNamed(event.target) && unkept.has(event.target.name)) return
    if (isFold(event.target)) return
    isTyped = true
    isUnkept = true
    if (!isOver) told.textContent = ''
    plan()
  })
  form.addEventListener('submit', (event) => {
    // What is being kept makes a revision, of which what is sent now has to be.
    if (isKeeping && !event.defaultPrevented) {
      const { submitter } = event
      event.preventDefault()
      event.stopImmediatePropagation()
      void whenKept(() => isKeeping).then(() => form.requestSubmit(submitter))
      return
    }
    isOver = true
    isUnkept = false
    clearTimeout(timer)
  })
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden' && isTyped) void keep()
  })
  addEventListener('beforeunload', (event) => {
    if (!isUnkept) return
    const isFree = !isKeeping && !isOver && form.ariaBusy !== 'true'
    if (isTyped && isFree && outlives(bodyOf(form))) void keep()
    // A request that is under way and outlives the page needs no question.
    else if (isTyped || !isKeeping || !outlives(bodyOf(form))) event.preventDefault()
  })
  // The page's own link leads to the kept draft, so unkept changes are saved first.
  document.addEventListener('click', (event) => {
    const { target } = event
    const link = target instanceof Element ? target.closest('.page-head .buttons a') : null
    const save = form.querySelector<HTMLButtonElement>('button[name=next][value=send]')
    if (link === null || save === null || !isUnkept || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    void whenKept(() => isKeeping).then(() => {
      if (isUnkept) form.requestSubmit(save)
      else location.assign((link as HTMLAnchorElement).href)
    })
  })
  // The page came with typed changes that are not kept, and perhaps nobody types on.
  if (form.dataset.unsaved !== undefined && form.dataset.newer === undefined) {
    isUnkept = true
    plan()
  }
}

const lookMs = 50

async function whenKept(isKeeping: () => boolean): Promise<void> {
  while (isKeeping()) await new Promise((done) => setTimeout(done, lookMs))
}

const outlives = (body: URLSearchParams) => body.toString().length <= mostOutliving

const isNamed = (target: EventTarget | null): target is HTMLInputElement | HTMLSelectElement =>
  target instanceof HTMLInputElement || target instanceof HTMLSelectElement

// Fields of the preview alone.
const unkept = new Set(['look', 'as', 'version'])

function bodyOf(form: HTMLFormElement): URLSearchParams {
  const body = new URLSearchParams({ next: 'keep' })
  for (const [name, value] of new FormData(form)) {
    if (typeof value === 'string') body.append(name, value)
  }
  return body
}

const revisionOf = (within: ParentNode) =>
  within.querySelector<HTMLInputElement>('input[name=revision]')

const kept = 'Kept'

/** A draft has an address from the first time that it is kept. */
function taken(form: HTMLFormElement, answer: Response, page: Document): string {
  const made = page.querySelector<HTMLFormElement>('form#editor')
  if (made === null) return 'Not kept: log in again'
  const action = made.getAttribute('action') ?? ''
  const before = form.getAttribute('action') ?? ''
  if (action !== before) {
    history.replaceState(null, '', answer.url)
    // Buttons with addresses below the draft's get the new one: with the old one they would begin another draft.
    for (const button of document.querySelectorAll(`button[formaction^="${CSS.escape(before)}"]`)) {
      const to = button.getAttribute('formaction') ?? ''
      button.setAttribute('formaction', `${action}${to.slice(before.length)}`)
    }
  } else if (form.dataset.unsaved !== undefined) {
    // A page made from typed changes is the draft's own from now on, also after a reload.
    history.replaceState(null, '', answer.url)
  }
  delete form.dataset.unsaved
  form.setAttribute('action', action)
  form.dataset.preview = made.dataset.preview ?? ''
  const [there, fresh] = [revisionOf(form), revisionOf(made)]
  if (there !== null && fresh !== null) there.value = fresh.value
  takeAround(form, page)
  return page.querySelector('p.notice[role=status]')?.textContent?.trim() || kept
}

/** Renews what the page says around the form about the draft. */
export function takeAround(form: HTMLFormElement, page: Document): void {
  for (const part of ['[data-counted]', '.page-head .buttons', '.page-head .lead']) {
    const [there, fresh] = [document.querySelector(part), page.querySelector(part)]
    if (there !== null && fresh !== null) there.replaceWith(fresh)
    else if (fresh !== null) document.querySelector('.page-head')?.append(fresh)
  }
  // A draft kept for the first time gets a name, and the parts below the form.
  const [title, named] = [document.querySelector('h1'), page.querySelector('h1')]
  if (title !== null && named !== null) {
    title.replaceChildren(...named.childNodes)
    document.title = page.title
  }
  const more = page.querySelector(below)
  if (more !== null && document.querySelector(below) === null) {
    ;(document.getElementById('looks') ?? form).after(more)
  }
}

// The actions on a draft.
const below = '.editor-more, .of-draft'

/** Why it was refused, in the page's words. */
function refusal(page: Document): string {
  const why = page.querySelector('#faults :is(li, p)')?.textContent?.trim()
  return `Not kept yet${why ? `: ${why}` : ''}`
}
