import type { Liquid, Operators } from 'liquidjs'
import type { Budget } from './budget.js'

type Filter = Liquid['filters'][string]
type FilterThis = ThisParameterType<Extract<Filter, (...args: never[]) => unknown>>

// What they print is escaped; the engine would escape it a second time.
const escaping = new Set(['escape', 'escape_once', 'xml_escape'])
// Their second argument indents, and depth times indentation grows without bounds.
const serializing = new Set(['json', 'jsonify', 'inspect'])
// They look for one string in another.
const searching = new Set([
  'replace',
  'replace_first',
  'replace_last',
  'remove',
  'remove_first',
  'remove_last',
  'split',
])
// V8 searches in text × pattern steps at worst (about 1 ns each), and nothing interrupts it.
const maxSearch = 5e7

/** Makes every filter draw what it prints on the budget, and search within bounds. */
export function boundFilters(engine: Liquid, budget: Budget): void {
  for (const [name, filter] of Object.entries(engine.filters)) {
    const { handler, raw } = typeof filter === 'function' ? { handler: filter, raw: false } : filter
    engine.registerFilter(name, {
      raw: raw || escaping.has(name),
      handler(this: FilterThis, value: unknown, ...args: unknown[]): unknown {
        if (searching.has(name)) checkSearch(value, args[0])
        const kept = serializing.has(name) ? [] : args
        const result: unknown = handler.call(this, value, ...kept)
        if (typeof result === 'string') budget.take(result.length)
        return result
      },
    })
  }
}

/** liquidjs' operators, `contains` within bounds. */
export function boundOperators(operators: Operators): Operators {
  const { contains } = operators
  if (contains === undefined) throw new Error('liquidjs has no operator "contains"')
  return {
    ...operators,
    contains(text: unknown, pattern: unknown, context) {
      checkSearch(text, pattern)
      return contains(text, pattern, context)
    },
  }
}

function checkSearch(text: unknown, pattern: unknown): void {
  if (typeof text !== 'string' || typeof pattern !== 'string') return
  if (text.length * pattern.length > maxSearch) throw new Error('a search in too long a text')
}
