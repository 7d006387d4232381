import { html } from '@codemirror/lang-html'
import { liquid } from '@codemirror/lang-liquid'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { basicSetup } from 'codemirror'
import { tellCardFaults } from './card-faults.js'
import { keepCards } from './cards.js'
import { isFold, keepFolds } from './folds.js'
import { keepDraft } from './keep.js'
import { tellPictures } from './picture-words.js'
import { insertTags } from './tags.js'

/*
 * The template's page with script: its code in an editor, and the preview renewed while somebody types. The text areas
 * stay in the form, with the same text, so that the form is sent as it is without script.
 */
const form = document.querySelector<HTMLFormElement>('form#editor')
const nonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? ''
// How long after the last key: each rendering costs the server something, so it waits for a pause.
const afterMs = 600

// The page's own colours, which follow the reader's colour scheme.
const colours = [
  EditorView.theme({
    '&': { color: 'var(--ink)', backgroundColor: 'var(--card)' },
    '.cm-content': { caretColor: 'var(--ink)' },
    '.cm-cursor': { borderLeftColor: 'var(--ink)' },
    '.cm-gutters': { color: 'var(--quiet)', backgroundColor: 'var(--sunk)', border: 'none' },
    '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--accent-soft)' },
    '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
      { backgroundColor: 'var(--line)' },
    // CodeMirror's own marks are pictures as data, which the page's policy forbids.
    '.cm-lint-marker-error': { content: '"●"', color: 'var(--bad)' },
    '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)' },
    '.cm-tooltip': { color: 'var(--ink)', backgroundColor: 'var(--card)' },
  }),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: [tags.tagName, tags.keyword, tags.controlKeyword], color: 'var(--accent)' },
      { tag: [tags.attributeValue, tags.string], color: 'var(--good)' },
      { tag: [tags.brace, tags.processingInstruction, tags.variableName], color: 'var(--bad)' },
      { tag: [tags.comment, tags.angleBracket, tags.attributeName], color: 'var(--quiet)' },
    ]),
  ),
]

if (form !== null) {
  const editors = new Map<string, EditorView>()
  replaceAll(form, editors)
  showFault(editors)
  keepCards(form, (page) => {
    replaceAll(form, editors)
    takePreview(page, editors)
  })
  keepFolds(form)
  keepPreview(form, editors)
  keepDraft(form)
  insertTags(form, editors)
  tellPictures(form)
}

/** Puts an editor in place of each text area for code that has none, and forgets editors that are gone. */
function replaceAll(form: HTMLFormElement, editors: Map<string, EditorView>): void {
  for (const [name, view] of editors) {
    if (form.contains(view.dom)) continue
    view.destroy()
    editors.delete(name)
  }
  for (const area of form.querySelectorAll<HTMLTextAreaElement>('textarea.mono:not([hidden])')) {
    editors.set(area.name, replace(area))
  }
}

/** Puts an editor in place of a text area, which stays hidden in the form with the same text. */
function replace(area: HTMLTextAreaElement): EditorView {
  const label = area.labels[0]
  const language = area.name === 'html' ? liquid({ base: html({ autoCloseTags: true }) }) : liquid()
  const view = new EditorView({
    doc: area.value,
    extensions: [
      basicSetup,
      lintGutter(),
      language,
      colours,
      EditorView.lineWrapping,
      EditorView.cspNonce.of(nonce),
      EditorState.readOnly.of(area.readOnly),
      EditorView.contentAttributes.of({
        // Also where it is read-only: a scrolled area must be reachable by keys.
        tabindex: '0',
        ...(label && { 'aria-label': label.textContent ?? area.name }),
        ...(area.hasAttribute('aria-describedby') && {
          'aria-describedby': area.getAttribute('aria-describedby') ?? '',
        }),
      }),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged) return
        area.value = update.state.doc.toString()
        area.dispatchEvent(new Event('input', { bubbles: true }))
      }),
    ],
  })
  area.before(view.dom)
  area.hidden = true
  // The browser cannot point at a hidden field that is required; the server tells it.
  area.required = false
  label?.addEventListener('click', () => view.focus())
  return view
}

/** Asks for the preview of what is typed, a moment after the last key, and replaces the earlier one. */
function keepPreview(form: HTMLFormElement, editors: ReadonlyMap<string, EditorView>): void {
  let timer: number | undefined
  let latest: AbortController | undefined
  // Of what is kept the answer to that tells, which knows more.
  const tellFaults = form.querySelector('[data-kept]') === null ? tellCardFaults(form) : undefined
  let isTyped = false
  const ask = async () => {
    // The answer to an older text must not replace that to a newer one.
    latest?.abort()
    const asking = new AbortController()
    latest = asking
    isTyped = false
    const body = new URLSearchParams()
    for (const [name, value] of new FormData(form)) {
      if (typeof value === 'string') body.append(name, value)
    }
    try {
      const { preview = '' } = form.dataset
      const answer = await fetch(preview, { method: 'POST', body, signal: asking.signal })
      // A log-in page is no preview: the present one stays.
      if (!answer.ok || answer.redirected) return
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      if (asking.signal.aborted) return
      takePreview(page, editors)
      // What is typed meanwhile is looked at next.
      if (!isTyped) tellFaults?.(page)
    } catch (error) {
      if (!asking.signal.aborted) console.info('The preview could not be made', error)
    }
  }
  // After a reload the browser puts back what was typed.
  addEventListener('pageshow', () => {
    const isPutBack = [...form.querySelectorAll('input')].some(
      (one) => one.name === 'subject' && one.value !== one.defaultValue,
    )
    if (isPutBack) void ask()
  })
  form.addEventListener('input', (event) => {
    // The look (desktop, phone, dark) is only style: nothing has to be rendered again.
    if (event.target instanceof HTMLInputElement && event.target.name === 'look') return
    if (isFold(event.target)) return
    isTyped = true
    clearTimeout(timer)
    timer = setTimeout(() => void ask(), afterMs)
  })
}

/** Replaces the shown preview by that of a page. */
function takePreview(page: Document, editors: ReadonlyMap<string, EditorView>): void {
  const made = page.querySelector('#preview')
  const there = document.querySelector('#preview')
  if (made === null || there === null) return
  putInPlace(there, made)
  for (const part of followers) {
    const [shown, fresh] = [document.querySelector(part), page.querySelector(part)]
    if (shown !== null && fresh !== null) shown.textContent = fresh.textContent
  }
  showFault(editors)
}

// Figures beside fields, which depend on what is typed.
const followers = ['#field-subject-hint', '[data-counted]']

/** What somebody types into stays: unchanged samples keep their fields, and the chosen look stays chosen. */
function putInPlace(there: Element, made: Element): void {
  const look = there.querySelector<HTMLInputElement>('input[name=look]:checked')?.value
  const chosen = look && made.querySelector<HTMLInputElement>(`input[name=look][value=${look}]`)
  if (chosen) {
    for (const other of made.querySelectorAll('input[name=look]')) other.removeAttribute('checked')
    chosen.setAttribute('checked', '')
  }
  const samples = there.querySelector('.samples')
  const fresh = made.querySelector('.samples')
  if (samples !== null && fresh !== null && namesIn(samples) === namesIn(fresh)) {
    fresh.remove()
    for (const child of [...there.children]) if (child !== samples) child.remove()
    samples.before(...made.children)
  } else there.replaceChildren(...made.children)
}

/** The variables that have a field, as a text to compare. */
const namesIn = (samples: Element) =>
  [...samples.querySelectorAll<HTMLInputElement>('input[name=variable]')]
    .map(({ value }) => value)
    .join('\n')

/** Marks the place of the preview's fault. */
function showFault(editors: ReadonlyMap<string, EditorView>): void {
  const fault = document.querySelector<HTMLElement>('#preview [data-fault]')
  for (const [name, view] of editors) {
    const { doc } = view.state
    const line = Number(fault?.dataset.line ?? 0)
    const diagnostics: Diagnostic[] = []
    if (fault !== null && fault.dataset.fault === name && line >= 1 && line <= doc.lines) {
      const { from, to } = doc.line(line)
      // The text may have become shorter since the preview was asked for.
      const start = Math.min(to, from + Math.max(0, Number(fault.dataset.column ?? 1) - 1))
      const message = fault.querySelector('p')?.textContent ?? ''
      diagnostics.push({ from: start, to: Math.max(start, to), severity: 'error', message })
    }
    view.dispatch(setDiagnostics(view.state, diagnostics))
  }
}
