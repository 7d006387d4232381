/*
 * A draft that is kept while somebody writes: a moment after the last key its form is sent as 'Save' sends it. The answer is
 * the draft's page anew, of which the form takes its address and its revision; what is being typed stays. Who leaves before
 * that moment has it kept on leaving, or is asked where it cannot be.
 */

import { tellCardFaults } from './card-faults.js'
import { forgetKeeping, noteKeeping } from './on-its-way.js'

// Longer than the preview waits: each of these is a write.
const afterMs = 2_000
// What a browser sends on when its page has gone is 64 KiB at most (Fetch, 4.6, 'keepalive').
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
  // What stands in the form is not all kept: also where it was refused, or the server was away.
  let isUnkept = false

  const plan = () => {
    clearTimeout(timer)
    timer = setTimeout(() => void keep(), afterMs)
  }
  const keep = async () => {
    // One after the other: each has the revision that the one before it has made.
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
        // Who goes elsewhere meanwhile does not stop it.
        keepalive: outlives(body),
        signal: AbortSignal.timeout(mostMs),
      })
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const says = answer.ok ? taken(form, answer, page) : refusal(page)
      // What is typed meanwhile is looked at when it is kept.
      if (answer.ok && !isTyped) tellFaults(page)
      told.textContent = says
      isUnkept = isTyped || says !== kept
      // Somebody else has changed it: only a person can say what is to become of it.
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
    // What is on its way and outlives the page needs no question.
    else if (isTyped || !isKeeping || !outlives(bodyOf(form))) event.preventDefault()
  })
  // The page's own link leads to what is kept, so what is not is saved first.
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
  // A page that came with what was typed, which nobody may type on.
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

// Of the preview alone.
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

/** A draft that was kept for the first time has an address from then on. */
function taken(form: HTMLFormElement, answer: Response, page: Document): string {
  const made = page.querySelector<HTMLFormElement>('form#editor')
  if (made === null) return 'Not kept: log in again'
  const action = made.getAttribute('action') ?? ''
  const before = form.getAttribute('action') ?? ''
  if (action !== before) {
    history.replaceState(null, '', answer.url)
    // Buttons that lead below its address lead there still: to a new draft they would begin another one.
    for (const button of document.querySelectorAll(`button[formaction^="${CSS.escape(before)}"]`)) {
      const to = button.getAttribute('formaction') ?? ''
      button.setAttribute('formaction', `${action}${to.slice(before.length)}`)
    }
  } else if (form.dataset.unsaved !== undefined) {
    // A page that was made of what was typed is the draft's own from now on, also when it is loaded anew.
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

/** What stands around the form says how the draft stands from then on. */
export function takeAround(form: HTMLFormElement, page: Document): void {
  for (const part of ['[data-counted]', '.page-head .buttons', '.page-head .lead']) {
    const [there, fresh] = [document.querySelector(part), page.querySelector(part)]
    if (there !== null && fresh !== null) there.replaceWith(fresh)
    else if (fresh !== null) document.querySelector('.page-head')?.append(fresh)
  }
  // A draft that is kept for the first time has a name, and what stands below the form, from then on.
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

// What can be done with a draft.
const below = '.editor-more, .of-draft'

/** Why it was refused, as the page says it. */
function refusal(page: Document): string {
  const why = page.querySelector('#faults :is(li, p)')?.textContent?.trim()
  return `Not kept yet${why ? `: ${why}` : ''}`
}
