import { attachmentsOf } from '../../contents/index.js'
import { makeReturnPaths } from '../../deliveries/index.js'
import { signingKeys } from '../../domains/index.js'
import { composeAttached, composeMessage, structuredField } from '../../mime/index.js'
import type { OutboundDeps } from '../deps.js'
import { returnOf } from './compose.js'
import {
  type ContentDeps,
  inputOf,
  makeMailContent,
  type RecipientCopy,
  senderOf,
} from './mail-content.js'
import { makeSubmitted } from './submitted.js'

/** A recipient's copy of a mail, for people to look at. */
export interface SentCopy {
  /** The header as in the message, without its signatures, which each attempt makes anew. */
  header: string
  /** Undefined where a program's message has no such part. */
  html: string | undefined
  text: string | undefined
}

/**
 * Makes copies as the composer does, but without tracking and the links to unsubscribe: whoever looks at a copy and
 * follows its links is not its recipient. Throws a `MailFault` for a mail that cannot be made any more.
 */
export function makeSentCopies(
  deps: Omit<ContentDeps, 'tracking'> & Pick<OutboundDeps, 'config'>,
): (copy: RecipientCopy) => Promise<SentCopy> {
  const { read } = deps.store
  const { find, plainContentFor, decorate } = makeMailContent(
    { ...deps, tracking: undefined },
    { forShow: true },
  )
  const submitted = makeSubmitted(read)
  const returnPaths = makeReturnPaths(deps.key)

  return async ({ id, emailId, recipient }) => {
    const email = await find(emailId)
    const copy = { recipient, deliveryId: id, domain: senderOf(email.from_header).domain }
    // The domain may have been deleted since.
    const signs = await signingKeys(read, deps.key, email.domain_id)
    const { complaints } = returnOf(id, signs?.returnPathHost, { ...deps, returnPaths })
    const raw = email.body_id === null ? await submitted.find(email.id) : undefined
    if (raw !== undefined) {
      const { html, text } = await submitted.contentIn(raw)
      const made = await decorate(email, copy, { html: html ?? '', text: text ?? '' })
      const own = [complaints, ...made.extraHeaders]
      const fields = own.map(({ name, value }) => structuredField(name, value))
      return {
        header: fields.join('') + raw.header.toString('utf8'),
        html: html && made.html,
        text: text && made.text,
      }
    }
    const decorated = await decorate(email, copy, await plainContentFor(email, recipient))
    const extraHeaders = [complaints, ...decorated.extraHeaders]
    const input = inputOf(email, { ...decorated, extraHeaders })
    const attachments = attachmentsOf(email.attachments) ?? []
    const { header } =
      attachments.length > 0 ? await composeAttached(input, attachments) : composeMessage(input)
    return { header: header.toString('utf8'), html: decorated.html, text: decorated.text }
  }
}
