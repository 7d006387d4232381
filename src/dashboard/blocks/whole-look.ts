import type { Form } from '../../http/index.js'
import type { Faults } from '../shell/faults.js'
import { field } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'
import { numberOf } from './answers.js'

/** The fields of the whole mail's look, by their place in the document. */
const lookNames = [
  'width',
  'font',
  'colors.background',
  'colors.page',
  'colors.text',
  'colors.link',
  'colors.button',
  'colors.buttonText',
] as const

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

/** Width, font and colours as they are typed; where the form does not ask for them, as they were. */
export function lookIn(fields: Form, rest: Record<string, unknown>): Record<string, unknown> {
  if (fields.get('look.font') === undefined) return rest
  const { width: _, font: __, colors: ___, ...others } = rest
  const colors: Record<string, unknown> = {}
  const look: Record<string, unknown> = { ...others }
  for (const name of lookNames) {
    const value = fields.get(`look.${name}`)?.trim() ?? ''
    if (value === '') continue
    if (name.startsWith('colors.')) colors[name.slice('colors.'.length)] = value
    else look[name] = name === 'width' ? numberOf(value) : value
  }
  return Object.keys(colors).length === 0 ? look : { ...look, colors }
}
