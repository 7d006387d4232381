import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Clock, isRecent } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'

// RFC 2104 §5: at least 80 bits. An attacker can only guess over the network, one request for each try.
const macBytes = 16
// A page that was open for more than a day has to be confirmed once more.
const oldestMs = 24 * 3_600_000
// Nobody reads and fills in a form faster.
const quickestMs = 1_500

/** When a form was shown, and on which page by its own word. */
export interface Stamp {
  verdict: 'good' | 'quick' | 'old' | 'none'
  page: string
}

export type SignupTokens = ReturnType<typeof makeSignupTokens>

/** The tokens in a form and in the mail that asks for a confirmation; nobody else can make them. */
export function makeSignupTokens(key: ApplianceKey, clock: Clock) {
  const stampKeys = key.deriveAll('form stamp')
  const confirmKeys = key.deriveAll('form confirmation')
  const addressKey = key.derive('form address')
  const macOf = (secret: Buffer | undefined, text: string) =>
    createHmac('sha256', secret ?? '')
      .update(text)
      .digest()
      .subarray(0, macBytes)
  /** Whether any of the keys has signed it, also an older one from before a rotation. */
  const fits = (secrets: readonly Buffer[], text: string, given: string) => {
    const bytes = Buffer.from(given, 'base64url')
    if (bytes.length !== macBytes) return false
    return secrets.some((secret) => timingSafeEqual(bytes, macOf(secret, text)))
  }
  return {
    /** The stamp of a form that is shown now; `page` is the page from which a form elsewhere was sent. */
    stamp(publicId: string, page = ''): string {
      const at = clock.now().toString(36)
      const from = Buffer.from(page.slice(0, 300)).toString('base64url')
      const text = `${publicId} ${at} ${from}`
      return `${at}.${from}.${macOf(stampKeys[0], text).toString('base64url')}`
    },
    readStamp(publicId: string, given: string): Stamp {
      const none: Stamp = { verdict: 'none', page: '' }
      if (given.length > 600) return none
      const [at = '', from = '', mac = ''] = given.split('.')
      if (!fits(stampKeys, `${publicId} ${at} ${from}`, mac)) return none
      const page = Buffer.from(from, 'base64url').toString('utf8')
      const shownAt = Number.parseInt(at, 36)
      const now = clock.now()
      if (isRecent(shownAt, now, quickestMs)) return { verdict: 'quick', page }
      return { verdict: isRecent(shownAt, now, oldestMs) ? 'good' : 'old', page }
    },
    /** The end of the link that confirms an entry. */
    confirmation: (entryId: string) =>
      `${entryId}.${macOf(confirmKeys[0], entryId).toString('base64url')}`,
    /** The entry of a token that was made here; undefined for any other token. */
    readConfirmation(token: string): string | undefined {
      if (token.length > 80) return undefined
      const [id = '', mac = ''] = token.split('.')
      return fits(confirmKeys, id, mac) ? id : undefined
    },
    hashOf: (accountId: string, address: string) =>
      macOf(addressKey, `${accountId} ${address}`).toString('base64url'),
  }
}
