// What script adds to pages that work without it: copy buttons, the reader's time zone, passkeys, smaller pictures, and
// parts that update themselves. htmx serves the forms that ask for a part of their page (`hx-get`).
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

/** The clipboard exists only over TLS and on this machine; elsewhere the text is selected, to be copied by keys. */
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
 * Adds to a part of the page what script can do. It is called again for each part that is loaded
 * later.
 */
function enhance(within: ParentNode): void {
  for (const button of within.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    button.hidden = false
  }
}

// The server shows times in the reader's zone. The browser tells it once; from then on the profile has it.
if (document.documentElement.dataset.zoneUnknown !== undefined) {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  void fetch('/me/time-zone', { method: 'POST', body: new URLSearchParams({ timeZone }) })
}
// A button for 'now show what this choice needs' is pressed by the choice itself (or by any of several), a moment after
// the last key: whoever chooses by letters or arrows passes over other options.
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
// Whoever has to correct a form begins at what is wrong with it. Some browsers ignore `autofocus`
// in a page that was the answer to a form.
document.getElementById('faults')?.focus()
keepUpToDate(enhance)
keepTicks()
shrinkPictures()
waitForTyped()
