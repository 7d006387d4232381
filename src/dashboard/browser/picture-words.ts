/*
 * What a chosen picture shows, with script: its card says it at once. Without it the server does, with what is sent next.
 */

/** Fills in what a picture shows that is chosen in a card, where nobody has written that. */
export function tellPictures(form: HTMLFormElement): void {
  form.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.list === null) return
    const { list, name, value } = target
    const alt = form.elements.namedItem(name.replace(/\.url$/, '.alt'))
    if (!(alt instanceof HTMLInputElement) || alt === target || alt.value.trim() !== '') return
    const words = [...list.options].find((one) => one.value === value)?.dataset.alt ?? ''
    if (words === '') return
    alt.value = words
    // It is kept and looked at like what is typed.
    alt.dispatchEvent(new Event('input', { bubbles: true }))
  })
}
