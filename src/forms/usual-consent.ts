import type { AccountLanguage } from '../accounts/index.js'
import { wordsIn } from './words/index.js'

/** What a new form asks people to agree to, in a language. */
export const usualConsent = (language: AccountLanguage): string => wordsIn[language].consent

/** The text that a form keeps: one that nobody has changed is that of the language which is chosen. */
export function consentIn(language: AccountLanguage, consent: string): string {
  const isUsual = Object.values(wordsIn).some((words) => words.consent === consent.trim())
  return isUsual ? usualConsent(language) : consent
}
