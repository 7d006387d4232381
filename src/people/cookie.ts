import { type ApplianceKey, keyCheckOf } from '../config/index.js'
import { longestMs } from './session.js'

/** A request as far as cookies go. */
interface WithCookies {
  /** It came by TLS, so that what is answered goes by TLS too. */
  isSecure: boolean
  cookie(name: string): string | undefined
}

export interface SessionCookie {
  read(request: WithCookies): string | undefined
  /** A Set-Cookie header. */
  set(request: WithCookies, token: string): string
  clear(request: WithCookies): string
}

/**
 * The cookie of a session. RFC 6265bis §4.1.3.2: by `__Host-` no other host and no page without TLS can plant
 * one. Cookies know no ports (RFC 6265 §8.5), so its name has a part of the installation's own: two appliances
 * on one host would log each other out.
 */
export function sessionCookie(key: ApplianceKey): SessionCookie {
  const own = keyCheckOf(key)
    .replaceAll(/[^a-zA-Z0-9]/g, '')
    .slice(0, 6)
  const name = ({ isSecure }: WithCookies) => `${isSecure ? '__Host-' : ''}posthorn-${own}`
  // Strict would log out whoever follows a link from a mail.
  const rest = ({ isSecure }: WithCookies) =>
    `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  return {
    read: (request) => request.cookie(name(request)),
    set: (request, token) =>
      `${name(request)}=${token}; ${rest(request)}; Max-Age=${longestMs / 1_000}`,
    clear: (request) => `${name(request)}=; ${rest(request)}; Max-Age=0`,
  }
}
