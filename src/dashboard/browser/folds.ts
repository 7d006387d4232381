/*
 * Cards that are folded, with script: which are is sent with the form, so that they stay as they are when cards come anew, and a
 * card that is folded shows the words that were typed into it.
 */

/** Has the form know which of its cards are folded. */
export function keepFolds(form: HTMLFormElement): void {
  // The event of a part that opens does not go up to what it stands in.
  form.addEventListener(
    'toggle',
    ({ target }) => {
      if (!(target instanceof HTMLDetailsElement) || !target.matches('.fold')) return
      const sent = target.nextElementSibling
      if (sent instanceof HTMLInputElement) sent.value = target.open ? 'on' : ''
      const card = target.closest('.block')
      if (!target.open && card !== null) tellWords(target, card)
    },
    true,
  )
}

function tellWords(fold: HTMLDetailsElement, card: Element): void {
  const lines = card.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
    ':scope > .unfolded > .field :is(textarea, input[type=text])',
  )
  const words = [...lines].map(({ value }) => value.trim()).find((value) => value !== '')
  const shown = fold.querySelector('summary > span')
  if (shown !== null && words !== undefined) shown.textContent = words.slice(0, mostShown)
}

// As the server shows them.
const mostShown = 80
