import { X509Certificate } from 'node:crypto'
import { connect as tlsConnect } from 'node:tls'
import { dayMs } from '../clock/index.js'
import { certificatePaths } from '../config/index.js'
import { messageOf } from '../errors/index.js'
import { readCertificate } from '../smtpd/index.js'
import type { DoctorDeps } from './deps.js'
import { type Finding, findingsOf } from './finding.js'
import { addressesOf } from './source-addresses.js'

/** The certificate that recipients meet behind the links in their mail. */
export async function checkPublicCertificate(deps: DoctorDeps): Promise<Finding[]> {
  const { url } = deps.config.http.public
  if (url === '') {
    const of = findingsOf('public-url', 'http.public.url')
    const fix =
      'set http.public.url = "https://mail.example.com", which leads to the public listener'
    return [of.fail('not set: the links in mail lead nowhere', fix)]
  }
  const { protocol, hostname, port } = new URL(url)
  const of = findingsOf('certificate', hostname)
  if (protocol !== 'https:') {
    const fix = 'put a TLS proxy in front of the public listener (systemd/Caddyfile.example)'
    return [of.warn('links in mail lead to http, without encryption', fix)]
  }
  const { addresses } = await addressesOf(deps.resolver, hostname.replace(/^\[|\]$/g, ''))
  const [address] = addresses
  if (address === undefined) {
    return [
      of.fail('the host has no address', `publish ${hostname}. 3600 IN A <the proxy's address>`),
    ]
  }
  const target = { host: address, port: Number(port || 443), servername: hostname }
  const certificate = await certificateOf(deps, target)
  if ('failure' in certificate) {
    const fix = 'start the TLS proxy, and open its port in the firewall'
    return [of.fail(`[${address}] ${certificate.failure}`, fix)]
  }
  return [judgeCertificate(deps, hostname, certificate)]
}

/** The certificates that our SMTP listeners offer. */
export async function checkListenerCertificates(deps: DoctorDeps): Promise<Finding[]> {
  const { inbound, submission } = deps.config
  const findings: Finding[] = []
  if (inbound.enabled) {
    const fix = 'set inbound.tls.certificate and inbound.tls.key to the files of a certificate'
    const of = findingsOf('certificate', 'inbound listener')
    findings.push(
      inbound.tls.certificate === ''
        ? of.warn('none: reports come unencrypted', fix)
        : // RFC 7435: senders encrypt without asking who we are; nobody has to know the authority.
          judgeFiles(deps, { name: 'inbound listener', files: inbound.tls, fix, mayBeOwn: true }),
    )
  }
  if (submission.enabled && (submission.starttls !== '' || submission.tls !== '')) {
    const fix = 'set submission.certificate and submission.key to the files of a certificate'
    const files = certificatePaths(submission, inbound.tls)
    const name = 'submission listener'
    // Programs do ask who we are before they show their key.
    findings.push(judgeFiles(deps, { name, files, fix, mayBeOwn: false }))
  }
  return findings
}

function judgeFiles(
  deps: DoctorDeps,
  asked: {
    name: string
    files: { certificate: string; key: string }
    fix: string
    mayBeOwn: boolean
  },
): Finding {
  const { name, files, fix, mayBeOwn } = asked
  const of = findingsOf('certificate', name)
  const { heloName } = deps.config.outbound
  try {
    const certificate = new X509Certificate(readCertificate(files)?.cert ?? '')
    const validTo = Date.parse(certificate.validTo)
    const isSelfSigned = certificate.issuer === certificate.subject
    const isForUs = certificate.checkHost(heloName) !== undefined
    const fault = isForUs ? undefined : `the certificate is not for ${heloName}`
    const finding = judgeCertificate(deps, name, { validTo, fault })
    if (!isSelfSigned || finding.state === 'fail') return finding
    if (!mayBeOwn) return of.warn(`self-signed: programs refuse it; ${finding.found}`, fix)
    return {
      ...finding,
      found: `self-signed, which is enough for those who report; ${finding.found}`,
    }
  } catch (error) {
    return of.fail(messageOf(error), fix)
  }
}

export interface SeenCertificate {
  validTo: number
  /** What is wrong with it beside its age: unknown authority, another name. */
  fault: string | undefined
}

const faults: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
}

export function judgeCertificate(
  { clock }: Pick<DoctorDeps, 'clock'>,
  subject: string,
  { validTo, fault }: SeenCertificate,
): Finding {
  const of = findingsOf('certificate', subject)
  const days = Math.floor((validTo - clock.now()) / dayMs)
  const fix = `renew the certificate of ${subject} ('caddy reload', 'certbot renew')`
  if (days < 0) return of.fail(`expired ${-days} days ago`, fix)
  if (fault !== undefined) return of.fail(fault, fix)
  const found = `good for ${days} more days`
  // Those who renew by themselves do so a third of the way before the end.
  return days < 14 ? of.warn(found, fix) : of.ok(found)
}

export function certificateOf(
  { clock, config, ca }: Pick<DoctorDeps, 'clock' | 'config' | 'ca'>,
  target: { host: string; port: number; servername: string },
): Promise<SeenCertificate | { failure: string }> {
  return new Promise((resolve) => {
    const socket = tlsConnect({
      ...target,
      // Judged below: an expired one is to be looked at, not refused.
      rejectUnauthorized: false,
      ...(ca === undefined ? {} : { ca }),
    })
    const end = (seen: SeenCertificate | { failure: string }) => {
      cancel()
      socket.destroy()
      resolve(seen)
    }
    const cancel = clock.after(config.doctor.timeout, () => end({ failure: 'no answer in time' }))
    socket.once('error', (error) => end({ failure: messageOf(error) }))
    socket.once('secureConnect', () => {
      const validTo = Date.parse(socket.getPeerCertificate().valid_to)
      const fault = messageOf(socket.authorizationError)
      end({ validTo, fault: socket.authorized ? undefined : (faults[fault] ?? fault) })
    })
  })
}
