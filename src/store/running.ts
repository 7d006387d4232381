import type { DialectAdapter, QueryExecutorProvider } from 'kysely'

/** Tables that are read along their numbers, by readers that keep their place. */
export type NumberedLog = 'events' | 'consent' | 'emails' | 'webhook_jobs' | 'segment_changes'

/** Runs compiled statements without Kysely's plugins and promises: SQLite answers at once, a server later. */
export interface Runner {
  /** See `fragments.ts`. */
  wholeTo(log: NumberedLog): number | Promise<number>
  /** The engine whose SQL it takes: a text that was compiled for another engine does not run here. */
  readonly engine: 'sqlite' | 'postgres'
  rowsOf(text: string, parameters: readonly unknown[]): unknown[] | Promise<unknown[]>
  /** See `readPages`. */
  pages(): FilePages | Promise<FilePages>
}

/** What the database has on its disk, in pages, and whether it can shrink at all. */
export interface FilePages {
  total: number
  /** Free pages, which are used before the file grows; unknown with PostgreSQL, and 0. */
  free: number
  bytesEach: number
  shrinks: boolean
}

/** By the adapter that an engine makes for each of its databases: a database with a plugin has the same adapter. */
const runners = new WeakMap<DialectAdapter, Runner>()

/** Makes statements on `db`, which an engine has made, run with this runner. */
export function runHere(db: QueryExecutorProvider, runner: Runner): void {
  runners.set(db.getExecutor().adapter, runner)
}

export function runnerOf(db: QueryExecutorProvider): Runner {
  const runner = runners.get(db.getExecutor().adapter)
  if (runner === undefined) throw new Error('Not a database that an engine of the store made')
  return runner
}

/** Whether each statement needs a round trip to a server: then one for many rows is worth more work. */
export const isRemote = (db: QueryExecutorProvider): boolean => runnerOf(db).engine === 'postgres'

/** How large the database is. SQLite reads it from the first page of the file; a server looks at its files. */
export const readPages = async (db: QueryExecutorProvider): Promise<FilePages> =>
  await runnerOf(db).pages()

/** The size of the database in bytes. */
export async function databaseBytes(db: QueryExecutorProvider): Promise<number> {
  const { total, bytesEach } = await readPages(db)
  return total * bytesEach
}

/** Keeps what `make` makes, once for each engine. */
export function onceAnEngine<Made>(make: () => Made): (db: QueryExecutorProvider) => Made {
  const made: { [Engine in Runner['engine']]?: Made } = {}
  return (db) => {
    const { engine } = runnerOf(db)
    made[engine] ??= make()
    return made[engine]
  }
}
