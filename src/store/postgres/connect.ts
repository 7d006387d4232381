import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import pg from 'pg'

/** Numbers and booleans as SQLite returns them: every number of the appliance fits a JavaScript number. */
const numberTypes = [
  pg.types.builtins.INT8,
  pg.types.builtins.INT4,
  pg.types.builtins.NUMERIC,
  pg.types.builtins.FLOAT8,
]

const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (numberTypes.includes(oid)) return Number
    if (oid === pg.types.builtins.BOOL) return (text: string) => (text === 't' ? 1 : 0)
    return pg.types.getTypeParser(oid, format)
  },
}

const settings = [
  // With the default of 4 for spinning disks the planner reads the logs whole instead of by their indexes.
  'random_page_cost=1.1',
  // A transaction that hangs keeps vacuum from removing dead rows, and keeps its rows from a node that takes over:
  // the server does not notice that a machine is gone.
  'idle_in_transaction_session_timeout=20000',
  'tcp_keepalives_idle=10',
  'tcp_keepalives_interval=5',
  'tcp_keepalives_count=3',
  'synchronous_commit=on',
  'client_encoding=UTF8',
  // No statement runs long enough to gain from compilation.
  'jit=off',
]

/** Where the database is, in the form of `pg`, from a URL `postgres://user@host:port/database`. */
export function connectionTo(
  url: string,
  { readOnly, node }: { readOnly: boolean; node?: number },
): pg.ClientConfig {
  const own = [
    ...settings,
    ...(readOnly ? ['default_transaction_read_only=on'] : []),
    // The node to which the rows that it inserts belong (`ownNode` in `fragments.ts`).
    ...(node === undefined ? [] : [`posthorn.node=${node}`]),
  ]
  return {
    connectionString: asLibpqReads(url),
    types,
    application_name: 'posthorn',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    // A connection on which nothing runs notices within half a minute that its server's machine is gone.
    keepAliveInitialDelayMillis: 10_000,
    options: own.map((setting) => `-c ${setting}`).join(' '),
  }
}

/**
 * A connection that reads the password from `passwordFile` when it is made, or takes that of its URL where the file
 * cannot be read.
 */
export function clientReading(passwordFile: string | undefined): typeof pg.Client {
  if (passwordFile === undefined) return pg.Client
  const file = passwordFile
  return class extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config)
      const known = this.password
      const ask = async () => {
        const text = await readFile(file, 'utf8').catch(() => '')
        return text.replace(/\r?\n$/, '') || (known ?? undefined)
      }
      // As in `pg`: hidden, and overwritten by the answer.
      Object.defineProperty(this, 'password', { value: ask, writable: true, configurable: true })
    }
  }
}

/** Ends a connection whose server may be gone: a farewell without an answer would keep its thread from ending. */
export function hangUp(client: pg.Client): void {
  client.end().catch(() => {})
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  stream.destroy()
}

/** `sslmode=require` should mean what PostgreSQL's own programs do: `pg` would take it for `verify-full`. */
function asLibpqReads(url: string): string {
  return /[?&]sslmode=/.test(url) ? `${url}&uselibpqcompat=true` : url
}
