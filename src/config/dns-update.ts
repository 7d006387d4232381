import { isIP } from 'node:net'
import { messageOf, OperatorError } from '../errors/index.js'
import { secretOf } from './secret-file.js'

/** RFC 8945 §6: by what a key signs; the MACs of older servers (MD5, SHA-1) are left out. */
const tsigAlgorithms = ['hmac-sha256', 'hmac-sha384', 'hmac-sha512'] as const
type TsigAlgorithm = (typeof tsigAlgorithms)[number]

/** A key by which a name server knows who asks it to change a zone. */
export interface DnsUpdateKey {
  name: string
  algorithm: TsigAlgorithm
  secret: Buffer
}

interface UpdateSettings {
  dnsServer: string
  dnsKeyFile: string
}

const serverForm = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]/]+))(?::(\d{1,5}))?$/i

/** The host and the port of `[tls] dns_server`: a name or an address, IPv6 in brackets. */
export function updateServerOf({ dnsServer }: Pick<UpdateSettings, 'dnsServer'>) {
  const [, six, other, port] = serverForm.exec(dnsServer) ?? []
  return { host: six ?? other ?? '', port: Number(port ?? 53) }
}

export function isUpdateServer(text: string): boolean {
  const { host, port } = updateServerOf({ dnsServer: text })
  if (port < 1 || port > 65_535) return false
  return isIP(host) !== 0 || /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/i.test(host)
}

/** Both settings would be two ways to publish one record. */
export function checkDnsUpdate({ tls }: { tls: UpdateSettings & { dnsHook: string } }): void {
  if (tls.dnsHook === '' || tls.dnsServer === '') return
  throw new OperatorError(
    'tls.dns_hook and tls.dns_server are two ways to publish one record: set one of them',
  )
}

/**
 * The key that `[tls] dns_server` is to be asked with, undefined where that is not set. It is read as `tsig-keygen` and
 * `keymgr -t` write it: `key "NAME" { algorithm …; secret "…"; };`, or ALGORITHM:NAME:SECRET on a line. Throws an
 * OperatorError that says nothing of the secret.
 */
export function updateKeyOf(
  { dnsServer, dnsKeyFile: file }: UpdateSettings,
  env: Readonly<Record<string, string | undefined>> = process.env,
): DnsUpdateKey | undefined {
  if (dnsServer === '') return undefined
  const what = 'the key of tls.dns_server'
  const text = secretOf(what, { file, credential: 'dns-update-key', env })
  if (text === undefined) {
    throw new OperatorError(
      'tls.dns_server is set, and tls.dns_key_file names no file with its key',
    )
  }
  try {
    return readUpdateKey(text)
  } catch (error) {
    throw new OperatorError(`${what}: ${messageOf(error)}`)
  }
}

const nameForm = /^(?=.{1,254}$)(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?$/i

function readUpdateKey(text: string): DnsUpdateKey {
  // keymgr writes its short form as a comment above the long one of Knot.
  const line = /^(?:# )?(hmac-[a-z0-9]+):([^\s:]+):(\S+)\s*$/im.exec(text)
  const block = /\bkey\s+"?([^\s"{;]+)"?\s*\{([^}]*)\}/.exec(text)
  const inBlock = (word: string) =>
    new RegExp(`\\b${word}\\s+"?([^\\s";]+)"?\\s*;`).exec(block?.[2] ?? '')?.[1]
  const [algorithm, name, secret] = line
    ? line.slice(1)
    : [inBlock('algorithm'), block?.[1], inBlock('secret')]
  if (algorithm === undefined || name === undefined || secret === undefined) {
    throw new Error('it is not as tsig-keygen writes one, and not ALGORITHM:NAME:SECRET')
  }
  const known = tsigAlgorithms.find((one) => one === algorithm.toLowerCase())
  if (known === undefined) {
    throw new Error(
      `it is for ${algorithm.slice(0, 40)}, and must be for ${tsigAlgorithms.join(', ')}`,
    )
  }
  if (!nameForm.test(name)) throw new Error('its name is no domain name')
  if (!/^[A-Za-z0-9+/]{16,}={0,2}$/.test(secret)) throw new Error('its secret is not in base64')
  return { name, algorithm: known, secret: Buffer.from(secret, 'base64') }
}
