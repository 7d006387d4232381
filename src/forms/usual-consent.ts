import type { AccountLanguage } from '../accounts/index.js'
import { wordsIn } from './words/index.js'

/** What a new form asks people to agree to, in a language. */
export const usualConsent = (language: AccountLanguage): string => wordsIn[language].consent

/** The consent text that a form keeps: an unchanged one follows the chosen language. */
export function consentIn(language: AccountLanguage, consent: string): string {
  const isUsual = Object.values(wordsIn).some((words) => words.consent === consent.trim())
  return isUsual ? usualConsent(language) : consent
}
