import type { Budget } from './budget.js'
import { type Engine, makeEngine, type Parsed } from './engine.js'
import { faultOf } from './fault.js'
import type { RenderJob, RenderOutcome, Source, TemplateFault, TemplatePart } from './job.js'
import { makeParsedCache } from './parsed-cache.js'
import { subjectLine } from './subject-line.js'

const maxBytes = { subject: 998, html: 2 * 1024 * 1024, text: 2 * 1024 * 1024 } as const

class Fault extends Error {
  readonly fault: TemplateFault
  constructor(fault: TemplateFault) {
    super(fault.message)
    this.fault = fault
  }
}

/** What renders one job after another, in the thread that does nothing else. Never throws. */
export function makeRenderJob(budget: Budget): (job: RenderJob) => RenderOutcome {
  const html = makeEngine(budget, { escapes: true })
  const plain = makeEngine(budget, { escapes: false })
  const cache = makeParsedCache()

  const parse = (engine: Engine, part: TemplatePart, source: Source): Parsed | string => {
    // Most subjects, and the ones that a send overrides them with, have nothing to fill in.
    if (!/\{[{%]/.test(source.liquid)) return source.liquid
    const key = source.key === null ? null : `${source.key} ${part}`
    const known = key === null ? undefined : cache.get(key)
    if (known !== undefined) return known
    try {
      const parsed = engine.parse(source.liquid)
      if (key !== null) cache.keep(key, parsed, source.liquid)
      return parsed
    } catch (error) {
      throw new Fault(faultOf(error, 'syntax', part))
    }
  }

  const render = (job: RenderJob): RenderOutcome => {
    const subject = parse(plain, 'subject', job.subject)
    const body = parse(html, 'html', job.html)
    const text = job.text === null ? null : parse(plain, 'text', job.text)
    if (job.variables === null) {
      const paths = (engine: Engine, parsed: Parsed | string | null) =>
        typeof parsed === 'string' || parsed === null ? [] : engine.paths(parsed)
      const all = [...paths(plain, subject), ...paths(html, body), ...paths(plain, text)]
      return { kind: 'parsed', paths: [...new Set(all)] }
    }
    // Without a prototype, `constructor` and its like are names as any other.
    const variables: object = Object.assign(Object.create(null), JSON.parse(job.variables))
    const put = (engine: Engine, part: TemplatePart, parsed: Parsed | string) => {
      if (typeof parsed === 'string') return parsed
      try {
        return engine.render(parsed, variables, job.strict)
      } catch (error) {
        throw new Fault(faultOf(error, 'render', part))
      }
    }
    return {
      kind: 'rendered',
      rendered: {
        subject: checked('subject', subjectLine(put(plain, 'subject', subject))),
        html: checked('html', put(html, 'html', body)),
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

/** The rendered parts keep the same rules as the ones that a client sends as they are. */
function checked(part: TemplatePart, text: string): string {
  const max = maxBytes[part]
  const fault = (kind: 'limit' | 'render', message: string) => new Fault({ kind, part, message })
  // The length first: measuring in bytes flattens what may be a very long rope.
  if (text.length > max || Buffer.byteLength(text) > max) {
    throw fault('limit', `it is longer than ${max} bytes when rendered`)
  }
  if (part !== 'text' && text.trim() === '') throw fault('render', 'it is empty when rendered')
  if (text.includes('\0')) throw fault('render', 'it has a NUL character when rendered')
  return text
}
