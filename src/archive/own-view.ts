import { accountFace, languageOf } from '../accounts/index.js'
import { stoppedBy } from '../billing/index.js'
import { findDeliveries } from '../deliveries/index.js'
import { ApiError } from '../errors/index.js'
import type { Pages } from '../http/index.js'
import { frameDocument, frameHeaders } from '../mime/index.js'
import { type PreferenceLinks, shownToken } from '../preferences/index.js'
import type { Read } from '../store/index.js'
import { noEmail } from './words.js'

/** Makes a mail's HTML as its recipient got it; undefined: its content is deleted. */
export type ViewedCopy = (copy: {
  id: number
  emailId: string
  recipient: string
}) => Promise<string | undefined>

export interface OwnViewDeps {
  read: Read
  viewLinks: Pick<PreferenceLinks, 'read'>
  /** Undefined while the appliance starts. */
  viewedCopy: () => ViewedCopy | undefined
}

// How many copies are made at the same time.
const mostAtOnce = 8

/** A campaign's mail in a browser, behind the link in that mail. It has the recipient's own links, as they got it. */
export function ownView(pages: Pages, { read, viewLinks, viewedCopy }: OwnViewDeps): void {
  let making = 0
  pages.get('/view/:token', async ({ params: { token = '' }, header }) => {
    const browser = header('accept-language')
    if (token === shownToken) return noEmail(404, 'onlyShown', browser)
    const target = viewLinks.read(token)
    const copy = target && (await copyOf(read, target))
    if (copy === undefined) return noEmail(404, 'notHere', browser)
    const make = viewedCopy()
    if (make === undefined || making >= mostAtOnce) {
      const message = 'Too much is asked for at once; try again in a moment'
      throw new ApiError('service_unavailable', message, { headers: { 'retry-after': '5' } })
    }
    making++
    try {
      const html = await make(copy)
      if (html === undefined) return noEmail(410, 'tooOld', browser)
      const language = languageOf((await accountFace(read, copy.accountId))?.language ?? null)
      const headers = Object.assign(frameHeaders({ remotePictures: true }), noindex)
      return { html: frameDocument(html, { title: copy.subject, language }), headers }
    } finally {
      making--
    }
  })
}

const noindex = { 'X-Robots-Tag': 'noindex' }

/** The delivery of a campaign's mail to the link's recipient, if the account shows its mails. */
async function copyOf(
  read: Read,
  { accountId, address, emailId = '' }: NonNullable<ReturnType<PreferenceLinks['read']>>,
) {
  const email = await read
    .selectFrom('emails')
    .innerJoin('broadcasts', 'broadcasts.id', 'emails.broadcast_id')
    .select(['emails.id', 'emails.subject'])
    .where('emails.id', '=', emailId)
    .where('emails.account_id', '=', accountId)
    .where('broadcasts.archive', '=', 1)
    .executeTakeFirst()
  if (email === undefined) return undefined
  if ((await stoppedBy(read, accountId, 'transactional')) !== undefined) return undefined
  const { waiting, ended } = await findDeliveries(read, { emailId })
  const found = [...waiting, ...ended].find(({ recipient }) => recipient === address)
  const { subject } = email
  return found && { id: found.id, emailId, recipient: address, accountId, subject }
}
