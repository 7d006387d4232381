import { readFile } from 'node:fs/promises'
import pg from 'pg'

/** Numbers and booleans as SQLite gives them: every number of the appliance fits a JavaScript number. */
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
  // A transaction that hangs keeps vacuum from removing dead rows, and its rows from who takes over: of a machine that is gone
  // the server hears nothing at all.
  'idle_in_transaction_session_timeout=20000',
  'tcp_keepalives_idle=10',
  'tcp_keepalives_interval=5',
  'tcp_keepalives_count=3',
  'synchronous_commit=on',
  'client_encoding=UTF8',
  // No statement is long enough to gain by being compiled.
  'jit=off',
]

/** Where the database is: what `pg` takes, as parts of a URL `postgres://user@host:port/database`. */
export function connectionTo(
  url: string,
  { readOnly, node }: { readOnly: boolean; node?: number },
): pg.ClientConfig {
  const own = [
    ...settings,
    ...(readOnly ? ['default_transaction_read_only=on'] : []),
    // Whose the rows are that it puts in (`ownNode` in `fragments.ts`).
    ...(node === undefined ? [] : [`posthorn.node=${node}`]),
  ]
  return {
    connectionString: asLibpqReads(url),
    types,
    application_name: 'posthorn',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    options: own.map((setting) => `-c ${setting}`).join(' '),
  }
}

/** A connection that asks `passwordFile` for the password when it is made; that of its address where nothing can be read. */
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
      // As `pg` has it: hidden, and written over by what was answered.
      Object.defineProperty(this, 'password', { value: ask, writable: true, configurable: true })
    }
  }
}

/** Who writes `sslmode=require` means what PostgreSQL's own programs do: `pg` would take it for `verify-full`. */
function asLibpqReads(url: string): string {
  return /[?&]sslmode=/.test(url) ? `${url}&uselibpqcompat=true` : url
}
