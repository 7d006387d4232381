import { OperatorError } from '../errors/index.js'
import type { Store } from '../store/index.js'

/** The languages of what an account's recipients read, by their codes (BCP 47). */
export const accountLanguages = {
  en: 'English',
  fr: 'Français',
  de: 'Deutsch',
  es: 'Español',
  pt: 'Português',
} as const

export type AccountLanguage = keyof typeof accountLanguages

export const isLanguage = (code: string): code is AccountLanguage =>
  Object.hasOwn(accountLanguages, code)

export const languageCodes = Object.keys(accountLanguages).filter(isLanguage)

/** A stored language; English where none was chosen. */
export const languageOf = (stored: string | null): AccountLanguage =>
  stored !== null && isLanguage(stored) ? stored : 'en'

/** What tells the language in which somebody wants to be addressed. */
interface Wishes {
  /** The language that the account's contact has in its metadata. */
  contact?: unknown
  /** The browser's `Accept-Language`. */
  browser?: string | undefined
  /** The account's own language, as stored. */
  account: string | null
  /** The languages that the account offers. */
  offered: readonly AccountLanguage[]
}

/** The contact's language, else the browser's, if the account offers it; else the account's. */
export function languageFor({ contact, browser, account, offered }: Wishes): AccountLanguage {
  const said = typeof contact === 'string' ? [contact] : []
  for (const wish of [...said, ...wishesIn(browser)]) {
    const code = wish.toLowerCase().split(/[-_]/)[0] ?? ''
    const found = offered.find((one) => one === code)
    if (found !== undefined) return found
  }
  return languageOf(account)
}

// A browser names a few languages; a client that names more than this is no browser.
const maxWishes = 20

/** RFC 9110 §12.5.4: the languages of an `Accept-Language`, the preferred first, without those of weight 0. */
function wishesIn(header = ''): string[] {
  const wishes = header
    .slice(0, 500)
    .split(',')
    .slice(0, maxWishes)
    .map((part) => {
      const [range = '', weight] = part.trim().split(/\s*;\s*q=/)
      return { range, weight: weight === undefined ? 1 : Number(weight) || 0 }
    })
  return wishes
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ range }) => range)
}

/** Sets the language of an account's footers and recipients' pages; throws an OperatorError for an unknown one. */
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
