import { type AccountLanguage, languageOf } from '../accounts/index.js'
import { english } from './english.js'
import { french } from './french.js'
import { german } from './german.js'
import { portuguese } from './portuguese.js'
import { spanish } from './spanish.js'
import type { Strings } from './strings.js'

const inLanguage: Record<AccountLanguage, Strings> = {
  en: english,
  fr: french,
  de: german,
  es: spanish,
  pt: portuguese,
}

/** What an account's recipients read, in the account's stored language. */
export const stringsIn = (stored: string | null): Strings => inLanguage[languageOf(stored)]
