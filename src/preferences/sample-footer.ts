import { accountFace, brandOf } from '../accounts/index.js'
import type { Read } from '../store/index.js'
import { stringsFor } from './addressed.js'
import { footerPlace, withFooter } from './marketing-parts.js'

// Nobody's (RFC 2606 §2), so that nothing is known of it.
const address = 'reader@mail.invalid'

/** The end of a marketing mail with its footer, to be looked at: its links lead nowhere. */
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
