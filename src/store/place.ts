/** Where the database is. */
export interface DatabasePlace {
  dataDir: string
  /** The URL of a PostgreSQL, with its password; without it the database is a SQLite file in the data directory. */
  url?: string | undefined
  /** Where the password of `url` came from: read again for each connection, as somebody may change it. */
  passwordFile?: string | undefined
}

/** The database's name in messages, never with its password. */
export const databaseCalled = ({ dataDir, url }: DatabasePlace): string =>
  url === undefined ? `The database in ${dataDir}` : `The database ${withoutSecrets(url)}`

/** `postgres://host:5432/database`: without user, password and options, which may hold secrets. */
export const withoutSecrets = (url: string): string =>
  url.replace(/:\/\/[^@/?]*@/, '://').replace(/\?.*$/, '')

/** What is in the place of a database before anything is opened or made there. */
export type FoundDatabase =
  /** `unfinished`: a copy into it was begun, and has not ended. */
  | { kind: 'missing' | 'empty' | 'unfinished' }
  /** `keyCheck`: that of the appliance key with which it was made; undefined until one was remembered. */
  | { kind: 'there'; keyCheck: string | undefined }

/** An appliance that is alive by a server's database. */
export interface LivingNode {
  name: string
  version: string
  /** The last migration that its release knows; empty: a release that did not say so. */
  schema: string
}
