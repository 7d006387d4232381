import type { AccountFace } from '../accounts/index.js'
import type { Page } from '../http/index.js'
import type { Read } from '../store/index.js'
import { erasedAmong } from '../suppression/index.js'
import { stringsFor } from './addressed.js'
import { coloursPath } from './colours.js'
import type { Recipient } from './link.js'
import { logoOf, page, renderNotice } from './view.js'

/**
 * The page that an erased person gets from each of their links, whatever they press: they get nothing, and nothing is
 * stored of them. Undefined: they were not erased.
 */
export async function erasedPage(
  read: Read,
  { accountId, address }: Recipient,
  face: AccountFace,
  browser: string | undefined,
): Promise<Page | undefined> {
  if (!(await erasedAmong(read, accountId, [address])).has(address)) return undefined
  const { language, erased } = await stringsFor(read, face, { accountId, address }, browser)
  return page(
    renderNotice({
      language,
      title: erased.title,
      logo: logoOf(face),
      colours: coloursPath(face.colours),
      lines: erased.lines({ account: face.name, address }),
    }),
  )
}
