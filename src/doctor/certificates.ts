import { X509Certificate } from 'node:crypto'
import { connect as tlsConnect } from 'node:tls'
import { dayMs } from '../clock/index.js'
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

/** The certificate that the inbound listener offers to STARTTLS. */
export async function checkListenerCertificate(deps: DoctorDeps): Promise<Finding[]> {
  const { inbound, outbound } = deps.config
  if (!inbound.enabled) return []
  const of = findingsOf('certificate', 'inbound listener')
  const fix = 'set inbound.tls.certificate and inbound.tls.key to the files of a certificate'
  if (inbound.tls.certificate === '') return [of.warn('none: reports come unencrypted', fix)]
  try {
    const certificate = new X509Certificate(readCertificate(inbound.tls)?.cert ?? '')
    const validTo = Date.parse(certificate.validTo)
    // RFC 7435: senders encrypt without asking who we are; nobody has to know the authority.
    const isSelfSigned = certificate.issuer === certificate.subject
    const isForUs = certificate.checkHost(outbound.heloName) !== undefined
    const fault = isForUs ? undefined : `the certificate is not for ${outbound.heloName}`
    const finding = judgeCertificate(deps, 'inbound listener', { validTo, fault })
    if (!isSelfSigned || finding.state === 'fail') return [finding]
    const found = `self-signed, which is enough for those who report; ${finding.found}`
    return [{ ...finding, found }]
  } catch (error) {
    return [of.fail(messageOf(error), fix)]
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

function certificateOf(
  { clock, config, ca }: DoctorDeps,
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
