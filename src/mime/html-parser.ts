import { createRequire } from 'node:module'

/** The parser of HTML and XML, loaded when first needed: each thread has modules that read either, and few ever do. */
export const htmlParser = (): typeof import('htmlparser2') =>
  createRequire(import.meta.url)('htmlparser2')
