import type { EditorView } from '@codemirror/view'

/*
 * The menu of merge tags with script: a click puts the tag where somebody writes. Without script the tags are copied by
 * hand.
 */

/** Shows the menu's buttons; they insert at the place in the form where somebody wrote last. */
export function insertTags(form: HTMLFormElement, editors: ReadonlyMap<string, EditorView>): void {
  const menu = form.querySelector('[data-tags]')
  const fallback = menu?.querySelector<HTMLInputElement>('#tag-default')
  if (menu === null || fallback === null || fallback === undefined) return
  let last: HTMLInputElement | HTMLTextAreaElement | EditorView | undefined
  form.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement) || menu.contains(target)) return
    const view = [...editors.values()].find(({ dom }) => dom.contains(target))
    const isText = target instanceof HTMLTextAreaElement || isLine(target)
    last = view ?? (isText ? target : last)
  })
  fallback.parentElement?.removeAttribute('hidden')
  for (const button of menu.querySelectorAll<HTMLButtonElement>('button[data-tag]')) {
    button.hidden = false
    button.addEventListener('click', () => {
      const name = button.dataset.tag ?? ''
      // Characters that would end the tag or its quotes are left out.
      const words = fallback.value.replace(/["{}\\]/g, '')
      const tag =
        button.dataset.default === undefined
          ? `{{ ${name} }}`
          : `{{ ${name} | default: "${words}" }}`
      put(tag, last ?? firstOf(form, editors))
    })
  }
}

const isLine = (target: HTMLElement): target is HTMLInputElement =>
  target instanceof HTMLInputElement &&
  target.type === 'text' &&
  target.closest('.editor-source') !== null

const firstOf = (form: HTMLFormElement, editors: ReadonlyMap<string, EditorView>) =>
  editors.get('html') ??
  [
    ...form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
      '.block :is(textarea, input[type=text])',
    ),
    // Not in a card that is folded.
  ].find((line) => line.checkVisibility())

function put(
  tag: string,
  place: HTMLInputElement | HTMLTextAreaElement | EditorView | null | undefined,
): void {
  if (place === null || place === undefined) return
  if (!(place instanceof HTMLElement)) {
    place.dispatch(place.state.replaceSelection(tag))
    place.focus()
    return
  }
  place.setRangeText(tag, place.selectionStart ?? 0, place.selectionEnd ?? 0, 'end')
  place.dispatchEvent(new Event('input', { bubbles: true }))
  place.focus()
}
