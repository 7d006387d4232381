import { ApiError } from '../../errors/index.js'
import type { PageRequest } from '../../http/index.js'

/**
 * Refuses a POST that did not come from a page of this appliance. A page elsewhere can make a browser post here with
 * its cookies; these two headers say where a post comes from, and no page can set them (Fetch Metadata; RFC 6454 §7).
 * Forms therefore need no token of their own. `http` lets posts without either pass, because mail servers send such
 * ones; with a session's cookie such a post does not come from a browser, and is refused.
 */
export function refuseOthersPosts(request: PageRequest): void {
  if (!isOwnPost(request)) {
    throw new ApiError(
      'forbidden',
      'This form can only be sent from the page it is on: open that page again and send the form there',
    )
  }
}

/** Whether a POST comes from a page of this appliance, by its headers. */
export function isOwnPost(request: PageRequest): boolean {
  const site = request.header('sec-fetch-site')
  const origin = request.header('origin')
  // Browsers leave `Sec-Fetch-Site` out without TLS, except on the machine itself.
  return site === undefined
    ? origin !== undefined && origin.replace(/^https?:\/\//, '') === request.header('host')
    : site === 'same-origin'
}

/**
 * The path of the page that the browser comes from, if it is one of ours. RFC 9110 §10.1.3: `Referer` may be missing or
 * made up, so it only decides where somebody is led back to, and never what they may do.
 */
export function cameFrom(request: PageRequest): string | undefined {
  const from = request.header('referer')
  // The browser sets the header, and anybody may pose as a browser.
  if (from === undefined || !URL.canParse(from)) return undefined
  const { host, pathname, search } = new URL(from)
  return host === request.header('host') ? pathname + search : undefined
}
