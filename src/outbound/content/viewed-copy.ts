import { type ContentDeps, makeMailContent, type RecipientCopy, senderOf } from './mail-content.js'

/**
 * Makes the HTML of a mail as its recipient got it, with their own links, to show it to them in a browser; undefined
 * once its content is gone. Throws a `MailFault` for a mail that cannot be made any more.
 */
export function makeViewedCopies(
  deps: ContentDeps,
): (copy: RecipientCopy) => Promise<string | undefined> {
  const { find, plainContentFor, decorate } = makeMailContent(deps)
  return async ({ id, emailId, recipient }) => {
    const email = await find(emailId)
    if (email.html === null) return undefined
    const copy = { recipient, deliveryId: id, domain: senderOf(email.from_header).domain }
    const { html } = await decorate(email, copy, await plainContentFor(email, recipient))
    return html
  }
}
