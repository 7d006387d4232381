import { createRequire } from 'node:module'

/** The parser of HTML and XML, loaded on first use: each thread has modules that read them, and few ever do. */
export const htmlParser = (): typeof import('htmlparser2') =>
  createRequire(import.meta.url)('htmlparser2')
