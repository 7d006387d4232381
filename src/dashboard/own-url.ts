import type { PageRequest } from '../http/index.js'

/** Where the browser reached us, without a path; `localhost` where that would not be safe to paste into a shell. */
export function ownUrl(request: PageRequest): string {
  const host = request.header('host') ?? ''
  const safe = /^[a-z0-9.:[\]-]{1,260}$/i.test(host) ? host : 'localhost'
  return `${request.isSecure ? 'https' : 'http'}://${safe}`
}
