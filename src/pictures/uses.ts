import { contains, type Read } from '../store/index.js'

/** A campaign that was sent with a picture: its mails show the picture to whoever opens them. */
export interface SentWithPicture {
  id: string
  name: string
  /** How many mails the campaign has. */
  mails: number
  /** The campaign stands on the public page of past campaigns. */
  isPublic: boolean
}

/** What shows a picture and can still send. */
export interface PictureUse {
  kind: 'campaign' | 'template'
  /** A campaign's id, a template's slug. */
  id: string
  name: string
}

// As many uses as a page names.
const mostUses = 20

/**
 * The campaigns that have not ended and show the picture in any of their versions, and the templates that show it in
 * the version in use or in one that automations hold on to. Indexes of the account find them; the HTML of what is found
 * is read through.
 */
export async function usesOfPicture(
  read: Read,
  accountId: string,
  publicId: string,
): Promise<PictureUse[]> {
  const shows = (column: string) => contains(column, publicId)
  const campaigns = await campaignsWith(read, accountId, publicId)
    .where('status', 'in', ['draft', 'scheduled', 'sending', 'paused'])
    .limit(mostUses)
    .execute()
  const templates = await read
    .selectFrom('templates')
    .innerJoin('template_versions', 'template_versions.template_id', 'templates.id')
    .select('templates.slug')
    .distinct()
    .where('account_id', '=', accountId)
    .where((eb) =>
      eb.or([
        eb('template_versions.version', '=', eb.ref('templates.version')),
        eb('template_versions.body_id', 'is not', null),
      ]),
    )
    .where(shows('template_versions.html'))
    .limit(mostUses)
    .execute()
  return [
    ...campaigns.map(({ id, name }) => ({ kind: 'campaign' as const, id, name })),
    ...templates.map(({ slug }) => ({ kind: 'template' as const, id: slug, name: slug })),
  ]
}

/**
 * The newest campaigns that went out with the picture and are over. Those whose content is no longer kept are not among
 * them.
 */
export async function sentWithPicture(
  read: Read,
  accountId: string,
  publicId: string,
): Promise<SentWithPicture[]> {
  const rows = await campaignsWith(read, accountId, publicId)
    .select(['broadcasts.recipients as mails', 'broadcasts.archive'])
    .where('status', 'in', ['sent', 'cancelled'])
    .where('sent_at', 'is not', null)
    .orderBy('broadcasts.archive', 'desc')
    .orderBy('broadcasts.id', 'desc')
    .limit(mostUses)
    .execute()
  return rows.map(({ id, name, mails, archive }) => ({ id, name, mails, isPublic: archive === 1 }))
}

/**
 * The campaign that shows the picture on the public page of past campaigns, if one does; only that page is searched.
 */
export const publicWithPicture = (read: Read, accountId: string, publicId: string) =>
  campaignsWith(read, accountId, publicId)
    .where('status', 'in', ['sent', 'cancelled'])
    .where('sent_at', 'is not', null)
    .where('broadcasts.archive', '=', 1)
    .orderBy('broadcasts.id', 'desc')
    .limit(1)
    .executeTakeFirst()

/** The account's campaigns that show the picture in any of their versions. */
const campaignsWith = (read: Read, accountId: string, publicId: string) =>
  read
    .selectFrom('broadcasts')
    .innerJoin('bodies', 'bodies.id', 'broadcasts.body_id')
    .select((eb) => [
      'broadcasts.id',
      eb.fn.coalesce('broadcasts.name', 'broadcasts.subject').as('name'),
    ])
    .where('account_id', '=', accountId)
    .where(({ or, exists, selectFrom }) =>
      or([
        contains('bodies.html', publicId),
        exists(
          selectFrom('broadcast_variants')
            .innerJoin('bodies as own', 'own.id', 'broadcast_variants.body_id')
            .select('own.id')
            .whereRef('broadcast_variants.broadcast_id', '=', 'broadcasts.id')
            .where(contains('own.html', publicId)),
        ),
      ]),
    )
