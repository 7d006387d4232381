import { X509Certificate } from 'node:crypto'
import type { Client } from 'acme-client'
import { hourMs } from '../clock/index.js'
import type { ExternalAccount } from '../config/index.js'
import { messageOf } from '../errors/index.js'
import { AcmeProblem, problemOf } from './problem.js'
import { exchange, retryAfterMs, type Transport } from './transport.js'

/**
 * An ACME directory (RFC 8555), with an account key of ours. Rejects with an `AcmeProblem`, or with a network error.
 */
export interface Directory {
  client: Client
  /** A request for a certificate for one name, signed by the certificate's own key. Both PEM. */
  request(name: string, key: string): Promise<string>
  /** How long the last answer asked us to wait, in ms; undefined when it did not. */
  askedToWaitMs(): number | undefined
  /** RFC 9773: when this certificate (PEM) should be replaced. Undefined: the directory does not say. */
  renewalInfo(cert: string): Promise<RenewalInfo | undefined>
}

export interface RenewalInfo {
  /** For the `replaces` of the next order. */
  id: string
  startsAt: number
  endsAt: number
  /** When to ask again. */
  againMs: number
}

export interface DirectoryOptions {
  url: string
  /** PEM. */
  accountKey: string
  accountUrl: string | undefined
  /** Sent when our account is made. */
  externalAccount: ExternalAccount | undefined
  transport: Transport
}

/**
 * Speaks to a directory by acme-client. All its requests go through our bounded transport: its own would wait as long
 * as a Retry-After says, and drops the types of errors. One at a time in a process, as the package has only one
 * transport. It is loaded only here: listeners need none of it.
 */
export async function openDirectory(options: DirectoryOptions): Promise<Directory> {
  const { url: directoryUrl, accountKey, accountUrl, externalAccount, transport } = options
  const { axios, Client, crypto } = await import('acme-client')
  let askedToWait: number | undefined
  axios.defaults.adapter = async (config) => {
    const { status, headers, text } = await ask(transport, {
      url: config.url ?? '',
      method: (config.method ?? 'get').toUpperCase(),
      headers: { 'content-type': `${config.headers['Content-Type']}`, accept: '*/*' },
      body: typeof config.data === 'string' ? config.data : undefined,
    })
    askedToWait = retryAfterMs(headers['retry-after'], transport.clock.now())
    return { data: text, status, statusText: '', headers, config }
  }
  const client = new Client({
    directoryUrl,
    accountKey,
    ...(accountUrl === undefined ? {} : { accountUrl }),
    ...(externalAccount === undefined ? {} : { externalAccountBinding: externalAccount }),
  })
  return {
    client,
    async request(name, key) {
      const [, csr] = await crypto.createCsr({ altNames: [name] }, key)
      return csr.toString()
    },
    askedToWaitMs: () => askedToWait,
    renewalInfo: (cert) => askRenewalInfo(directoryUrl, transport, cert),
  }
}

async function ask(transport: Transport, asked: Parameters<typeof exchange>[1]) {
  const answer = await exchange(transport, asked)
  // RFC 8555 §6.5: a nonce that was too old is no fault; the client itself tries once more.
  const isRefused = answer.status >= 400 && !/:badNonce"/.test(answer.text)
  if (isRefused) throw problemOf(answer, transport.clock.now())
  // 3xx: a directory does not send its clients elsewhere.
  if (answer.status >= 300 && answer.status < 400) {
    throw new AcmeProblem('', `It answered ${answer.status}, a redirect`, answer.status, undefined)
  }
  return answer
}

async function askRenewalInfo(
  directoryUrl: string,
  transport: Transport,
  cert: string,
): Promise<RenewalInfo | undefined> {
  const id = renewalId(cert)
  const get = async (url: string) => {
    const asked = { url, method: 'GET', headers: { accept: 'application/json' }, body: undefined }
    const { headers, text } = await ask(transport, asked)
    return { headers, json: JSON.parse(text) as Record<string, unknown> }
  }
  const { renewalInfo } = (await get(directoryUrl)).json
  if (id === undefined || typeof renewalInfo !== 'string') return undefined
  const { json, headers } = await get(`${renewalInfo.replace(/\/$/, '')}/${id}`)
  const { start, end } = (json.suggestedWindow ?? {}) as Record<string, unknown>
  const [startsAt, endsAt] = [Date.parse(`${start}`), Date.parse(`${end}`)]
  // RFC 9773 §4.2: a window that ends before it begins means nothing.
  if (!(startsAt < endsAt)) return undefined
  const againMs = retryAfterMs(headers['retry-after'], transport.clock.now()) ?? 6 * hourMs
  // RFC 9773 §4.3.2: bounds on what a server may ask.
  return { id, startsAt, endsAt, againMs: Math.min(Math.max(againMs, hourMs), 24 * hourMs) }
}

/** RFC 9773 §4.1: the authority's key identifier and the serial number; undefined for a certificate without one. */
export function renewalId(cert: string): string | undefined {
  const { raw, serialNumber } = new X509Certificate(cert)
  const at = raw.indexOf(authorityKeyId)
  if (at < 0) return undefined
  // SEQUENCE { [0] keyIdentifier }, within an OCTET STRING; all lengths are one byte long.
  const start = at + authorityKeyId.length + 4
  if (raw[start] !== 0x80) return undefined
  const length = raw[start + 1] ?? 0
  const keyId = raw.subarray(start + 2, start + 2 + length)
  const hex = serialNumber.length % 2 === 0 ? serialNumber : `0${serialNumber}`
  const serial = Buffer.from(hex, 'hex')
  // DER: with a leading bit of 1 the number would be negative.
  const der = (serial[0] ?? 0) > 127 ? Buffer.concat([Buffer.of(0), serial]) : serial
  return `${keyId.toString('base64url')}.${der.toString('base64url')}`
}

// 2.5.29.35, RFC 5280 §4.2.1.1.
const authorityKeyId = Buffer.of(0x06, 0x03, 0x55, 0x1d, 0x23)

/** What went wrong, for people: whose message it is, and its text. */
export const causeOf = (error: unknown) =>
  error instanceof AcmeProblem && error.type !== ''
    ? `${error.message} (${error.type})`
    : messageOf(error)
