import type { Faults } from './faults.js'
import { type Html, type HtmlContent, html } from './html.js'
import { isolated } from './names.js'

/** One question of a form. */
export interface FormField {
  name: string
  label: string
  /** Shown below the label: what to type, with an example. */
  hint?: string
  /** `password` is never filled in again. */
  type?:
    | 'text'
    | 'email'
    | 'url'
    | 'search'
    | 'number'
    | 'password'
    | 'date'
    | 'datetime-local'
    | 'time'
    | 'file'
    | 'checkbox'
    | 'textarea'
    | 'select'
    | 'code'
  /** The value before anybody types; for a checkbox `on` where it is ticked. */
  value?: string | undefined
  options?: readonly (string | { value: string; label: string })[]
  faults?: Faults | undefined
  required?: boolean
  rows?: number
  placeholder?: string
  autocomplete?: string
  inputmode?: string
  pattern?: string
  min?: number
  max?: number
  maxlength?: number
  accept?: string
  /** The id of a `datalist` with the values that are offered. */
  list?: string
  /** For a file: several may be chosen. */
  multiple?: boolean
  /** For pictures: with script, the browser makes large ones smaller. */
  shrinks?: boolean
  autofocus?: boolean
  readonly?: boolean
  spellcheck?: boolean
  /** For pages on which two forms have a field of the same name. */
  id?: string
  /** The key of its faults, where a form has several fields of the same name. */
  place?: string
  /** The id of the form that it is sent with, where the field is outside of that form. */
  form?: string
  /** One of very many on a page: where there is no hint or fault, the label encloses the field, without ids. */
  compact?: boolean
}

/** A label, a hint, the field and its fault, which screen readers read together. */
export function field(of: FormField): Html {
  const { name, label, hint, type = 'text' } = of
  const id = of.id ?? `field-${of.place ?? name}`
  const fault = faultAt(of, id)
  // Some screen readers take the content of a textarea or an editor for text of a label around it.
  const isAlone = hint === undefined && fault === undefined && of.required !== false
  if (of.compact === true && isAlone && !['checkbox', 'code', 'textarea'].includes(type)) {
    const named = html` name="${name}"${flags(of)}`
    return html`<label class="field">${isolated(label)}${controlOf(of, filledIn(of), named)}</label>`
  }
  const told = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ')
  const attributes = html` id="${id}" name="${name}"${attribute('aria-describedby', told)}${
    fault !== undefined && html` aria-invalid="true"`
  }${flags(of)}`
  const words = html`<label for="${id}">${isolated(label)}${of.required === false && html` <span class="quiet">(optional)</span>`}</label>${
    hint && html`<p class="hint" id="${id}-hint">${isolated(hint)}</p>`
  }${fault && html`<p class="fault" id="${id}-fault">${isolated(fault)}</p>`}`
  const control = controlOf(of, filledIn(of), attributes)
  const wrong = fault !== undefined && ' wrong'
  if (type === 'checkbox')
    return html`<div class="field check${wrong}">${control}<div>${words}</div></div>`
  return html`<div class="field${wrong}">${words}${control}</div>`
}

/** Checkboxes or radio buttons that are one question. `value` has the ticked ones. */
export function fieldSet(of: {
  name: string
  label: string
  hint?: string
  type?: 'checkbox' | 'radio'
  options: readonly { value: string; label: string; hint?: string }[]
  value?: readonly string[]
  faults?: Faults | undefined
}): Html {
  const { name, type = 'checkbox', faults } = of
  const id = `field-${name}`
  const ticked = [sentValue(faults, name) ?? of.value ?? []].flat()
  const fault = faultAt(of, id)
  const told = [of.hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ')
  return html`<fieldset class="field${fault !== undefined && ' wrong'}" id="${id}"${attribute('aria-describedby', told)}><legend>${isolated(of.label)}</legend>${
    of.hint && html`<p class="hint" id="${id}-hint">${isolated(of.hint)}</p>`
  }${fault && html`<p class="fault" id="${id}-fault">${fault}</p>`}${of.options.map(
    ({ value, label, hint }) =>
      html`<label class="choice"><input type="${type}" name="${name}" value="${value}"${ticked.includes(value) && html` checked`}><span>${isolated(label)}${hint && html`<span class="hint">${isolated(hint)}</span>`}</span></label>`,
  )}</fieldset>`
}

/** A value that the form sends along. The reader can change it, so it is checked like any other. */
export const hiddenField = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`

/** What is wrong with a field; the list above the page learns where it is. */
function faultAt(
  { name, place = name, label, faults }: LabelledField,
  id: string,
): string | undefined {
  const known = faults?.places?.get(place)
  if (known !== undefined) Object.assign(known, { id, label })
  return faults?.fields[place]
}

type LabelledField = Pick<FormField, 'name' | 'place' | 'label' | 'faults'>

/** What was sent, or else the value before. */
function filledIn({ name, value, faults, type }: FormField): string {
  // A password in the page's HTML would stay in caches and in the browser's history.
  if (type === 'password') return ''
  const sent = sentValue(faults, name) ?? value ?? ''
  return String(Array.isArray(sent) ? (sent[0] ?? '') : sent)
}

/** What was sent for a field; undefined where no form was sent, or one without this field. */
function sentValue(faults: Faults | undefined, name: string): string | string[] | undefined {
  // Browsers leave out boxes that are not ticked.
  return faults?.values[name] ?? (faults?.asked?.includes(name) ? [] : undefined)
}

/** The element that is typed into. */
function controlOf(of: FormField, value: string, attributes: Html): Html {
  const { type = 'text', options = [], rows = 4, compact = false } = of
  if (type === 'textarea' || type === 'code') {
    // HTML §13.1.2.5: one line end after the start tag is dropped.
    return html`<textarea${attributes} rows="${rows}"${type === 'code' && html` class="mono" spellcheck="false" autocapitalize="off"`}>${`\n${value}`}</textarea>`
  }
  if (type === 'select') {
    return html`<select${attributes}>${options.map((option) => {
      const { value: one, label } =
        typeof option === 'string' ? { value: option, label: option } : option
      // HTML §13.1.2.4: the end tag of an option may be left out before the next one and at the end of its select.
      const end = !compact && html`</option>`
      return html`<option value="${one}"${one === value && html` selected`}>${label}${end}`
    })}</select>`
  }
  if (type === 'checkbox') {
    return html`<input type="checkbox"${attributes}${value !== '' && value !== 'off' && html` checked`}>`
  }
  const filled: HtmlContent = type !== 'file' && value !== '' && html` value="${value}"`
  return html`<input type="${type}"${attributes}${filled}>`
}

/** The attributes that a field either has or does not have. */
function flags(of: FormField): Html {
  const { required, autofocus, readonly, spellcheck, multiple, shrinks } = of
  const named = [
    'form',
    'placeholder',
    'autocomplete',
    'inputmode',
    'pattern',
    'accept',
    'list',
  ] as const
  const numbers = ['min', 'max', 'maxlength'] as const
  return html`${named.map((name) => attribute(name, of[name]))}${numbers.map((name) =>
    attribute(name, of[name]),
  )}${required === true && html` required`}${autofocus === true && html` autofocus`}${readonly === true && html` readonly`}${
    spellcheck === false && html` spellcheck="false"`
  }${multiple === true && html` multiple`}${shrinks === true && html` data-shrinks`}`
}

function attribute(name: string, value: string | number | undefined): Html | undefined {
  if (value === undefined || value === '') return undefined
  // The name is always one of ours, so it is not escaped.
  return html` ${name}="${value}"`
}
