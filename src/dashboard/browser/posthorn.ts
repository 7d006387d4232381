// What script adds to pages that work without it: copy buttons, the reader's time zone, passkeys, smaller pictures, and parts that keep
// themselves up to date. htmx serves the forms that ask for a part of their page (`hx-get`).
import htmx from 'htmx.org'
import { keepUpToDate } from './live.js'
import { waitForTyped } from './on-its-way.js'
import './passkey.js'
import { shrinkPictures } from './shrink.js'
import { keepTicks } from './ticks.js'

// No eval and no style of its own (the page's policy), no other origin, no customer's data in the browser's storage.
Object.assign(htmx.config, {
  allowEval: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
  allowScriptTags: false,
})

/** The clipboard exists over TLS and on this machine only; elsewhere the text is selected, for the keyboard. */
async function copy(button: HTMLButtonElement): Promise<void> {
  const source = (button.closest('.copied') ?? button.parentElement)?.querySelector('code, pre')
  if (source === null || source === undefined) return
  const label = button.textContent
  try {
    await navigator.clipboard.writeText(source.textContent ?? '')
    button.textContent = 'Copied'
  } catch {
    getSelection()?.selectAllChildren(source)
    button.textContent = 'Selected'
  }
  setTimeout(() => {
    button.textContent = label
  }, 2_000)
}

/**
 * Adds to a part of the page what script can do. It is called again for each part that was loaded
 * since.
 */
function enhance(within: ParentNode): void {
  for (const button of within.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    button.hidden = false
  }
}

// The server shows times in the reader's zone, which the browser tells it once; the profile has it from then on.
if (document.documentElement.dataset.zoneUnknown !== undefined) {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  void fetch('/me/time-zone', { method: 'POST', body: new URLSearchParams({ timeZone }) })
}
// A button that stands for 'now show what this choice needs' is pressed by the choice, or by each of them, a moment after the last key: who
// chooses by letters or arrows passes over others.
const afterMs = 500
let chosen: number | undefined
document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLSelectElement) || target.id === '') return
  const named = `button[data-follows~="${CSS.escape(target.id)}"]`
  if (document.querySelector(named) === null) return
  clearTimeout(chosen)
  chosen = setTimeout(() => document.querySelector<HTMLButtonElement>(named)?.click(), afterMs)
})
enhance(document)
document.addEventListener('htmx:load', (event) => {
  if (event.target instanceof Element) enhance(event.target)
})
document.addEventListener('click', (event) => {
  if (!(event.target instanceof Element)) return
  const button = event.target.closest<HTMLButtonElement>('button[data-copy]')
  if (button !== null) void copy(button)
  // A menu closes when somebody clicks elsewhere.
  for (const menu of document.querySelectorAll<HTMLDetailsElement>('details.menu[open]')) {
    if (!menu.contains(event.target)) menu.open = false
  }
})
document.addEventListener('keydown', (event) => {
  const menu = document.querySelector<HTMLDetailsElement>('details.menu[open]')
  if (event.key !== 'Escape' || menu === null) return
  menu.open = false
  menu.querySelector('summary')?.focus()
})
// Who has to correct a form begins at what is wrong with it. Some browsers ignore `autofocus` in a
// page that was sent as the answer to a form.
document.getElementById('faults')?.focus()
keepUpToDate(enhance)
keepTicks()
shrinkPictures()
waitForTyped()
