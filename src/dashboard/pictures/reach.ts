import { isIP } from 'node:net'
import { isPublicAddress } from '../../dns/index.js'

/** What the page says where nobody elsewhere can fetch from the address that mails name; undefined: they may. */
export function reachOf(publicUrl: string): string | undefined {
  const name = new URL(publicUrl).hostname.replace(/^\[|\]$/g, '')
  const isLocal = isIP(name) === 0 ? isOwnName(name) : !isPublicAddress(name)
  return isLocal
    ? `Pictures would be fetched from ${publicUrl}, which only this machine or network reaches: recipients elsewhere would see none. Whoever runs this server sets http.public.url.`
    : undefined
}

/** RFC 6761 §6, RFC 6762 §3: names that no public resolver knows; and those without a dot. */
const isOwnName = (name: string) =>
  !name.includes('.') || /\.(localhost|local|test|invalid|internal|lan)$/i.test(name)
