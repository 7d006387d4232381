/*
 * Cards that are folded, with script: which are is sent with the form, so that they stay as they are when cards come anew, and the
 * line that folds a card has the words that are typed into it.
 */

/** Has the form know which of its cards are folded. */
export function keepFolds(form: HTMLFormElement): void {
  form.addEventListener('input', ({ target }) => {
    const card = target instanceof Element ? target.closest('.block') : null
    const fold = card?.querySelector(':scope > .fold > summary')
    if (card !== null && fold) tellWords(fold, card)
  })
  // The event of a part that opens does not go up to what it stands in.
  form.addEventListener(
    'toggle',
    ({ target }) => {
      if (!(target instanceof HTMLDetailsElement) || !target.matches('.fold')) return
      const sent = target.nextElementSibling
      if (sent instanceof HTMLInputElement) sent.value = target.open ? 'on' : ''
    },
    true,
  )
}

function tellWords(fold: Element, card: Element): void {
  const lines = card.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
    ':scope > .body > .field :is(textarea, input[type=text])',
  )
  const words = [...lines].map(({ value }) => value.trim()).find((value) => value !== '')
  if (words !== undefined) fold.textContent = words.slice(0, mostShown)
}

// As the server shows them.
const mostShown = 50
