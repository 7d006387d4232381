import {
  array,
  boolean,
  type Infer,
  integer,
  is,
  literal,
  nullable,
  record,
  string,
  type,
} from 'superstruct'
import { OperatorError } from '../errors/index.js'

const Sha256 = string()

const Shape = type({
  format: literal(1),
  /** The version of Posthorn that made it. */
  posthorn: string(),
  /** The name of the last migration of its database. */
  schema: string(),
  madeAt: string(),
  /** The check of the appliance key that belongs to the database; null where none was remembered. */
  keyCheck: nullable(string()),
  /** Whether that key is in the backup. */
  withKey: boolean(),
  /** How many rows every table has. */
  rows: record(string(), integer()),
  /** All that follows in the archive, in this order. */
  files: array(type({ name: string(), size: integer(), sha256: Sha256 })),
})

/** The first file of a backup: what it is, and what everything after it must be. */
export type Manifest = Infer<typeof Shape>

export const manifestName = 'manifest.json'
export const keyName = 'appliance.key'
export const databaseName = 'posthorn.db'
/** False: it is of an appliance whose database is on a server, and has only the key and the settings. */
export const hasDatabase = ({ files }: Manifest): boolean =>
  files.some(({ name }) => name === databaseName)

const maxManifestBytes = 1_048_576

/** The operator's files: of the data directory, and of /etc/posthorn. */
const ownFile = /^(data|etc)\/[a-z0-9][a-z0-9_-]{0,60}\.toml$/

/** Nothing else is taken from an archive, whatever it says that it has. */
export const isAllowedName = (name: string): boolean =>
  name === manifestName || name === keyName || name === databaseName || ownFile.test(name)

/**
 * Reads the manifest, of `size` bytes. Throws an `OperatorError` for one that is too large or that this version does
 * not understand.
 */
export async function readManifest(size: number, body: AsyncIterable<Buffer>): Promise<Manifest> {
  if (size > maxManifestBytes) throw unreadable()
  const parts: Buffer[] = []
  for await (const part of body) parts.push(part)
  let value: unknown
  try {
    value = JSON.parse(Buffer.concat(parts).toString())
  } catch (cause) {
    throw unreadable(cause)
  }
  if (!is(value, Shape)) throw unreadable()
  return value
}

const unreadable = (cause?: unknown) =>
  new OperatorError(
    'The backup is damaged, or was made by a newer version of Posthorn: its manifest cannot be read',
    cause === undefined ? {} : { cause },
  )
