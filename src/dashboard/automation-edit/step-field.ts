import { type FormField, field } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'

/** A field of the open card. */
export const one = (of: FormField): Html => field({ ...of, name: `s.${of.name}` })

/** Shows the fields that a choice needs: with script at once, else by the button. */
export const showsFor = (name: string, change: string, label = 'Show what it asks for'): Html =>
  html`<p class="buttons"><button name="do" value="show:" formaction="${change}#open" formnovalidate data-follows="field-s.${name}">${label}</button></p>`
