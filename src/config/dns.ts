import { isIP } from 'node:net'
import { isTable } from '../toml/index.js'
import { duration, list, table } from './settings.js'

/** The section `dns`: which servers are asked, and what is answered without asking any. */
export const dnsSettings = {
  servers: list([], {
    each: isServer,
    expected: 'a list of IP addresses, with an optional :port',
  }),
  timeout: duration('5s', '100ms', '60s'),
  validatingResolver: table<string>(
    '',
    (value) => (typeof value === 'string' && (value === '' || isServer(value)) ? value : undefined),
    'an address such as "127.0.0.1:53" or "[::1]:53"',
  ),
  static: table<Record<string, Record<string, unknown>>>(
    {},
    (value) => (isRecordTable(value) ? value : undefined),
    'a table of names, each with lists a, aaaa, txt, ptr, or mx = [{ preference = 10, exchange = "mx.example" }], or cname or fail = "…"',
  ),
} as const

/** Whether it is a host with an optional port, such as `[::1]:53` or `127.0.0.1`. */
export function isServer(item: string): boolean {
  const match = /^(?:\[([^\]]+)\]|([^:]+|[0-9a-f:]+))(?::(\d{1,5}))?$/i.exec(item)
  if (isIP(item) !== 0) return true
  return isIP(match?.[1] ?? match?.[2] ?? '') !== 0 && Number(match?.[3] ?? 0) < 65_536
}

/** What `staticResolver` reads, by name. */
function isRecordTable(value: unknown): value is Record<string, Record<string, unknown>> {
  return isTable(value) && Object.values(value).every((entry) => isTable(entry) && isHost(entry))
}

/** One name's records, each of the right kind. */
const isHost = (entry: Record<string, unknown>): boolean =>
  Object.entries(entry).every(([type, value]) => {
    if (type === 'cname' || type === 'fail') return typeof value === 'string'
    if (!Array.isArray(value)) return false
    if (type === 'mx') return value.every(isMx)
    if (type === 'a' || type === 'aaaa') {
      return value.every((item) => isIP(String(item)) === (type === 'a' ? 4 : 6))
    }
    return ['txt', 'ptr'].includes(type) && value.every((item) => typeof item === 'string')
  })

/** RFC 1035 §3.3.9: a preference and a host. */
const isMx = (item: unknown): boolean =>
  isTable(item) && typeof item.exchange === 'string' && Number.isInteger(item.preference)
