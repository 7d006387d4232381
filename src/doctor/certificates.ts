import { X509Certificate } from 'node:crypto'
import { connect as tlsConnect } from 'node:tls'
import { counted } from '../amounts/index.js'
import { listCertificates, ownNames } from '../certificates/index.js'
import { dayMs, utcTime } from '../clock/index.js'
import { certificatePaths } from '../config/index.js'
import { messageOf } from '../errors/index.js'
import { readCertificate } from '../smtpd/index.js'
import { type DoctorDeps, type Finding, findingsOf } from './finding.js'
import { addressesOf } from './source-addresses.js'

/** The certificate that recipients meet behind the links in their mail. */
export async function checkPublicCertificate(deps: DoctorDeps): Promise<Finding[]> {
  const { url, tls } = deps.config.http.public
  if (url === '') {
    const of = findingsOf('public-url', 'http.public.url')
    const fix =
      'set http.public.url = "https://mail.example.com", which leads to the public listener'
    return [of.fail('not set: the links in mail lead nowhere', fix)]
  }
  const { protocol, hostname, port } = new URL(url)
  const of = findingsOf('certificate', hostname)
  if (protocol !== 'https:') {
    const fix =
      'turn http.public.tls on, or put a TLS proxy in front of the public listener (systemd/README.md)'
    return [of.warn('links in mail lead to http, without encryption', fix)]
  }
  const { addresses, failed } = await addressesOf(deps.resolver, hostname.replace(/^\[|\]$/g, ''))
  const [address] = addresses
  if (address === undefined && failed !== undefined) return [of.noAnswer(failed)]
  if (address === undefined) {
    return [
      of.fail(
        'the host has no address',
        `publish ${hostname}. 3600 IN A <the address of this machine, or of the proxy>`,
      ),
    ]
  }
  const target = { host: address, port: Number(port || 443), servername: hostname }
  const certificate = await certificateOf(deps, target)
  if ('failure' in certificate) {
    const fix = tls.enabled
      ? `open port ${tls.port} in the firewall; without any certificate: posthorn certificate`
      : 'start the TLS proxy, and open its port in the firewall'
    return [of.fail(`[${address}] ${certificate.failure}`, fix)]
  }
  return [judgeCertificate(deps, hostname, certificate)]
}

/** The certificates that our SMTP listeners offer. */
export async function checkListenerCertificates(deps: DoctorDeps): Promise<Finding[]> {
  const { inbound, submission } = deps.config
  const findings: Finding[] = []
  const { tls, outbound } = deps.config
  // ACME's certificate is offered if a listener has no files; `checkAcme` tells its state.
  const hasAcme = tls.acme && ownNames(deps.config).includes(outbound.heloName)
  if (inbound.enabled && !(hasAcme && inbound.tls.certificate === '')) {
    const fix = 'set inbound.tls.certificate and inbound.tls.key to the files of a certificate'
    const of = findingsOf('certificate', 'inbound listener')
    findings.push(
      inbound.tls.certificate === ''
        ? of.warn('none: reports come unencrypted', fix)
        : // RFC 7435: senders encrypt without checking who we are, so the authority may be unknown.
          judgeFiles(deps, { name: 'inbound listener', files: inbound.tls, fix, mayBeOwn: true }),
    )
  }
  if (submission.enabled && (submission.starttls !== '' || submission.tls !== '')) {
    const fix = 'set submission.certificate and submission.key to the files of a certificate'
    const files = certificatePaths(submission, inbound.tls)
    const name = 'submission listener'
    // Programs do check who we are before they send their key.
    const isOfFiles = !(hasAcme && files.certificate === '')
    if (isOfFiles) findings.push(judgeFiles(deps, { name, files, fix, mayBeOwn: false }))
  }
  return findings
}

/**
 * The certificates of ACME: all of the operator's names, and customers' names that have a fault.
 */
export async function checkAcme({ config, read, dataDir, clock }: DoctorDeps): Promise<Finding[]> {
  const all = await listCertificates({ read, config, dataDir })
  const now = clock.now()
  return all.flatMap(
    ({ name, domain, endsAt, error, fix, failed_since: since, next_at: nextAt }) => {
      const of = findingsOf('acme', name)
      const mend = `${fix ?? 'start Posthorn, which orders it'}; then 'posthorn certificate renew ${name}'`
      const said = error === null ? 'not ordered yet' : `${error}, since ${utcTime(since ?? now)}`
      if (endsAt === null || endsAt <= now) {
        const found =
          endsAt === null ? `no certificate: ${said}` : `its certificate has ended: ${said}`
        return domain === undefined
          ? [of.fail(found, mend)]
          : error === null
            ? []
            : [of.warn(found, mend)]
      }
      if (error !== null)
        return [of.warn(`not renewed: ${said}; tried again ${utcTime(nextAt)}`, mend)]
      return domain === undefined ? [of.ok(`good until ${utcTime(endsAt)}`)] : []
    },
  )
}

/**
 * `mayBeOwn`: between mail servers a self-signed certificate is enough (RFC 7435: opportunistic);
 * programs that submit mail refuse one.
 */
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
    const validFrom = Date.parse(certificate.validFrom)
    const validTo = Date.parse(certificate.validTo)
    const isSelfSigned = certificate.issuer === certificate.subject
    const isForUs = certificate.checkHost(heloName) !== undefined
    const fault = isForUs ? undefined : `the certificate is not for ${heloName}`
    const finding = judgeCertificate(deps, name, { validFrom, validTo, fault })
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
  validFrom: number
  validTo: number
  /** Its fault beside its age: unknown authority, another name. */
  fault: string | undefined
}

const faults: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
}

/** Ends are told early enough for a person to act, and never on the last day only. */
function judgeCertificate(
  { clock }: Pick<DoctorDeps, 'clock'>,
  subject: string,
  { validFrom, validTo, fault }: SeenCertificate,
): Finding {
  const of = findingsOf('certificate', subject)
  const days = Math.floor((validTo - clock.now()) / dayMs)
  const fix = `renew the certificate of ${subject} ('caddy reload', 'certbot renew')`
  if (days < 0) return of.fail(`expired ${counted(-days, 'day')} ago`, fix)
  if (fault !== undefined) return of.fail(fault, fix)
  const found = `good for ${counted(days, 'more day')}`
  // Automatic renewals happen when a third of the life is left.
  return days < 14 * scaleOf(validFrom, validTo) ? of.warn(found, fix) : of.ok(found)
}

/**
 * A span that is short for a certificate of 90 days is the whole life of one of six, so times before the end shrink
 * with the life.
 */
export const scaleOf = (validFrom = 0, validTo = 0) =>
  Math.min(1, (validTo - validFrom) / (90 * dayMs))

/**
 * Read over the network, because the served certificate may be older than the file: a proxy or a
 * process may not have read the file again.
 */
export function certificateOf(
  { clock, config, ca }: Pick<DoctorDeps, 'clock' | 'config' | 'ca'>,
  target: { host: string; port: number; servername: string },
): Promise<SeenCertificate | { failure: string }> {
  return new Promise((resolve) => {
    const socket = tlsConnect({
      ...target,
      // Judged below: an expired certificate must be examined, not refused.
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
      const { valid_from, valid_to } = socket.getPeerCertificate()
      const fault = messageOf(socket.authorizationError)
      const life = { validFrom: Date.parse(valid_from), validTo: Date.parse(valid_to) }
      end({ ...life, fault: socket.authorized ? undefined : (faults[fault] ?? fault) })
    })
  })
}
