import { LiquidError } from 'liquidjs'
import type { Budget } from './budget.js'
import { isCopyTag } from './copy-tags.js'
import { withLinkTags } from './encoded-tags.js'
import { type Engine, makeEngine, type Parsed } from './engine.js'
import type { LiquidSource, RenderJob, RenderOutcome, TemplateFault, TemplatePart } from './job.js'
import { plainFault } from './plain-fault.js'
import { withPreview } from './preview-text.js'
import { emptySubject, subjectLine } from './subject-line.js'

const mostBytes = 2 * 1024 * 1024
const maxBytes = { subject: 998, html: mostBytes, text: mostBytes, previewText: mostBytes } as const

class Fault extends Error {
  readonly fault: TemplateFault
  constructor(fault: TemplateFault) {
    super(fault.message)
    this.fault = fault
  }
}

/** Renders one job after another, in the thread that does nothing else. Never throws. */
export function makeRenderJob(budget: Budget): (job: RenderJob) => RenderOutcome {
  const html = makeEngine(budget, { escapes: true })
  const plain = makeEngine(budget, { escapes: false })
  const cache = makeParsedCache()

  const parse = (engine: Engine, part: TemplatePart, source: LiquidSource): Parsed | string => {
    const liquid = part === 'html' ? withLinkTags(source.liquid) : source.liquid
    // Most subjects, and the ones that a send overrides them with, have nothing to fill in.
    if (!/\{[{%]/.test(liquid)) return liquid
    const key = source.key === null ? null : `${source.key} ${part}`
    const known = key === null ? undefined : cache.get(key)
    if (known !== undefined) return known
    try {
      const parsed = engine.parse(liquid)
      if (key !== null) cache.keep(key, parsed, liquid)
      return parsed
    } catch (error) {
      throw new Fault(syntaxFault(error, part, engine.filters))
    }
  }

  const render = (job: RenderJob): RenderOutcome => {
    const subject = parse(plain, 'subject', job.subject)
    const body = parse(html, 'html', job.html)
    const text = job.text === null ? null : parse(plain, 'text', job.text)
    const preview = job.preview === undefined ? '' : parse(html, 'previewText', job.preview)
    if (job.variables === null) {
      const paths = (engine: Engine, parsed: Parsed | string | null) =>
        typeof parsed === 'string' || parsed === null ? [] : engine.paths(parsed)
      const inHtml = [...paths(html, body), ...paths(html, preview)]
      const all = [...paths(plain, subject), ...inHtml, ...paths(plain, text)]
      return { kind: 'parsed', paths: [...new Set(all)] }
    }
    // Without a prototype, `constructor` and the like are names like any other.
    const variables: object = Object.assign(Object.create(null), JSON.parse(job.variables))
    const put = (engine: Engine, part: TemplatePart, parsed: Parsed | string) => {
      if (typeof parsed === 'string') return parsed
      try {
        return engine.render(parsed, variables, job.strict)
      } catch (error) {
        throw new Fault(faultOf(error, 'render', part))
      }
    }
    const line = subjectLine(put(plain, 'subject', subject))
    if (line === '') {
      const message = emptySubject(job.subject.liquid)
      throw new Fault({ kind: 'render', part: 'subject', message })
    }
    return {
      kind: 'rendered',
      rendered: {
        subject: checked('subject', line),
        html: checked(
          'html',
          withPreview(put(html, 'html', body), put(html, 'previewText', preview)),
        ),
        text: text === null ? null : checked('text', put(plain, 'text', text)),
      },
    }
  }

  return (job) => {
    budget.renew()
    try {
      return render(job)
    } catch (error) {
      return { kind: 'failed', fault: asFault(error, budget.exceeded()) }
    } finally {
      budget.rest()
    }
  }
}

/** A limit explains whatever was thrown because of it. */
function asFault(error: unknown, exceeded: string | undefined): TemplateFault {
  const fault = error instanceof Fault ? error.fault : faultOf(error, 'render', 'html')
  return exceeded === undefined ? fault : { ...fault, kind: 'limit', message: exceeded }
}

/** Rendered parts keep the same rules as parts that a client sends. */
function checked(part: TemplatePart, text: string): string {
  const max = maxBytes[part]
  const fault = (kind: 'limit' | 'render', message: string) => new Fault({ kind, part, message })
  // The length is checked first: measuring the bytes would flatten what may be a very long rope.
  if (text.length > max || Buffer.byteLength(text) > max) {
    throw fault('limit', `it is longer than ${max} bytes when rendered`)
  }
  if (part === 'html' && text.trim() === '') throw fault('render', 'it is empty when rendered')
  if (text.includes('\0')) throw fault('render', 'it has a NUL character when rendered')
  return text
}

const maxMessageLength = 200

/** What was thrown while a part was parsed or rendered, as the fault that is told to its author. */
function faultOf(thrown: unknown, phase: 'syntax' | 'render', part: TemplatePart): TemplateFault {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const position = positionOf(error)
  const cause = (error instanceof LiquidError && error.originalError) || error
  if ('variableName' in cause && typeof cause.variableName === 'string') {
    const variable = shortened(cause.variableName)
    const whose = isCopyTag(variable) ? '; only marketing mail has it' : ''
    const message = `the variable "${variable}" is missing${whose}`
    return { kind: 'missing_variable', part, variable, message, ...position }
  }
  // liquidjs writes the position into the message; it is told once, beside the part.
  const message = shortened(cause.message.replace(/, line:\d+, col:\d+$/, ''))
  return { kind: phase, part, message, ...position }
}

/** Like `faultOf`, for an error in parsing, in words that say what to write. */
function syntaxFault(thrown: unknown, part: TemplatePart, filters: readonly string[]) {
  const fault = faultOf(thrown, 'syntax', part)
  if (!(thrown instanceof LiquidError)) return fault
  const plain = plainFault(fault.message, thrown.token, filters)
  return Object.assign(fault, plain, { message: shortened(plain.message) })
}

function positionOf(error: Error): { line?: number; column?: number } {
  if (!(error instanceof LiquidError)) return {}
  const [line, column] = error.token.getPosition()
  return line === undefined || column === undefined ? {} : { line, column }
}

const shortened = (text: string) =>
  text.length > maxMessageLength ? `${text.slice(0, maxMessageLength)}…` : text

// A parsed tag takes about 2 KB, the text between tags its own length (2026-11-21).
const tagBytes = 2_000
const maxParsedBytes = 32 * 1024 * 1024

/** What was parsed, the least recently used forgotten first. */
function makeParsedCache() {
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
        if (total <= maxParsedBytes) break
        kept.delete(oldest)
        total -= entry.bytes
      }
    },
  }
}
