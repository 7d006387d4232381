import { createHash } from 'node:crypto'

/**
 * The name under which a contact has the answer: 'Favourite book' is `favouriteBook`. Of a label without such letters
 * it is made, the same for the same label in every form.
 */
export function nameFrom(label: string): string {
  const plain = label.normalize('NFD').replace(/\p{M}/gu, '')
  const words = plain.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const name = words
    .map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')
    .slice(0, 40)
  if (/^[a-z]/i.test(name)) return name
  return `field${createHash('sha256').update(label).digest('hex').slice(0, 8)}`
}
