/*
 * Faults of cards, with script: keeping a draft returns its page anew, and each message beside a field there is put
 * beside the field here, or removed. What is typed stays.
 */

const cards = '[data-cards]'

type Line = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/**
 * Shows the faults of a returned page in the form's cards, but only in cards in which somebody has typed: others are
 * just begun.
 */
export function tellCardFaults(form: HTMLFormElement): (page: Document) => void {
  const typed = new Set<string>()
  form.addEventListener('input', ({ target }) => {
    if (target instanceof Element && 'name' in target) typed.add(cardOf(String(target.name)))
  })
  return (page) => {
    for (const line of form.querySelectorAll<Line>(`${cards} .field [name]`)) {
      const fresh = page.querySelector(`${cards} .field [name="${CSS.escape(line.name)}"]`)
      const [there, made] = [line.closest('.field'), fresh?.closest('.field')]
      if (there === null || made == null) continue
      const told = there.querySelector('.fault')
      const says = made.querySelector('.fault')
      if (told === null && !typed.has(cardOf(line.name))) continue
      if (told?.textContent !== says?.textContent) putBeside(line, there, says)
    }
  }
}

/** `b.3` of `b.3.url`: the card that has the field. */
const cardOf = (name: string) => name.split('.').slice(0, -1).join('.')

function putBeside(line: Line, there: Element, says: Element | null): void {
  there.querySelector('.fault')?.remove()
  there.classList.toggle('wrong', says !== null)
  const id = `${line.id || `field-${line.name}`}-fault`
  const others = (line.getAttribute('aria-describedby') ?? '')
    .split(' ')
    .filter((one) => one !== '' && one !== id)
  const told = [...others, ...(says === null ? [] : [id])].join(' ')
  if (told === '') line.removeAttribute('aria-describedby')
  else line.setAttribute('aria-describedby', told)
  line.ariaInvalid = says === null ? null : 'true'
  if (says === null) return
  const fold = there.closest('.block')?.querySelector<HTMLInputElement>(':scope > .fold > input')
  if (fold) fold.checked = true
  const fault = document.createElement('p')
  Object.assign(fault, { id, className: 'fault', textContent: says.textContent })
  const words = [...there.querySelectorAll(':scope > label, :scope > .hint')].at(-1)
  if (words === undefined) line.before(fault)
  else words.after(fault)
}
