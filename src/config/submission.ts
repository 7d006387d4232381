import { isIP } from 'node:net'
import { OperatorError } from '../errors/index.js'
import { isTable } from '../toml/index.js'
import type { Listener } from './listeners.js'
import { isNetwork, list, table } from './settings.js'

/** Clients in this network need no log-in: meant for a printer, which cannot log in. */
export interface TrustedNetwork {
  network: string
  /** The account to which their mail belongs: its id or name. */
  account: string
  /** All their mail is from this address, whatever they write themselves. */
  from: string
  /** Recipients of their mail in an hour. */
  perHour: number
}

/** The part of `[submission]` that is checked here. */
export interface SubmissionSettings {
  enabled: boolean
  starttls: string
  tls: string
  certificate: string
  key: string
  plain: { listen: string; networks: readonly string[] }
}

/** An IP address and a port, such as `"0.0.0.0:587"` or `"[::]:587"`; empty: no listener. */
export const listenAt = (fallback: string) =>
  table<string>(
    fallback,
    (value) =>
      typeof value === 'string' && (value === '' || listenOf(value) !== undefined)
        ? value
        : undefined,
    'an IP address with a port, such as "0.0.0.0:587" or "[::]:587", or nothing',
  )

/** Host and port of such a setting; undefined for anything else. */
export function listenOf(text: string): { host: string; port: number } | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text)
  const host = match?.[1] ?? match?.[2] ?? ''
  const port = Number(match?.[3])
  return isIP(host) !== 0 && port < 65_536 ? { host, port } : undefined
}

/** Networks in CIDR notation. */
export const networks = () =>
  list([], { each: isNetwork, expected: 'a list of networks, such as "10.0.0.0/24"' })

/** The setting `submission.trusted`. */
export const trustedNetworks = table<readonly TrustedNetwork[]>(
  [],
  (value) => {
    const read = Array.isArray(value) ? value.map(trustedNetwork) : [undefined]
    const valid = read.filter((one) => one !== undefined)
    return valid.length === read.length ? valid : undefined
  },
  'a list of tables, each { network = "10.0.0.9", account = "Main", from = "Scanner <scanner@example.com>", per_hour = 60 }',
)

/** One of these networks; undefined if anything about it is wrong. */
function trustedNetwork(value: unknown): TrustedNetwork | undefined {
  if (!isTable(value)) return undefined
  const { network, account, from, per_hour: perHour = 60, ...others } = value
  if (typeof network !== 'string' || !isNetwork(network)) return undefined
  if (typeof account !== 'string' || account === '') return undefined
  // No line break: the text becomes a header.
  if (typeof from !== 'string' || !/^[^\r\n]*[^\s@<>]@[^\s@<>]+>?$/.test(from)) return undefined
  if (!Number.isInteger(perHour) || Number(perHour) < 1) return undefined
  if (Object.keys(others).length > 0) return undefined
  return { network, account, from, perHour: Number(perHour) }
}

/** Throws an `OperatorError` for settings that do not go together. */
export function checkSubmission(
  submission: SubmissionSettings,
  inbound: Files,
  acme: boolean,
): void {
  const { enabled, starttls, tls, certificate, key, plain } = submission
  if ((certificate === '') !== (key === '')) {
    throw new OperatorError('submission needs both files, certificate and key')
  }
  if (!enabled) return
  if (starttls === '' && tls === '' && plain.listen === '') {
    throw new OperatorError(
      'submission.enabled needs a listener: submission.starttls, submission.tls or submission.plain.listen',
    )
  }
  const isCertified = acme || certificatePaths(submission, inbound).certificate !== ''
  if ((starttls !== '' || tls !== '') && !isCertified) {
    throw new OperatorError(
      'submission.starttls and submission.tls need a certificate: set submission.certificate and submission.key (or inbound.tls), or tls.acme, or make both listeners empty',
    )
  }
  if (plain.listen !== '' && plain.networks.length === 0) {
    throw new OperatorError(
      'submission.plain.listen takes passwords without encryption: submission.plain.networks has to name the networks that may use it',
    )
  }
}

/** A certificate and its key, in PEM. */
interface Files {
  certificate: string
  key: string
}

/** The listeners of submission; none while it is off. */
export function submissionListeners({
  enabled,
  starttls,
  tls,
  plain,
}: {
  enabled: boolean
  starttls: string
  tls: string
  plain: { listen: string }
}): Listener[] {
  if (!enabled) return []
  const places = { starttls, tls, 'plain.listen': plain.listen }
  return Object.entries(places).flatMap(([name, text]) => {
    const place = listenOf(text)
    return place === undefined ? [] : [{ name: `submission.${name}`, ...place }]
  })
}

/** The TLS files: its own, or those of the inbound listener. */
export const certificatePaths = (submission: Files, inbound: Files): Files => {
  const { certificate, key } = submission.certificate === '' ? inbound : submission
  return { certificate, key }
}
