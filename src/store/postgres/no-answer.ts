import type pg from 'pg'
import { unusable } from '../fault.js'
import type { Read, Tables } from '../schema/index.js'
import { kyselyOver } from './driver.js'

/**
 * Answers no query, because the server is away by `why`: for callers that go on with everything that needs no
 * database.
 */
export function answeringNothing(why: unknown): Read {
  const query = async () => {
    throw unusable(why)
  }
  return kyselyOver<Tables>({ query: query as unknown as pg.Client['query'] })
}
