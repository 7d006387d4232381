import type { AccountLanguage } from '../../accounts/index.js'
import { english } from './english.js'
import { french } from './french.js'
import { german } from './german.js'
import { portuguese } from './portuguese.js'
import { spanish } from './spanish.js'
import type { FormWords } from './words.js'

export const wordsIn: Readonly<Record<AccountLanguage, FormWords>> = {
  en: english,
  fr: french,
  de: german,
  es: spanish,
  pt: portuguese,
}
