import { createHash } from 'node:crypto'
import { isBuiltInTag } from '../templates/index.js'
import { isNameField } from './kinds.js'

/** Whether a field may have the name: no merge tag with another meaning has it. */
export const isFreeName = (name: string): boolean => isNameField(name) || !isBuiltInTag(name)

/** A similar name that is free. */
export const otherName = (name: string): string => `${name.slice(0, 35)}Field`

// Letters that Unicode does not decompose into a plain letter and a mark.
const plainLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ı: 'i',
  ŧ: 't',
  ŋ: 'ng',
}

/**
 * The name under which a contact stores the answer: 'Favourite book' becomes `favouriteBook`. A label without such
 * letters gets a name computed from it, the same in every form. 'Email', which is a merge tag, becomes `emailField`.
 */
export function nameFrom(label: string): string {
  const plain = label.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '')
  const latin = plain.replace(/[^a-z0-9]/g, (letter) => plainLetters[letter] ?? letter)
  const words = latin.match(/[a-z0-9]+/g) ?? []
  const name = words
    .map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')
    .slice(0, 40)
  if (/^[a-z]/i.test(name)) return isFreeName(name) ? name : otherName(name)
  return `field${createHash('sha256').update(label).digest('hex').slice(0, 8)}`
}
