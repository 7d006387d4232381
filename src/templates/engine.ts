import { Context, defaultOperators, type Emitter, Liquid, type Template } from 'liquidjs'
import type { Budget } from './budget.js'
import { boundFilters, boundOperators } from './filters.js'

/** What a piece of Liquid was parsed into. */
export type Parsed = Template[]

export interface Engine {
  /** Throws liquidjs' errors, which carry the position (fault.ts). */
  parse(liquid: string): Parsed
  /** Renders within the budget, which the caller has renewed. `strict`: a missing variable throws. */
  render(parsed: Parsed, variables: object, strict: boolean): string
  /** The paths of what it takes from its variables, such as `user.name`; not what it assigns itself. */
  paths(parsed: Parsed): string[]
}

// They read files or other templates; the tables that show it are liquidjs' own.
const fileTags = ['include', 'render', 'layout', 'block']
// interface.md, variables: what stands inside them is not required, whether they are taken or not.
const conditionalTags = ['if', 'unless', 'case']
// Parsing a tag costs about 25 µs at first (2026-11-21): more would come near the limit of time.
const maxTags = 1_000

/**
 * Liquid as decisions.md has it: strict variables and filters, lenient in and within conditions, own
 * properties only, no files. `escapes`: what is put out is HTML-escaped, but for `| raw`.
 * liquidjs' own limits leave gaps, each of which could take the whole process down with one huge
 * allocation: what is written by `capture`, static text in loops, filters that make text longer,
 * arrays that turn into text. All of them draw on the one budget here. It reaches into liquidjs'
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
  // `capture` passes no emitter; liquidjs' own would grow without being counted.
  renderer.renderTemplates = (templates, context, emitter = makeEmitter(budget)) =>
    renderTemplates.call(renderer, templates, context, emitter)

  return {
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

/** Up to where it is known before rendering, and without the properties that Liquid itself gives. */
function pathOf(segments: readonly unknown[]): string {
  const unknown = segments.findIndex(
    (one) => typeof one !== 'string' || !/^[\w-]+$/.test(one) || /^(size|first|last)$/.test(one),
  )
  return segments.slice(0, unknown === -1 ? segments.length : Math.max(unknown, 0)).join('.')
}

/** As Liquid prints: nothing for null, arrays without commas. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return ''
  return Array.isArray(value) ? value.map(textOf).join('') : String(value)
}
