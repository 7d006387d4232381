import type { DialectAdapter, QueryExecutorProvider } from 'kysely'

/** Tables that are read along their numbers, by who keeps a place in them. */
export type NumberedLog = 'events' | 'consent' | 'emails' | 'webhook_jobs' | 'segment_changes'

/**
 * Where statements run that are compiled already, past Kysely's plugins and promises: a connection of SQLite answers at
 * once, one to a server later.
 */
export interface Runner {
  /** See `fragments.ts`. */
  wholeTo(log: NumberedLog): number | Promise<number>
  /** Whose SQL it takes: a text that was compiled for another engine is none of its own. */
  readonly engine: 'sqlite' | 'postgres'
  rowsOf(text: string, parameters: readonly unknown[]): unknown[] | Promise<unknown[]>
  /** See `readPages`. */
  pages(): FilePages | Promise<FilePages>
}

/** What the database has on its disk, in pages, and whether it can shrink at all. */
export interface FilePages {
  total: number
  /** Used again before it grows; of PostgreSQL unknown, and 0. */
  free: number
  bytesEach: number
  shrinks: boolean
}

/** By the adapter that an engine makes for each of its databases: one with a plugin has the same. */
const runners = new WeakMap<DialectAdapter, Runner>()

/** Statements on `db`, which an engine has made, run there. */
export function runHere(db: QueryExecutorProvider, runner: Runner): void {
  runners.set(db.getExecutor().adapter, runner)
}

export function runnerOf(db: QueryExecutorProvider): Runner {
  const runner = runners.get(db.getExecutor().adapter)
  if (runner === undefined) throw new Error('Not a database that an engine of the store made')
  return runner
}

/** Whether each statement goes to a server and back: then one for many rows is worth more work in it. */
export const isRemote = (db: QueryExecutorProvider): boolean => runnerOf(db).engine === 'postgres'

/** How large the database is. Of SQLite it stands in the first page of the file; a server looks at its files. */
export const readPages = async (db: QueryExecutorProvider): Promise<FilePages> =>
  await runnerOf(db).pages()

/** The size of the database in bytes. */
export async function databaseBytes(db: QueryExecutorProvider): Promise<number> {
  const { total, bytesEach } = await readPages(db)
  return total * bytesEach
}

/** Keeps what is made once for each engine. */
export function onceAnEngine<Made>(make: () => Made): (db: QueryExecutorProvider) => Made {
  const made: { [Engine in Runner['engine']]?: Made } = {}
  return (db) => {
    const { engine } = runnerOf(db)
    made[engine] ??= make()
    return made[engine]
  }
}
