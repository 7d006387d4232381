import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import { type Backlog, showDepth } from '../deliveries/index.js'
import type { Meter } from '../metrics/index.js'
import { noticeKinds, openNotices } from '../notices/index.js'
import { databaseBytes, diskRoom, type Store } from '../store/index.js'
import { countEndpoints } from '../webhooks/index.js'
import { listenerCertificates } from './certificates.js'
import type { Chore } from './housekeeping.js'
import { tellEveryMs } from './thread-meter.js'

interface Deps {
  store: Store
  clock: Clock
  config: Config
  dataDir: string
  backlog: Pick<Backlog, 'accepted' | 'depth'>
  meter: Meter
}

const everyMs = 15_000

/** What alert rules ask beside the counts: few rows, the disk, the files of certificates. */
export function operatorGauges(deps: Deps): Chore[] {
  const { backlog, clock, config, meter } = deps
  showThresholds(config, meter)
  // All threads that take mail count in shared memory; here the difference since the last look becomes a metric.
  let accepted = backlog.accepted
  return [
    {
      name: 'mail accepted and waiting',
      of: 'node',
      everyMs: tellEveryMs,
      async run() {
        const now = backlog.accepted
        // The count begins anew at 2^31; the difference as 32 bits is right all the same.
        meter.count('posthorn_accepted_total', {}, (now - accepted) | 0)
        accepted = now
        showDepth(backlog, clock.now(), meter)
      },
    },
    { name: 'gauges for the operator', of: 'node', everyMs, run: () => show(deps) },
    {
      name: 'gauges of the database',
      of: 'node',
      everyMs,
      rests: true,
      run: () => showDatabase(deps),
    },
  ]
}

/** The same figures of which the operator is told, so that alerts can be made of them elsewhere. */
async function show({ config, dataDir, meter }: Deps): Promise<void> {
  for (const { name: listener, endsAt } of listenerCertificates(config)) {
    meter.gauge('posthorn_certificate_end_timestamp_seconds', { listener }, endsAt / 1_000)
  }
  const { freeBytes, totalBytes } = await diskRoom(dataDir)
  meter.gauge('posthorn_disk_free_bytes', {}, freeBytes)
  meter.gauge('posthorn_disk_size_bytes', {}, totalBytes)
}

async function showDatabase({ store, meter }: Deps): Promise<void> {
  await showNotices(store, meter)
  const endpoints = await countEndpoints(store.read)
  for (const state of ['working', 'failing', 'disabled'] as const) {
    meter.gauge('posthorn_webhook_endpoints', { state }, endpoints[state])
  }
  meter.gauge('posthorn_database_bytes', {}, await databaseBytes(store.read))
}

/** Zeros for every kind: an alert on a missing series does not fire. */
async function showNotices(store: Store, meter: Meter): Promise<void> {
  const open = await openNotices(store.read)
  for (const kind of Object.keys(noticeKinds)) {
    for (const severity of ['burning', 'daily'] as const) {
      const those = open.filter((one) => one.kind === kind && one.severity === severity)
      meter.gauge('posthorn_notices', { kind, severity }, those.length)
    }
  }
}

/** Shown beside the rates, so that a chart can draw the line. */
function showThresholds({ protection }: Config, meter: Meter): void {
  for (const rate of ['bounces', 'complaints'] as const) {
    for (const action of ['warn', 'pause'] as const) {
      const ratio = protection[rate][action] / 1_000_000
      meter.gauge('posthorn_protection_threshold_ratio', { rate, action }, ratio)
    }
  }
}
