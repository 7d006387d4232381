import Sortable from 'sortablejs'

/*
 * The cards of a form with script: a button that changes them (`do`) brings the part anew in place of the page, and a card can
 * be drawn to its place. The server makes the part as it does without script, of what is typed.
 */

const part = '[data-cards]'

/** Has the form's buttons bring its cards in place; `taken` is told of the new ones, with the page that they came with. */
export function keepCards(form: HTMLFormElement, taken: (page: Document) => void): void {
  if (form.querySelector(part) === null) return
  let isAsking = false
  // What cannot be brought in place is sent as it is without script.
  let isPlain = false
  form.addEventListener('submit', (event) => {
    const { submitter } = event
    if (isPlain || !(submitter instanceof HTMLButtonElement) || submitter.name !== 'do') return
    event.preventDefault()
    // Before others, who take a form that is sent for one that is over.
    event.stopImmediatePropagation()
    if (isAsking) return
    isAsking = true
    void bring(form, submitter, taken)
      .catch(() => {
        isPlain = true
        form.requestSubmit(submitter)
      })
      .finally(() => {
        isAsking = false
      })
  })
  sortable(form)
}

async function bring(
  form: HTMLFormElement,
  button: HTMLButtonElement,
  taken: (page: Document) => void,
): Promise<void> {
  const given = new FormData(form, button)
  const isLarge = button.formEnctype === 'multipart/form-data'
  const body = isLarge ? given : new URLSearchParams(textsOf(given))
  const answer = await fetch(button.formAction, { method: 'POST', body })
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const [there, made] = [form.querySelector(part), page.querySelector(part)]
  // A log-in page, or one that says that the service is away.
  if (there === null || made === null) throw new Error('The answer has no cards')
  there.replaceWith(made)
  document.getElementById('faults')?.remove()
  const faults = page.getElementById('faults')
  if (faults !== null) form.before(faults)
  taken(page)
  sortable(form)
  if (faults === null) focusOn(form, button)
  else faults.focus()
  // It is kept and looked at like what is typed.
  form.querySelector(part)?.dispatchEvent(new Event('input', { bubbles: true }))
}

const textsOf = (form: FormData): [string, string][] =>
  [...form].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))

/** Whoever works by keys goes on at the card that was changed: at the same button, or at what can be typed. */
function focusOn(form: HTMLFormElement, { value, formAction }: HTMLButtonElement): void {
  const place = form.querySelector<HTMLInputElement>('input[name=open]')?.value ?? ''
  const card =
    document.getElementById(`block-${place}`) ??
    document.getElementById(new URL(formAction).hash.slice(1)) ??
    [...form.querySelectorAll<HTMLElement>('.block')].at(-1)
  const [deed = ''] = value.split(':')
  const isMoved = deed === 'up' || deed === 'down'
  const wanted = [
    isMoved ? `button[name=do][value^="${deed}:"]` : 'textarea, input, .cm-content',
    'button',
  ]
  const targets = wanted.flatMap((one) => [...(card?.querySelectorAll<HTMLElement>(one) ?? [])])
  targets.find((one) => one.checkVisibility())?.focus({ preventScroll: true })
  card?.scrollIntoView({ block: 'nearest' })
}

/** Cards of one list can be drawn within it, by a handle that is there with script alone. */
function sortable(form: HTMLFormElement): void {
  for (const list of form.querySelectorAll<HTMLElement>(':is(.blocks, .column):has(> .block)')) {
    const cards = () => [...list.querySelectorAll<HTMLElement>(':scope > .block')]
    for (const card of cards()) {
      const handle = Object.assign(document.createElement('i'), { textContent: '⠿' })
      handle.className = 'handle'
      handle.ariaHidden = 'true'
      card.querySelector(':scope > .buttons:not(.add)')?.prepend(handle)
    }
    Sortable.create(list, {
      draggable: '>.block',
      handle: '.handle',
      animation: 120,
      onEnd: ({ item }) => {
        const place = item.id.replace('block-', '')
        const to = cards().indexOf(item)
        if (String(to) !== place.split('.').at(-1)) press(form, `move:${place}:${to}`)
      },
    })
  }
}

/** What no button of the page says. */
function press(form: HTMLFormElement, deed: string): void {
  const button = document.createElement('button')
  Object.assign(button, { name: 'do', value: deed, hidden: true, formNoValidate: true })
  button.formAction = form.dataset.preview ?? ''
  form.append(button)
  form.requestSubmit(button)
}
