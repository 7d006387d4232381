/** Where the database is. */
export interface DatabasePlace {
  dataDir: string
  /** Of a PostgreSQL, with its password; without it the database is a file of SQLite in the data directory. */
  url?: string | undefined
  /** Where the password of `url` came from: read again for each connection, as somebody may change it. */
  passwordFile?: string | undefined
}

/** What messages call it: never with its password. */
export const databaseCalled = ({ dataDir, url }: DatabasePlace): string =>
  url === undefined ? `The database in ${dataDir}` : `The database ${withoutSecrets(url)}`

/** `postgres://host:5432/database`: neither user and password nor options, which may have some. */
export const withoutSecrets = (url: string): string =>
  url.replace(/:\/\/[^@/?]*@/, '://').replace(/\?.*$/, '')

/** What is in the place of a database before anything is opened or made there. */
export type FoundDatabase =
  /** `unfinished`: a copy into it was begun, and has not ended. */
  | { kind: 'missing' | 'empty' | 'unfinished' }
  /** `keyCheck`: of the appliance key that it was made with; undefined until one was remembered. */
  | { kind: 'there'; keyCheck: string | undefined }

/** An appliance that a database on a server takes for alive. */
export interface LivingNode {
  name: string
  version: string
  /** The last migration that its release knows; empty: a release that did not say so. */
  schema: string
}
