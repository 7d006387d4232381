// What script adds to pages that work without it: copy buttons, the reader's own time, passkeys, and parts that keep
// themselves up to date. htmx serves the forms that ask for a part of their page (`hx-get`).
import htmx from 'htmx.org'
import { keepUpToDate } from './live.js'
import './passkey.js'

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

/** In the reader's own language and time zone, which the server does not know. */
const ownTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** The page has UTC; whoever points at a time sees their own too. */
function tellOwnTimes(within: ParentNode): void {
  for (const time of within.querySelectorAll<HTMLTimeElement>('time[datetime]')) {
    const at = new Date(time.dateTime)
    if (Number.isNaN(at.getTime()) || time.dataset.told !== undefined) continue
    time.dataset.told = ''
    time.title = `${ownTime.format(at)} here${time.title === '' ? '' : `; ${time.title}`}`
  }
}

/**
 * Adds to a part of the page what script can do. It is called again for each part that was loaded
 * since.
 */
function enhance(within: ParentNode): void {
  tellOwnTimes(within)
  for (const button of within.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    button.hidden = false
  }
}

/** A date field has UTC for the server; whoever types sees their own time, and it is sent as UTC. */
function useOwnTime(box: HTMLElement): void {
  const [field, label] = [box.querySelector('input'), box.querySelector('label')]
  if (field === null || label === null) return
  const { timeZone } = ownTime.resolvedOptions()
  label.textContent = (label.textContent ?? '').replace('UTC', timeZone)
  if (field.value !== '') {
    const at = new Date(`${field.value}Z`)
    at.setMinutes(at.getMinutes() - at.getTimezoneOffset())
    field.value = at.toISOString().slice(0, 16)
  }
  field.form?.addEventListener('formdata', ({ formData }) => {
    if (field.value !== '') formData.set(field.name, new Date(field.value).toISOString())
  })
}

for (const box of document.querySelectorAll<HTMLElement>('[data-local-time]')) useOwnTime(box)
// A button that stands for 'now show what this choice needs' is pressed by the choice.
for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-follows]')) {
  document.getElementById(button.dataset.follows ?? '')?.addEventListener('change', () => {
    button.click()
  })
}
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
