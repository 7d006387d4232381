import { addressKey, parseMailbox } from '../mime/index.js'

/** An address, and what stands in its place. */
export interface Replaced {
  /** In lower case. */
  address: string
  name: string
}

/**
 * The text without the address, whatever its case; null for null. A longer address that contains it belongs to somebody
 * else. In JSON a line's end stands before it as `\n`, and in a link it may be percent-encoded (RFC 3986 §2.1).
 */
export function without<T extends string | null>({ address, name }: Replaced, text: T): T {
  if (text === null) return text
  const written = new Set([
    address,
    JSON.stringify(address).slice(1, -1),
    encodeURIComponent(address),
  ])
  const pattern = [...written].map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
  const whole = `(?:(?<=\\\\[nrt]|%3D|%3d)|(?<![\\p{L}\\p{N}_.+-]))(?:${pattern})(?![\\p{L}\\p{N}_-]|\\.[\\p{L}\\p{N}])`
  return text.replace(new RegExp(whole, 'giu'), () => name) as T
}

/** Whether the text may have the address, in any case; `without` looks closer. */
export const mayHave = ({ address }: Replaced, ...texts: (string | null)[]): boolean =>
  texts.some((text) => {
    const found = text?.toLowerCase()
    return found?.includes(address) || found?.includes(encodeURIComponent(address).toLowerCase())
  })

/** The mailboxes as they were given; those with the address are replaced together with their display names. */
export const mailboxesWithout = (replaced: Replaced, given: readonly string[]): string[] =>
  given.map((text) =>
    addressKey(parseMailbox(text)?.address ?? text) === replaced.address
      ? replaced.name
      : without(replaced, text),
  )
