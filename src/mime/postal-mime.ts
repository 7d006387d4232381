import { createRequire } from 'node:module'
import type PostalMime from 'postal-mime'
import type { decodeWords } from 'postal-mime'

/** The parser, loaded on first use: each thread has the modules that read mail, and few ever read any. */
export const postalMime = (): typeof PostalMime & { decodeWords: typeof decodeWords } =>
  createRequire(import.meta.url)('postal-mime')

/** Text with its encoded-words decoded (RFC 2047); unchanged if they cannot be decoded. */
export function decodeText(value: string): string {
  try {
    return postalMime().decodeWords(value)
  } catch {
    return value
  }
}
