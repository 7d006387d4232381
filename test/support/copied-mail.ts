import type { Read } from '../../src/store/index.js'

/**
 * The first mail of the log as a row for others like it, without what a new one gets by itself: PostgreSQL's number of
 * it, and what either engine reckons.
 */
export async function copiedMail(read: Read) {
  const found = await read.selectFrom('emails').selectAll().executeTakeFirstOrThrow()
  const {
    number: _,
    rare_status: __,
    ...mail
  } = found as typeof found & {
    number?: number
    rare_status?: unknown
  }
  return mail
}
