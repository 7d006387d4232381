import {
  areCertificatesDue,
  bringCertificates,
  type Certificates,
  countCertificates,
  type RenewDeps,
  stampOf,
} from '../certificates/index.js'
import type { Config } from '../config/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import { holds } from '../nodes/index.js'
import { readCertificate } from '../smtpd/index.js'
import { certificateFiles } from './certificates.js'
import type { Chore } from './housekeeping.js'

// Names and challenges come with a commit, but nothing commits when a certificate falls due.
const dueEveryMs = 60_000

type Deps = Pick<RenewDeps, 'store' | 'clock' | 'config' | 'dataDir' | 'key'> & {
  log: RenewDeps['log']
  meter: Meter
  certificates: Certificates
  /** Starts the job `certificates`, unless it is under way. */
  renew(): void
  /** Has the listeners read their certificates again. */
  reload(): void
}

/** Keeps the listeners' certificates the newest ones there are. */
export const certificateChores = (deps: Deps): Chore[] => [
  ...renewedCertificates(deps.config, deps.log, () => {
    deps.certificates.reload()
    deps.reload()
  }),
  ...acmeChores(deps),
]

/**
 * Has certificates obtained and renewed as they fall due, and offered as they come: a new name waits some seconds, and
 * not until the night. The job's thread does the work.
 */
function acmeChores(deps: Deps): Chore[] {
  const { config, log, certificates, renew, reload } = deps
  if (!config.tls.acme) return []
  certificates.onChange(() => {
    log.info({}, 'A certificate has come or gone: the listeners read them again')
    reload()
  })
  const known = new Map<string, string>()
  return [
    {
      name: 'certificates',
      of: 'node',
      everyMs: 10_000,
      rests: true,
      async run() {
        // The calendar's node obtains them, and knows which names are not wanted any more.
        const isOthers = !holds(deps.store.node, 'calendar')
        await bringCertificates(deps, known, { removes: isOthers })
        certificates.reload()
        if (!isOthers && (await areCertificatesDue(deps))) renew()
        await show(deps)
        // Files and dates come without a commit.
        return deps.clock.now() + dueEveryMs
      },
    },
  ]
}

/** Also without certificates: an alert needs a zero to compare with. */
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

/**
 * Has the listeners read their certificates again when the files have changed, as the program that renews them may not
 * send SIGHUP. It waits while there is half a pair (the new certificate with the old key).
 */
export function renewedCertificates(config: Config, log: Log, reload: () => void): Chore[] {
  const pairs = certificateFiles(config)
  if (pairs.length === 0) return []
  const stamp = () => pairs.map(stampOf).join()
  let known = stamp()
  return [
    {
      name: 'renewed certificates',
      of: 'node',
      everyMs: 30_000,
      async run() {
        const now = stamp()
        if (now === known) return
        try {
          for (const files of pairs) readCertificate(files)
        } catch {
          // The files are being written, or wrong for good, which the job `certificates` tells.
          return
        }
        known = now
        log.info({}, 'The files of a certificate have changed: the listeners read them again')
        reload()
      },
    },
  ]
}
