import type { Faults } from '../shell/faults.js'
import { field } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'
import { lookNames } from './form.js'

const labels: Readonly<Record<(typeof lookNames)[number], string>> = {
  width: 'Width in pixels',
  font: 'Font',
  'colors.background': 'Around the mail',
  'colors.page': 'Behind the blocks',
  'colors.text': 'Words',
  'colors.link': 'Links',
  'colors.button': 'Buttons',
  'colors.buttonText': 'Words on buttons',
}

const fonts = [
  { value: '', label: 'As usual (Arial)' },
  { value: 'serif', label: 'Georgia' },
  { value: 'verdana', label: 'Verdana' },
  { value: 'mono', label: 'Courier' },
  { value: 'sans', label: 'Arial' },
]

/** Asks for what holds for all blocks of a mail. */
export function wholeLook(
  rest: Readonly<Record<string, unknown>>,
  { faults, mayWrite }: { faults: Faults; mayWrite: boolean },
): Html {
  const colors = (rest.colors ?? {}) as Record<string, unknown>
  const isWrong = Object.keys(faults.fields).some((one) => one.startsWith('look.'))
  const asked = lookNames.map((name) => {
    const [, colour] = name.split('.')
    const value = colour === undefined ? rest[name] : colors[colour]
    return field({
      name: `look.${name}`,
      label: labels[name],
      value: value === undefined ? '' : String(value),
      faults,
      readonly: !mayWrite,
      compact: true,
      ...(name === 'font' && { type: 'select', options: fonts }),
      ...(name === 'width' && { type: 'number', placeholder: '600' }),
    })
  })
  return html`<details class="card"${isWrong && html` open`}><summary>Look of the whole mail</summary><p class="hint">What is empty is as your brand has it.</p><div class="grid">${asked}</div></details>`
}
