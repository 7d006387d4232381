import { decodeValue } from './white-space.js'

const nowhere = /^(?:#|$|(?:javascript|vbscript|data|about|cid):)/i
const address = /^(?:mailto|tel|sms|callto):/i

/** The target of an `href`, complete and without white space; undefined if a text cannot name it. */
export function targetOf(source: string): string | undefined {
  const value = decodeValue(source).trim()
  if (nowhere.test(value)) return undefined
  // As browsers read it: line ends in it are dropped, and spaces belong to it.
  const whole = /\s/.test(value) ? value.replace(/[\t\n\r]+/g, '').replace(/\s/g, '%20') : value
  const scheme = address.exec(whole)?.[0]
  if (scheme === undefined) return whole
  const [to = ''] = value.slice(scheme.length).split('?')
  return addressIn(to) || undefined
}

/** RFC 6068 §2, RFC 3966 §3: characters that would disturb are escaped in an address. */
function addressIn(source: string): string {
  const bare = source.replace(/\s+/g, '')
  if (!bare.includes('%')) return bare
  try {
    const decoded = decodeURIComponent(bare).replace(/ /g, '')
    return /[\p{C}\s[\]]/u.test(decoded) ? bare : decoded
  } catch {
    return bare
  }
}

/** Whether a link's words, without spaces, are its target in the form that people write. */
export function isSameTarget(words: string, target: string): boolean {
  if (words === target) return true
  // People leave out at most `https://` and a slash.
  if (Math.abs(words.length - target.length) > 9) return false
  const [said, meant] = [bare(words), bare(target)]
  // Upper and lower case mean the same in a host, but not after it.
  return said === meant || (!said.includes('/') && said.toLowerCase() === meant.toLowerCase())
}

const bare = (url: string) => url.replace(/^(?:https?:\/\/|mailto:|tel:)/i, '').replace(/\/$/, '')
