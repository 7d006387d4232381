import { frame, type PageAnswer } from '../shell/answer.js'
import type { NodeMemory } from '../shell/node-memory.js'

/** HTML that was made for somebody to look at; a frame asks for it by its id a moment later. */
export interface RenderedPages {
  keep(accountId: string, html: string): string
  /** Undefined for HTML that is forgotten, or another account's. */
  find(accountId: string, id: string): Promise<string | undefined>
}

// How much is kept for all accounts together. A preview is asked for within a second, so few are needed at once.
const maxChars = 16 * 1024 * 1024
const maxPages = 500

/**
 * An unsaved draft has no address of its own, and a frame needs one: `srcdoc` would be under the page's own rules,
 * which forbid the styles that every mail has. The oldest are forgotten; the page then makes them again. `kind`: what
 * other nodes ask for.
 */
export function makeRenderedPages(memory: NodeMemory, kind: string): RenderedPages {
  const kept = new Map<string, { accountId: string; html: string }>()
  const ask = memory.keeps(kind, (id) => {
    const found = kept.get(id)
    return found && JSON.stringify(found)
  })
  let chars = 0
  return {
    keep(accountId, html) {
      // Nobody can guess the id. It is checked against the account all the same.
      const id = memory.newId()
      kept.set(id, { accountId, html })
      chars += html.length
      for (const [oldest, { html }] of kept) {
        if (chars <= maxChars && kept.size <= maxPages) break
        kept.delete(oldest)
        chars -= html.length
      }
      return id
    },
    async find(accountId, id) {
      const found = JSON.parse((await ask(id)) ?? '{}')
      return found.accountId === accountId ? found.html : undefined
    },
  }
}

/** What recipients see, in a frame; with `dark` in the query, as on a dark screen. */
export const sampleFrame = (html: string, query: URLSearchParams): PageAnswer =>
  frame(query.has('dark') ? inTheDark(html) : html)

/**
 * The HTML as a reader with a dark screen sees it: its rules for dark screens always hold, those
 * for light ones never. This is needed because a page cannot choose the colour scheme of a frame.
 */
export function inTheDark(html: string): string {
  const chosen = html
    .replace(/\(\s*prefers-color-scheme\s*:\s*dark\s*\)/gi, '(min-width: 0px)')
    .replace(/\(\s*prefers-color-scheme\s*:\s*light\s*\)/gi, '(max-width: 0px)')
  return `<style>:root{color-scheme:dark}html{background:#121212;color:#eee}</style>${chosen}`
}
