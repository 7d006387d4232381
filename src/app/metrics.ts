import { createRequire } from 'node:module'
import type { Metric, Registry } from 'prom-client'
import { type FoundBackup, findBackups } from '../backup/index.js'
import type { Clock } from '../clock/index.js'
import { packageVersion } from '../config/index.js'
import type { HttpServerOptions } from '../http/index.js'
import {
  type Ledger,
  type Meter,
  makeLedger,
  makeTally,
  metricNames,
  type Series,
  type Snapshot,
  silentMeter,
} from '../metrics/index.js'
import { walBytes } from '../store/index.js'

/** The appliance's metrics: what all threads count, and what the process shows of itself. */
export interface Metrics {
  /** For the main thread's own code. */
  readonly meter: Meter
  /** Takes what a worker thread has sent, and that it is gone. */
  add(thread: string, snapshot: Snapshot): void
  forget(thread: string): void
  /** The thread died, and is started again. */
  restarted(thread: string): void
  /** Every line of the catalogue's metrics, as they stand; none when metrics are off. */
  series(): Series[]
  /** The whole exposition; undefined when metrics are off. */
  readonly expose: (() => Promise<{ text: string; contentType: string }>) | undefined
}

/** Threads count in shared memory and this adds it up: a thread under load is not asked for its figures. */
export function openMetrics({
  enabled,
  dataDir,
  clock,
  backupDir = '',
}: {
  enabled: boolean
  dataDir: string
  clock: Clock
  /** Empty: no backups are made. */
  backupDir?: string
}): Metrics {
  if (!enabled) {
    return {
      meter: silentMeter,
      add() {},
      forget() {},
      restarted() {},
      series: () => [],
      expose: undefined,
    }
  }
  const tally = makeTally()
  const ledger = makeLedger()
  const makeRegistry = () => {
    const { Registry } = promClient()
    const own = new Registry()
    for (const name of metricNames) own.registerMetric(shown(ledger, name))
    own.registerMetric(buildInfo())
    own.registerMetric(walSize(dataDir))
    if (backupDir !== '')
      for (const gauge of backupGauges(backupDir, clock)) own.registerMetric(gauge)
    return Registry.merge([own, processRegistry()])
  }
  let all: Registry | undefined
  return {
    meter: tally,
    add: ledger.add,
    forget: ledger.forget,
    restarted: (thread) => tally.count('posthorn_thread_restarts_total', { thread }),
    series() {
      ledger.add('main', tally.take())
      return metricNames.flatMap((name) => ledger.series(name))
    },
    async expose() {
      ledger.add('main', tally.take())
      all ??= makeRegistry()
      return { text: await all.metrics(), contentType: all.contentType }
    },
  }
}

/** A server's answers, counted by route. */
export function countAnswers(
  meter: Meter,
  listener: 'private' | 'public',
): NonNullable<HttpServerOptions<never>['onAnswer']> {
  return ({ method, route, status, seconds }) => {
    const labels = { listener, method, route, status: String(status) }
    meter.count('posthorn_http_requests_total', labels)
    meter.observe('posthorn_http_request_seconds', labels, seconds)
  }
}

/**
 * prom-client's own counters count in one thread only. It asks whatever is registered for its values when it writes
 * them, so it is given the ledger's.
 */
function shown(ledger: Ledger, name: (typeof metricNames)[number]): Metric {
  const { type, help } = ledger.definition(name)
  const get = async () => ({ name, help, type, aggregator: 'sum', values: ledger.series(name) })
  return { name, get } as unknown as Metric
}

/** The usual form of Prometheus for versions: a constant with labels, to be joined with. */
function buildInfo(): Metric {
  const gauge = new (promClient().Gauge)({
    name: 'posthorn_build_info',
    help: 'Always 1; the versions are in its labels',
    labelNames: ['version', 'node'],
    registers: [],
  })
  gauge.set({ version: packageVersion(), node: process.versions.node }, 1)
  return gauge
}

/** Looked at when Prometheus asks, not on a timer. */
function walSize(dataDir: string): Metric {
  return new (promClient().Gauge)({
    name: 'posthorn_wal_bytes',
    help: "Size of the database's write-ahead log",
    registers: [],
    async collect() {
      this.set(await walBytes(dataDir))
    },
  })
}

/** Gauges of the newest backup in the directory, whoever made it; the calendar says how its job ended. */
function backupGauges(dir: string, clock: Clock): Metric[] {
  const gauge = (name: string, help: string, figureOf: (newest: FoundBackup) => number): Metric =>
    new (promClient().Gauge)({
      name,
      help,
      registers: [],
      async collect() {
        const [newest] = await findBackups(dir, clock.now())
        if (newest !== undefined) this.set(figureOf(newest))
      },
    })
  return [
    gauge(
      'posthorn_backup_newest_timestamp_seconds',
      'When the newest backup in backup.dir was made; 0 where there is none',
      ({ madeAt }) => madeAt / 1_000,
    ),
    gauge(
      'posthorn_backup_newest_bytes',
      'Size of the newest backup in backup.dir; 0 where there is none',
      ({ sizeBytes }) => sizeBytes,
    ),
  ]
}

let ofProcess: Registry | undefined

/** The registry of the process and not of one appliance: its collectors observe for as long as the process runs. */
function processRegistry(): Registry {
  if (ofProcess === undefined) {
    const { collectDefaultMetrics, Registry } = promClient()
    ofProcess = new Registry()
    // The collector's default of 10 ms wakes the main thread of an idle appliance a hundred times a second.
    collectDefaultMetrics({ register: ofProcess, eventLoopMonitoringPrecision: 100 })
  }
  return ofProcess
}

// Loaded with the first request for the metrics: most appliances are never asked, and it takes 1 MB.
const promClient = (): typeof import('prom-client') => createRequire(import.meta.url)('prom-client')
