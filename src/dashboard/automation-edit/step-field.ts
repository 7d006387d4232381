import { type FormField, field } from '../shell/field.js'
import type { Html } from '../shell/html.js'

/** A field of the card that is open. */
export const one = (of: FormField): Html => field({ ...of, name: `s.${of.name}` })
