import {
  Context,
  defaultOperators,
  type Emitter,
  Liquid,
  type Operators,
  type Template,
} from 'liquidjs'
import type { Budget } from './budget.js'

/** What a piece of Liquid was parsed into. */
export type Parsed = Template[]

export interface Engine {
  /** Throws liquidjs' errors, which carry the position (render-job.ts). */
  parse(liquid: string): Parsed
  /** Renders within the budget, which the caller has renewed. `strict`: a missing variable throws. */
  render(parsed: Parsed, variables: object, strict: boolean): string
  /** The names of its filters. */
  filters: readonly string[]
  /** The paths of the variables that it uses, such as `user.name`, without those that it assigns itself. */
  paths(parsed: Parsed): string[]
}

// These tags read files or other templates.
const fileTags = ['include', 'render', 'layout', 'block']
// interface.md, variables: a variable inside them is not required, whether the branch is taken or not.
const conditionalTags = ['if', 'unless', 'case']
// Parsing a tag costs about 25 µs at first (2026-11-21): more would come near the limit of time.
const maxTags = 1_000

/**
 * Liquid by decisions.md: strict variables and filters, lenient in and within conditions, own properties only, no
 * files. `escapes`: output is HTML-escaped, except with `| raw`. liquidjs' own limits leave gaps, each of which could
 * end the whole process with one huge allocation: what is written by `capture`, static text in loops, filters that
 * make text longer, arrays that turn into text. All of them draw on the one budget here. It reaches into liquidjs'
 * workings, so its version is pinned; test/templates/hostile.test.ts shows what an upgrade breaks.
 */
export function makeEngine(budget: Budget, { escapes }: { escapes: boolean }): Engine {
  const engine = new Liquid({
    strictVariables: true,
    strictFilters: true,
    lenientIf: true,
    ownPropertyOnly: true,
    ...(escapes ? { outputEscape: 'escape' } : {}),
    templates: {},
    relativeReference: false,
    operators: boundOperators(defaultOperators),
    timezoneOffset: 0,
    preserveTimezones: true,
    locale: 'en-US',
  })
  for (const name of fileTags) delete engine.tags[name]
  for (const name of conditionalTags) makeLenient(engine, name)
  boundFilters(engine, budget)
  const { renderer } = engine
  const { renderTemplates } = renderer
  // `capture` passes no emitter, and liquidjs' own would grow without being counted.
  renderer.renderTemplates = (templates, context, emitter = makeEmitter(budget)) =>
    renderTemplates.call(renderer, templates, context, emitter)

  return {
    filters: Object.keys(engine.filters),
    parse(liquid) {
      const tags = liquid.match(/\{[{%]/g)?.length ?? 0
      if (tags > maxTags) throw new Error(`it has ${tags} tags; at most ${maxTags} are allowed`)
      return engine.parse(liquid)
    },
    render(parsed, variables, strictVariables) {
      const options = { sync: true, strictVariables }
      const context = new Context(variables, engine.options, options, { liquid: engine })
      context.renderLimit.check = (now) => budget.checkTime(now)
      context.memoryLimit.use = (amount) => budget.take(Number(amount))
      return String(engine.renderSync(parsed, context))
    },
    paths(parsed) {
      const segments = engine.globalVariableSegmentsSync(parsed)
      const own = segments.filter(([root]) => root !== 'forloop' && root !== 'tablerowloop')
      return own.map(pathOf).filter((path) => path !== '')
    },
  }
}

/** Within the tag, its conditions and all its branches, a missing variable renders as nothing. */
function makeLenient(engine: Liquid, name: string): void {
  const Strict = engine.tags[name]
  if (Strict === undefined) throw new Error(`liquidjs has no tag "${name}"`)
  const { render }: { render: (context: Context, emitter: Emitter) => Generator } = Strict.prototype
  class Lenient extends Strict {
    *render(context: Context, emitter: Emitter): Generator {
      const { strictVariables } = context
      context.strictVariables = false
      try {
        return yield* render.call(this, context, emitter)
      } finally {
        context.strictVariables = strictVariables
      }
    }
  }
  engine.registerTag(name, Lenient)
}

function makeEmitter(budget: Budget) {
  return {
    buffer: '',
    write(output: unknown) {
      const text = textOf(output)
      budget.take(text.length)
      this.buffer += text
    },
  }
}

/** The path as far as it is known before rendering, without properties that Liquid itself provides. */
function pathOf(segments: readonly unknown[]): string {
  const unknown = segments.findIndex(
    (one) => typeof one !== 'string' || !/^[\w-]+$/.test(one) || /^(size|first|last)$/.test(one),
  )
  return segments.slice(0, unknown === -1 ? segments.length : Math.max(unknown, 0)).join('.')
}

/** A value as Liquid prints it: nothing for null, arrays without commas. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return ''
  return Array.isArray(value) ? value.map(textOf).join('') : String(value)
}

type Filter = Liquid['filters'][string]
type FilterThis = ThisParameterType<Extract<Filter, (...args: never[]) => unknown>>

// Their output is already escaped; the engine would escape it a second time.
const escaping = new Set(['escape', 'escape_once', 'xml_escape'])
// Their second argument indents, and depth times indentation grows without bounds.
const serializing = new Set(['json', 'jsonify', 'inspect'])
// These filters search one string in another.
const searching = new Set([
  'replace',
  'replace_first',
  'replace_last',
  'remove',
  'remove_first',
  'remove_last',
  'split',
])
// At worst V8 searches in text × pattern steps (about 1 ns each), and nothing interrupts it.
const maxSearch = 5e7

/** Makes every filter draw what it prints on the budget, and search within bounds. */
function boundFilters(engine: Liquid, budget: Budget): void {
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
function boundOperators(operators: Operators): Operators {
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
