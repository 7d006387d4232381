import type { Command } from 'commander'
import {
  accountFace,
  accountLanguages,
  findAccount,
  languageOf,
  setLanguage,
} from '../accounts/index.js'
import type { CommandRow } from './command-row.js'
import { withStore } from './database.js'
import { say, sayJson } from './output.js'
import { placeOf } from './place.js'

const known = Object.entries(accountLanguages).map(([code, name]) => `${code} (${name})`)

/** The language of what an account's recipients read. */
export const accountLanguageRows: readonly CommandRow[] = [
  {
    usage: 'language <account> [language]',
    about:
      "set or show the language of an account's footers, unsubscribe page and preference centre",
    help: `Languages: ${known.join(', ')}. Mail that has left keeps its footer; the pages behind its links change.
Without a language, the command tells what is set.

Examples:
  $ posthorn account language 'City library' fr
  $ posthorn account language 'City library'`,
    run: runLanguage,
  },
]

/** Sets the options that are given, and shows the language that is then in force. */
async function runLanguage(
  idOrName: string,
  given: string | undefined,
  _options: unknown,
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const { found, language } = await withStore(place, async ({ store }) => {
    const found = await findAccount(store.read, idOrName)
    if (given !== undefined) await setLanguage({ store }, found.id, given)
    const face = await accountFace(store.read, found.id)
    return { found, language: languageOf(face?.language ?? null) }
  })
  if (place.json) return sayJson({ id: found.id, name: found.name, language })
  say(`Recipients of "${found.name}" read ${accountLanguages[language]} (${language})`)
}
