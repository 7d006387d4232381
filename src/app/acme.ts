import {
  areCertificatesDue,
  type Certificates,
  countCertificates,
  type RenewDeps,
} from '../certificates/index.js'
import type { Meter } from '../metrics/index.js'
import type { Chore } from './housekeeping.js'

type Deps = Pick<RenewDeps, 'store' | 'clock' | 'config' | 'dataDir'> & {
  log: RenewDeps['log']
  meter: Meter
  certificates: Certificates
  /** Starts the job `certificates`, unless it is under way. */
  renew(): void
  /** Has the listeners read their certificates again. */
  reload(): void
}

/**
 * Has certificates got and renewed as they fall due, and offered as they come: a new name waits some seconds, not
 * for the night. The job's thread does the work.
 */
export function acmeChores(deps: Deps): Chore[] {
  const { config, log, certificates, renew, reload } = deps
  if (!config.tls.acme) return []
  certificates.onChange(() => {
    log.info({}, 'A certificate has come or gone: the listeners read them again')
    reload()
  })
  return [
    {
      name: 'certificates',
      everyMs: 10_000,
      async run() {
        certificates.reload()
        if (await areCertificatesDue(deps)) renew()
        await show(deps)
      },
    },
  ]
}

async function show({ store, config, certificates, meter }: Deps): Promise<void> {
  const held = certificates.all().filter(({ source }) => source === 'acme')
  const counts = await countCertificates(store.read, config, held)
  for (const state of ['good', 'failing', 'missing'] as const) {
    meter.gauge('posthorn_acme_certificates', { state }, counts[state])
  }
  if (held.length === 0) return
  const first = Math.min(...held.map(({ endsAt }) => endsAt))
  meter.gauge('posthorn_acme_certificate_end_timestamp_seconds', {}, first / 1_000)
}
