/*
 * Ticks of a list, with script: all of a page at once without a request, how many there are, and the same ticks when
 * somebody comes back to the page. They are kept in the tab's history, which ends with the tab.
 */

const kept = 'ticks'

export function keepTicks(): void {
  const boxes = [...document.querySelectorAll<HTMLInputElement>('.tick input[name="ids"]')]
  if (boxes.length === 0) return
  const all = document.querySelector<HTMLAnchorElement>('a[data-tick-all]')
  const told = document.querySelector('[data-ticked]')
  const isAll = () => boxes.every(({ checked }) => checked)
  const show = () => {
    if (all !== null) all.textContent = (isAll() ? all.dataset.none : all.dataset.all) ?? ''
    const ticked = boxes.filter(({ checked }) => checked).length
    if (told !== null) told.textContent = ticked === 0 ? '' : `${ticked} ticked`
  }
  const note = () => {
    const ticks = boxes.filter(({ checked }) => checked).map(({ value }) => value)
    history.replaceState({ ...history.state, [kept]: ticks }, '')
    show()
  }
  const before: unknown = history.state?.[kept]
  if (Array.isArray(before)) {
    for (const box of boxes) box.checked = before.includes(box.value)
  }
  show()
  for (const box of boxes) box.addEventListener('change', note)
  all?.addEventListener('click', (event) => {
    event.preventDefault()
    const tick = !isAll()
    for (const box of boxes) box.checked = tick
    note()
  })
}
