import { statSync } from 'node:fs'
import { type Config, certificatePaths } from '../config/index.js'
import type { Log } from '../log/index.js'
import { readCertificate } from '../smtpd/index.js'
import type { Chore } from './housekeeping.js'

/**
 * Has the listeners read their certificates again when the files have changed, as whoever renews them may not
 * send SIGHUP. Half a pair (the new certificate with the old key) is waited for.
 */
export function renewedCertificates(
  { inbound, submission }: Config,
  log: Log,
  reload: () => void,
): Chore[] {
  const pairs = [
    ...(inbound.enabled ? [inbound.tls] : []),
    ...(submission.enabled ? [certificatePaths(submission, inbound.tls)] : []),
  ].filter(({ certificate }) => certificate !== '')
  if (pairs.length === 0) return []
  const stamp = () =>
    pairs
      .flatMap(({ certificate, key }) => [certificate, key])
      .map((file) => {
        const found = statSync(file, { throwIfNoEntry: false })
        return `${found?.mtimeMs} ${found?.ino} ${found?.size}`
      })
      .join()
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
