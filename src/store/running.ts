/** Tables that are read along their numbers, by who keeps a place in them. */
export type NumberedLog = 'events' | 'consent' | 'emails' | 'webhook_jobs'

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
}

const runners = new WeakMap<object, Runner>()

/** Statements on `db`, which an engine has made, run there. */
export function runHere(db: object, runner: Runner): void {
  runners.set(db, runner)
}

export function runnerOf(db: object): Runner {
  const runner = runners.get(db)
  if (runner === undefined) throw new Error('Not a database that an engine of the store made')
  return runner
}

/** Keeps what is made once for each engine. */
export function onceAnEngine<Made>(make: () => Made): (db: object) => Made {
  const made: { [Engine in Runner['engine']]?: Made } = {}
  return (db) => {
    const { engine } = runnerOf(db)
    made[engine] ??= make()
    return made[engine]
  }
}
