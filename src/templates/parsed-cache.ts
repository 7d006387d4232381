import type { Parsed } from './engine.js'

// A parsed tag takes about 2 KB, the text between tags its own length (2026-11-21).
const tagBytes = 2_000
const maxBytes = 32 * 1024 * 1024

/** What was parsed, the least recently used forgotten first. */
export function makeParsedCache() {
  const kept = new Map<string, { parsed: Parsed; bytes: number }>()
  let total = 0
  return {
    get(key: string): Parsed | undefined {
      const entry = kept.get(key)
      if (entry === undefined) return undefined
      kept.delete(key)
      kept.set(key, entry)
      return entry.parsed
    },
    keep(key: string, parsed: Parsed, liquid: string): void {
      const bytes = liquid.length * 2 + (liquid.match(/\{[{%]/g)?.length ?? 0) * tagBytes
      kept.set(key, { parsed, bytes })
      total += bytes
      for (const [oldest, entry] of kept) {
        if (total <= maxBytes) break
        kept.delete(oldest)
        total -= entry.bytes
      }
    },
  }
}
