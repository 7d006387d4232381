import { accountFace, brandOf } from '../accounts/index.js'
import { textOfHtml } from '../mime/index.js'
import type { Read } from '../store/index.js'
import { stringsFor } from './addressed.js'
import { shownLinks } from './link.js'
import { footerPlace, makeFooterPlaces, withFooter, withOwnLinks } from './marketing-parts.js'

// Nobody's address (RFC 2606 §2), so that nothing is known of it.
const address = 'reader@mail.invalid'

/** The end of a marketing mail with its footer, to look at: its links lead nowhere. */
export async function sampleFooter(read: Read, accountId: string): Promise<string | undefined> {
  const face = await accountFace(read, accountId)
  if (face === undefined) return undefined
  const strings = await stringsFor(read, face, { accountId, address, emailId: undefined })
  const { postalAddress } = await brandOf(read, accountId)
  const links = { unsubscribeUrl: '#', preferencesUrl: '#' }
  const body = `<!doctype html><html lang="${strings.language}"><body style="margin:0;padding:24px;font:16px/1.5 Arial,Helvetica,sans-serif"><p>…</p>${footerPlace}</body></html>`
  const placed = { html: body, isWanted: true, text: '' }
  return withFooter(placed, { ...links, accountName: face.name, postalAddress }, strings).html
}

/**
 * A marketing mail as the copy to `address` looks, with its footer and links, to look at: the links act for nobody.
 * `made`: the text part of the HTML, where one was made.
 */
export async function sampleCopy(
  read: Read,
  { accountId, address: to, publicUrl }: { accountId: string; address: string; publicUrl: string },
  { html, made = textOfHtml(html).text }: { html: string; made?: string | undefined },
): Promise<{ html: string; text: string }> {
  const face = await accountFace(read, accountId)
  const { unsubscribe, preferences, view } = shownLinks(publicUrl)
  const { postalAddress } = await brandOf(read, accountId)
  const links = { unsubscribeUrl: unsubscribe.url(), preferencesUrl: preferences.url() }
  const more = { postalAddress, viewUrl: view.url() }
  const own = withOwnLinks({ html, text: made }, { ...links, ...more })
  if (face === undefined) return own
  const placed = makeFooterPlaces()(own.html, links, own.text)
  const strings = await stringsFor(read, face, { accountId, address: to, emailId: undefined })
  const footer = { accountName: face.name, postalAddress, ...links }
  return withFooter({ ...placed, text: own.text }, footer, strings)
}
