import Database from 'better-sqlite3'
import { loadConfig } from '../../src/config/index.js'
import { silentLog } from '../../src/log/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { sendTlsReports } from '../../src/tls-reports/index.js'
import { FakeClock } from './clock.js'
import { fakeResolver } from './resolver.js'

/*
 * Sends the reports about TLS of a data directory, and kills itself at a point: `ring`, after the commit and before
 * the threads are told of the mails; else before the first statement that begins with the given text.
 */
export interface Dying {
  dataDir: string
  point: string
  now: number
  /** What the domains ask for, by the name of their record. */
  txt: Record<string, string>
  ca: string
}

const { dataDir, point, now, txt, ca } = JSON.parse(process.argv[2] ?? '') as Dying
const die = () => process.kill(process.pid, 'SIGKILL')
const { prototype } = Database
const prepare = prototype.prepare as (source: string) => Database.Statement
prototype.prepare = function (this: Database.Database, source: string) {
  if (source.startsWith(point)) die()
  return prepare.call(this, source)
} as typeof prototype.prepare

const clock = new FakeClock(now)
const store = await openStore({ dataDir, clock, turns: makeTurns(), slot: 12, background: true })
const records = Object.entries(txt).map(([name, text]) => [name, { txt: [text] }])
const config = loadConfig({ env: { POSTHORN_OUTBOUND_HELO_NAME: 'out.test' } })
await sendTlsReports({
  store,
  clock,
  ca,
  log: silentLog,
  signal: new AbortController().signal,
  resolver: fakeResolver({
    'reports.test': { a: ['127.0.0.1'] },
    ...Object.fromEntries(records),
  }),
  config: { ...config, webhooks: { allow: ['reports.test'] } },
  ring() {
    if (point === 'ring') die()
  },
})
await store.close()
