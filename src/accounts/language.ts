import { OperatorError } from '../errors/index.js'
import type { Store } from '../store/index.js'

/** The languages of what an account's recipients read, by their codes (BCP 47). */
export const accountLanguages = { en: 'English', fr: 'Français' } as const

export type AccountLanguage = keyof typeof accountLanguages

const isLanguage = (code: string): code is AccountLanguage => Object.hasOwn(accountLanguages, code)

/** A stored language; English where nothing was chosen. */
export const languageOf = (stored: string | null): AccountLanguage =>
  stored !== null && isLanguage(stored) ? stored : 'en'

/** Sets what language footers and pages of an account's recipients are in; throws an OperatorError for another one. */
export async function setLanguage(
  { store }: { store: Store },
  accountId: string,
  language: string,
): Promise<void> {
  if (!isLanguage(language)) {
    const known = Object.entries(accountLanguages).map(([code, name]) => `${code} (${name})`)
    throw new OperatorError(
      `"${language}" is no language of footers: expected ${known.join(' or ')}`,
    )
  }
  await store.write((tx) =>
    tx.updateTable('accounts').set({ language }).where('id', '=', accountId).execute(),
  )
}
