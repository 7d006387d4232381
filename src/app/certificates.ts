import { X509Certificate } from 'node:crypto'
import {
  type CertificateFiles,
  type Certificates,
  openCertificates,
} from '../certificates/index.js'
import { type Config, certificatePaths } from '../config/index.js'
import type { Log } from '../log/index.js'
import { readCertificate } from '../smtpd/index.js'

/** A listener that offers a certificate. */
export type TlsListenerName = 'public' | 'private' | 'inbound' | 'submission'

/** The certificates of a listener: its own files, and those that ACME has brought. Throws an `OperatorError`. */
export function certificatesOf(
  listener: TlsListenerName,
  { config, dataDir, log }: { config: Config; dataDir: string; log: Log },
): Certificates {
  const isHttp = listener === 'public' || listener === 'private'
  const usual = isHttp ? publicHost(config) : config.outbound.heloName
  return openCertificates({ dataDir, log, files: [filesOf(listener, config)], usual })
}

/** The pairs of files that the settings name for listeners that are on. */
export function certificateFiles(config: Config): (CertificateFiles & { of: TlsListenerName })[] {
  const { http, inbound, submission } = config
  const isOn = {
    public: http.public.tls.enabled,
    private: http.private.tls.enabled,
    inbound: inbound.enabled,
    submission: submission.enabled,
  }
  return (['public', 'private', 'inbound', 'submission'] as const)
    .filter((listener) => isOn[listener])
    .map((of) => ({ ...filesOf(of, config), of }))
    .filter(({ certificate }) => certificate !== '')
}

/** Submission takes the files of inbound where it has none, as both have the same host name. */
function filesOf(
  listener: TlsListenerName,
  { http, inbound, submission }: Config,
): CertificateFiles {
  if (listener === 'submission') return certificatePaths(submission, inbound.tls)
  const { certificate, key } = listener === 'inbound' ? inbound.tls : http[listener].tls
  return { certificate, key }
}

/** The host that recipients' links lead to; empty where there is none. */
export const publicHost = ({ http }: Pick<Config, 'http'>) =>
  http.public.url === '' ? '' : new URL(http.public.url).hostname

/** When the certificates in the listeners' files end, as the files are now; 0 for a file of no use. */
export function listenerCertificates(config: Config): { name: TlsListenerName; endsAt: number }[] {
  return certificateFiles(config).map(({ of: name, ...files }) => {
    try {
      const pair = readCertificate(files)
      return { name, endsAt: Date.parse(new X509Certificate(pair?.cert ?? '').validTo) }
    } catch {
      // 'posthorn doctor' tells what is wrong; for an alert the certificate has ended.
      return { name, endsAt: 0 }
    }
  })
}
