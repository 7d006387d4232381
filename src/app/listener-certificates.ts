import { X509Certificate } from 'node:crypto'
import type { Config } from '../config/index.js'
import { readCertificate } from '../smtpd/index.js'
import { certificateFiles, type TlsListenerName } from './certificates.js'

/** When the certificates in the listeners' files end, as these are now; 0 where they are no use. */
export function listenerCertificates(config: Config): { name: TlsListenerName; endsAt: number }[] {
  return certificateFiles(config).map(({ of: name, ...files }) => {
    try {
      const pair = readCertificate(files)
      return { name, endsAt: Date.parse(new X509Certificate(pair?.cert ?? '').validTo) }
    } catch {
      // 'posthorn doctor' tells what is wrong; to an alert it is one that has ended.
      return { name, endsAt: 0 }
    }
  })
}
