import { stampOf } from '../certificates/index.js'
import type { Config } from '../config/index.js'
import type { Log } from '../log/index.js'
import { readCertificate } from '../smtpd/index.js'
import { certificateFiles } from './certificates.js'
import type { Chore } from './housekeeping.js'

/**
 * Has the listeners read their certificates again when the files have changed, as whoever renews them may not
 * send SIGHUP. Half a pair (the new certificate with the old key) is waited for.
 */
export function renewedCertificates(config: Config, log: Log, reload: () => void): Chore[] {
  const pairs = certificateFiles(config)
  if (pairs.length === 0) return []
  const stamp = () => pairs.map(stampOf).join()
  let known = stamp()
  return [
    {
      name: 'renewed certificates',
      everyMs: 30_000,
      async run() {
        const now = stamp()
        if (now === known) return
        try {
          for (const files of pairs) readCertificate(files)
        } catch {
          // They are being written, or wrong for good, which the job `certificates` tells.
          return
        }
        known = now
        log.info({}, 'The files of a certificate have changed: the listeners read them again')
        reload()
      },
    },
  ]
}
