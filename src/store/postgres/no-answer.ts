import type pg from 'pg'
import { unusable } from '../fault.js'
import type { Read, Tables } from '../schema/index.js'
import { kyselyOver } from './driver.js'

/** Answers nothing, as the server is away by `why`: for who goes on with all that needs no database. */
export function answeringNothing(why: unknown): Read {
  const query = async () => {
    throw unusable(why)
  }
  return kyselyOver<Tables>({ query: query as unknown as pg.Client['query'] })
}
