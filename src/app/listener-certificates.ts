import { X509Certificate } from 'node:crypto'
import { type Config, certificatePaths } from '../config/index.js'
import { readCertificate } from '../smtpd/index.js'

/** When the certificates that the SMTP listeners offer end, as their files are now; 0 where these are no use. */
export function listenerCertificates({
  inbound,
  submission,
}: Pick<Config, 'inbound' | 'submission'>): { name: 'inbound' | 'submission'; endsAt: number }[] {
  return [
    ...(inbound.enabled ? endOf('inbound', inbound.tls) : []),
    ...(submission.enabled ? endOf('submission', certificatePaths(submission, inbound.tls)) : []),
  ]
}

function endOf<N extends string>(name: N, files: { certificate: string; key: string }) {
  try {
    const pair = readCertificate(files)
    return pair ? [{ name, endsAt: Date.parse(new X509Certificate(pair.cert).validTo) }] : []
  } catch {
    // 'posthorn doctor' tells what is wrong; to an alert it is one that has ended.
    return [{ name, endsAt: 0 }]
  }
}
