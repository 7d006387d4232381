import { createRequire } from 'node:module'
import { markupOf } from '../blocks/index.js'
import { messageOf } from '../errors/index.js'
import type { CompileJob, CompileOutcome } from './job.js'

/** Makes HTML from one document after another, in the thread that renders. Never throws. */
export function makeCompileJob(): (job: CompileJob) => CompileOutcome {
  // A megabyte of WebAssembly, loaded only for documents of blocks. Its own type description is for bundlers.
  const { Engine } = createRequire(import.meta.url)('mrml') as typeof import('mrml')
  const engine = new Engine()
  return ({ document, brand, language }) => {
    const failed = (message: string): CompileOutcome => ({
      kind: 'failed',
      fault: { kind: 'render', part: 'html', message },
    })
    try {
      const { mjml, restore } = markupOf(document, brand, { language })
      const made = engine.toHtml(mjml)
      return made.type === 'success'
        ? { kind: 'compiled', html: restore(made.content) }
        : failed(`its blocks make no HTML: ${made.message}`)
    } catch (error) {
      return failed(`its blocks make no HTML: ${messageOf(error)}`)
    }
  }
}
