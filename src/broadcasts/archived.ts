import type { Read } from '../store/index.js'
import { type Renderer, stranger } from '../templates/index.js'
import { htmlOf } from './broadcast.js'
import { renderFor } from './content.js'
import { makeLines, makeSubjects } from './subjects.js'
import { asVariant, variantsOf } from './variant.js'

/*
 * Past campaigns as everybody may see them: those with `archive` that have begun to leave. A paused or cancelled one is
 * not shown, as something may be wrong with it.
 */

/** A past campaign in a list, with the subject of the version that most people got, in Liquid. */
export interface ArchivedCampaign {
  id: string
  account_id: string
  subject: string
  /** In Liquid too. */
  previewText: string | null
  sentAt: number
}

/** The campaign after which a page of the list begins. */
type Behind = Pick<ArchivedCampaign, 'id' | 'sentAt'>

const archived = (read: Read, accountId: string) =>
  read
    .selectFrom('broadcasts')
    .where('account_id', '=', accountId)
    // In the words of the partial index: a bound value would not match it.
    .where(({ eb }) => eb('archive', '=', eb.lit(1)))
    .where('status', 'in', ['sending', 'sent'])

/** An account's past campaigns, the newest first. */
export async function archivedCampaigns(
  read: Read,
  accountId: string,
  { limit, behind }: { limit: number; behind?: Behind | undefined },
): Promise<ArchivedCampaign[]> {
  const rows = await archived(read, accountId)
    .select(['id', 'account_id', 'subject', 'preview_text', 'sent_at', 'winner', 'variant_test'])
    .where('sent_at', '<=', behind?.sentAt ?? Number.MAX_SAFE_INTEGER)
    .$if(behind !== undefined, (query) =>
      query.where(({ or, eb }) =>
        or([eb('sent_at', '<', behind?.sentAt ?? 0), eb('id', '<', behind?.id ?? '')]),
      ),
    )
    .orderBy('sent_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return await Promise.all(
    rows.map(async ({ id, account_id, subject, preview_text, sent_at, ...test }) => {
      const version = await shownVariant(read, { id, ...test })
      return {
        id,
        account_id,
        subject: version?.subject ?? subject,
        previewText: version?.preview_text ?? preview_text,
        sentAt: sent_at ?? 0,
      }
    }),
  )
}

/**
 * The version that stands for a campaign: the one that its rest got, else the first; undefined where there are none.
 */
export async function shownVariant(
  read: Read,
  { id, winner, variant_test }: { id: string; winner: string | null; variant_test: string | null },
) {
  if (variant_test === null) return undefined
  const variants = await variantsOf(read, id)
  return variants.find(({ key }) => key === winner) ?? variants[0]
}

/** A campaign as somebody sees it about whom nothing is known. The places of personal links are still in the HTML. */
export interface ForNobody {
  subject: string
  html: string
  sentAt: number
  /** Changes whenever the shown content does. */
  version: string
}

/** A past campaign that everybody may see; undefined for any other. */
export async function archivedCampaign(read: Read, accountId: string, id: string) {
  const found = await archived(read, accountId)
    .selectAll()
    .where('id', '=', id.toLowerCase())
    .executeTakeFirst()
  if (found?.sent_at == null) return undefined
  const shown = asVariant(found, await shownVariant(read, found))
  return { shown, sentAt: found.sent_at, version: `${shown.id} ${found.winner ?? ''}` }
}

// Without even the address that stands for nobody elsewhere.
const nobody = () => Object.assign({}, stranger, { email: '' })

/** The campaign's content; undefined where it is deleted. Throws what `renderFor` does. */
export async function forNobody(
  { read, renderer }: { read: Read; renderer: Renderer },
  found: NonNullable<Awaited<ReturnType<typeof archivedCampaign>>>,
): Promise<ForNobody | undefined> {
  const { shown, sentAt, version } = found
  const html = await htmlOf(read, shown)
  if (html === '') return undefined
  const subject = await makeSubjects({ renderer })(shown, nobody())
  const content = { subject: '-', html, previewText: shown.preview_text ?? undefined }
  const mail = await renderFor(renderer, shown.account_id, content, nobody())
  return { subject, html: mail.html, sentAt, version }
}

/** The subject of each campaign for somebody about whom nothing is known. */
export const makeArchivedSubjects = (renderer: Renderer) => {
  const subjects = makeSubjects({ renderer })
  return (campaign: ArchivedCampaign) => subjects(campaign, nobody())
}

/** The preview text of each for the same; undefined: it has none, or none that can be shown to nobody in particular. */
export const makeArchivedPreviews = (renderer: Renderer) => {
  const lines = makeLines({ renderer })
  return async ({ id, account_id: accountId, previewText }: ArchivedCampaign) =>
    previewText ? await lines({ id, accountId, liquid: previewText }, nobody()) : undefined
}
