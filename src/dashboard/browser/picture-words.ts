/*
 * What a chosen picture shows: with script its card says it at once, without script the server does at the next
 * request.
 */

/** When a picture is chosen in a card, fills in what it shows, unless somebody has written that. */
export function tellPictures(form: HTMLFormElement): void {
  form.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return
    if (target.name.endsWith('.pick')) return take(form, target)
    if (target.list === null) return
    const { list, name, value } = target
    // An address typed after a small picture was pressed is the one that counts.
    for (const pick of form.querySelectorAll<HTMLInputElement>('input[type=radio]')) {
      if (pick.name === name.replace(/\.url$/, '.pick')) pick.checked = pick.value === value
    }
    const alt = form.elements.namedItem(name.replace(/\.url$/, '.alt'))
    if (!(alt instanceof HTMLInputElement) || alt === target || alt.value.trim() !== '') return
    const words = [...list.options].find((one) => one.value === value)?.dataset.alt ?? ''
    if (words === '') return
    alt.value = words
    // The change is kept and previewed like typed text.
    alt.dispatchEvent(new Event('input', { bubbles: true }))
  })
}

/** Pressing a small picture puts its address into the card, as if it was chosen there. */
function take(form: HTMLFormElement, { name, value }: HTMLInputElement): void {
  const url = form.elements.namedItem(name.replace(/\.pick$/, '.url'))
  if (!(url instanceof HTMLInputElement) || url.value === value) return
  url.value = value
  url.dispatchEvent(new Event('input', { bubbles: true }))
  url.dispatchEvent(new Event('change', { bubbles: true }))
}
