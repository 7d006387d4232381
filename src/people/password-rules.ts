import { readFileSync } from 'node:fs'
import { packageFile } from '../config/index.js'
import { ApiError } from '../errors/index.js'

export const leastCharacters = 12
const mostCharacters = 200

/**
 * Throws a 422 that says what a password lacks. No rules of composition: what counts is the length, and that
 * guessers' lists do not have it (NIST SP 800-63B §5.1.1.2).
 */
export function checkPassword(password: string, whose: { email: string; name: string }): void {
  // By code points, as people count, and not by UTF-16 units.
  const length = [...password].length
  if (length < leastCharacters)
    throw weak(`A password must have at least ${leastCharacters} characters`)
  if (length > mostCharacters)
    throw weak(`A password may have at most ${mostCharacters} characters`)
  // Only for the comparison: full-width letters and capitals make no word of the list harder to guess.
  const plain = password.normalize('NFKC').toLowerCase()
  const [localPart = ''] = whose.email.toLowerCase().split('@')
  if (plain === whose.email.toLowerCase() || plain === whose.name.toLowerCase()) {
    throw weak('A password must not be your address or your name')
  }
  // The rest without the person's own name must be a password by itself. Short names are not removed, as too much
  // would fall away.
  const rest = localPart.length >= 4 ? plain.replaceAll(localPart, '') : plain
  if ([...rest].length < 4 || new Set(plain).size < 5 || isSequence(plain) || isCommon(plain)) {
    throw weak(
      'This password is easily guessed: take a few words that have nothing to do with each other',
    )
  }
}

const weak = (message: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field: 'password' } })

const rows = ['abcdefghijklmnopqrstuvwxyz', '01234567890123456789', 'qwertyuiopasdfghjklzxcvbnm']

/** A sequence along the keyboard or the alphabet, forwards or backwards. */
function isSequence(plain: string): boolean {
  const backwards = [...plain].reverse().join('')
  return rows.some((row) => row.repeat(2).includes(plain) || row.repeat(2).includes(backwards))
}

// How many characters people usually add to a common word: `Password1234!`.
const mostAround = 7
let common: ReadonlySet<string> | undefined

/** One of the commonest passwords, or one of them repeated, or with a year and a sign around it. */
function isCommon(plain: string): boolean {
  // Loaded when the first password is chosen, as most processes never need it.
  common ??= new Set(readFileSync(packageFile('config/common-passwords.txt'), 'utf8').split('\n'))
  const [, unit = plain] = /^(.+?)\1+$/s.exec(plain) ?? []
  const word = unit.replace(/^[^a-z]+|[^a-z]+$/g, '')
  const around = unit.length - word.length
  return common.has(plain) || common.has(unit) || (around <= mostAround && common.has(word))
}
