import { createRequire } from 'node:module'
import type PostalMime from 'postal-mime'
import type { decodeWords } from 'postal-mime'

/** The parser, loaded when first needed: each thread has the modules that read mail, and few ever read any. */
export const postalMime = (): typeof PostalMime & { decodeWords: typeof decodeWords } =>
  createRequire(import.meta.url)('postal-mime')

/** Text with its encoded-words read (RFC 2047); as it is where they cannot be. */
export function decodeText(value: string): string {
  try {
    return postalMime().decodeWords(value)
  } catch {
    return value
  }
}
