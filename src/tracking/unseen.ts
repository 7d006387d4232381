import type { Read } from '../store/index.js'
import { outweighsPixel } from './pixel.js'
import { ownSwitchesOf, type Switches } from './switches.js'

/**
 * Why nobody sees what happens to a mail: the server has no public address; the switch of the sender's domain, of the
 * account or of the settings is off; it is transactional, whose opens are seen only where domain or account say so;
 * it has no picture and too few words for the pixel.
 */
export const whysUnseen = [
  'unreachable',
  'domain',
  'account',
  'settings',
  'transactional',
  'light',
] as const
export type WhyUnseen = (typeof whysUnseen)[number]

/** Why opens of a mail are not seen, and why clicks in it are not; undefined where they are. */
export interface UnseenOf {
  opened: WhyUnseen | undefined
  clicked: WhyUnseen | undefined
}

/** The fields of a mail that decide what is seen of it. */
interface SentMail {
  domainId: string
  html: string
  type: 'transactional' | 'marketing'
}

/**
 * What nobody sees of a domain's mail, by the present switches. `settings` undefined: nobody outside could load a
 * pixel or follow a tracked link. Nothing is known about a domain that is gone, so its mail counts as seen.
 */
export async function unseenOf(
  read: Read,
  { domainId, html, type }: SentMail,
  settings: Switches | undefined,
): Promise<UnseenOf> {
  if (settings === undefined) return { opened: 'unreachable', clicked: 'unreachable' }
  const own = await ownSwitchesOf(read, domainId)
  if (own === undefined) return { opened: undefined, clicked: undefined }
  const offBy = (what: keyof Switches): WhyUnseen | undefined => {
    if (own.domain[what] !== null) return own.domain[what] ? undefined : 'domain'
    if (own.account[what] !== null) return own.account[what] ? undefined : 'account'
    return settings[what] ? undefined : 'settings'
  }
  const isAsked = own.domain.opens ?? own.account.opens
  const unasked = type === 'transactional' && isAsked === null ? 'transactional' : undefined
  const light = outweighsPixel(html) ? undefined : 'light'
  return { opened: unasked ?? offBy('opens') ?? light, clicked: offBy('clicks') }
}
