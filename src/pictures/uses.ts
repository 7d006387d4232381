import { contains, type Read } from '../store/index.js'

/** What shows a picture and can still send. */
export interface PictureUse {
  kind: 'campaign' | 'template'
  /** A campaign's id, a template's slug. */
  id: string
  name: string
}

// As many as a page names.
const mostUses = 20

/**
 * The campaigns that have not ended, by any of their versions, and the templates that show the picture; of templates the version in use, and those
 * that automations hold on to. By indexes of the account; the HTML of what is found is read through.
 */
export async function usesOfPicture(
  read: Read,
  accountId: string,
  publicId: string,
): Promise<PictureUse[]> {
  const shows = (column: string) => contains(column, publicId)
  const campaigns = await read
    .selectFrom('broadcasts')
    .innerJoin('bodies', 'bodies.id', 'broadcasts.body_id')
    .select((eb) => [
      'broadcasts.id',
      eb.fn.coalesce('broadcasts.name', 'broadcasts.subject').as('name'),
    ])
    .where('account_id', '=', accountId)
    .where('status', 'in', ['draft', 'scheduled', 'sending', 'paused'])
    .where(({ or, exists, selectFrom }) =>
      or([
        shows('bodies.html'),
        exists(
          selectFrom('broadcast_variants')
            .innerJoin('bodies as own', 'own.id', 'broadcast_variants.body_id')
            .select('own.id')
            .whereRef('broadcast_variants.broadcast_id', '=', 'broadcasts.id')
            .where(shows('own.html')),
        ),
      ]),
    )
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
