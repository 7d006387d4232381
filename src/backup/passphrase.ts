import { readFileSync } from 'node:fs'
import { messageOf, OperatorError } from '../errors/index.js'

/** Never an argument, which every user of the machine may see (`ps`). */
export const passphraseVariable = 'POSTHORN_BACKUP_PASSPHRASE'

/** The passphrase from the first line of a file, or from the environment; undefined where neither says one. */
export function passphraseOf(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (file === '') return env[passphraseVariable] || undefined
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new OperatorError(`Cannot read the passphrase of backups: ${messageOf(cause)}`, { cause })
  }
  const passphrase = text.split(/\r?\n/, 1)[0] ?? ''
  if (passphrase === '') throw new OperatorError(`The first line of ${file} has no passphrase`)
  return passphrase
}

const leastCharacters = 12

/** Refuses a passphrase that is guessed too easily, before anything is encrypted with it. */
export function checkPassphrase(passphrase: string): string {
  if ([...passphrase].length >= leastCharacters) return passphrase
  throw new OperatorError(
    `The passphrase of backups has fewer than ${leastCharacters} characters: take a longer one, such as six random words`,
  )
}
