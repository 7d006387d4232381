import { createHmac, timingSafeEqual } from 'node:crypto'
import type { PageRequest } from '../../http/index.js'

const name = 'posthorn-flash'
// Long enough for a redirect, and too short to appear on a page that is opened later.
const keptMs = 60_000
// In base64url with its signature, such a message stays far below the 4,096 bytes that browsers keep of a cookie.
const longest = 500

export interface Flash {
  /** The header that carries the message to the next page. */
  keep(message: string): string
  /** The header that deletes the message once it was shown. */
  forget: string
  read(request: PageRequest): string | undefined
}

/** A message for the next page, in a cookie that is shown once; signed, so that nobody else puts words on our pages. */
export function makeFlash(now: () => number, key: Buffer): Flash {
  const sign = (text: string) => createHmac('sha256', key).update(text).digest('base64url')

  return {
    keep(message) {
      const body = Buffer.from(
        JSON.stringify({ message: message.slice(0, longest), at: now() }),
      ).toString('base64url')
      // Unlike the session's cookie it has no `Secure` and no `__Host-`: it has to work without TLS too, and holds no
      // secret. The signature keeps others from making us show a text (RFC 6265 §8.6: any host of the domain may set
      // it).
      return `${name}=${body}.${sign(body)}; Path=/; HttpOnly; SameSite=Lax; Max-Age=60`
    },
    forget: `${name}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0`,
    read(request) {
      const [body = '', signature = ''] = request.cookie(name)?.split('.') ?? []
      const expected = Buffer.from(sign(body))
      // Compared as bytes, because whoever plants a cookie may use letters of two bytes.
      const given = Buffer.from(signature)
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
      const { message, at }: { message: string; at: number } = JSON.parse(
        Buffer.from(body, 'base64url').toString(),
      )
      return now() - at > keptMs ? undefined : message
    },
  }
}
