import { ApiError } from '../errors/index.js'
import { comparisonsOf, type Rule } from '../rules/index.js'
import { idsIn, type Read, type Tx } from '../store/index.js'
import { mailedFields, pathsIn } from './fields.js'

/** The campaigns about which a rule asks who got them; ids, in lower case. */
export function mailedIn(rule: Rule): string[] {
  const ids = comparisonsOf(rule)
    .flatMap(pathsIn)
    .flatMap((path) => {
      const [root, id = '', ...rest] = path.split('.')
      const isMailed =
        root === 'broadcast' && mailedFields.some((field) => field === rest.join('.'))
      return isMailed ? [id.toLowerCase()] : []
    })
  return [...new Set(ids)]
}

/**
 * Asks that the recipients of these campaigns be noted: `stats/` looks up what their mails say, and notes what comes.
 * Throws a 400 for a campaign whose mails are no longer kept.
 */
export async function noteMailedOf(tx: Tx, rule: Rule): Promise<void> {
  const ids = mailedIn(rule)
  if (ids.length === 0) return
  const campaigns = await tx
    .selectFrom('broadcasts')
    .select(['id', 'name', 'subject', 'recipients'])
    .where('id', 'in', idsIn(ids, 'text'))
    .where('mailed_through', 'is', null)
    .execute()
  for (const { id, name, subject, recipients } of campaigns) {
    const mail = tx.selectFrom('emails').select('id').where('broadcast_id', '=', id).limit(1)
    if (recipients > 0 && (await mail.executeTakeFirst()) === undefined) {
      const message = `rule: the mails of the campaign "${name ?? subject}" are no longer kept, so who got it is not known; ask who opened or clicked`
      throw new ApiError('validation_error', message)
    }
    const begun = { mailed_through: '' }
    await tx.updateTable('broadcasts').set(begun).where('id', '=', id).execute()
  }
}

/** Why it is not known yet who matches a rule, as a sentence; undefined: it is known. */
export async function mailedUnknown(read: Read, rule: Rule): Promise<string | undefined> {
  const ids = mailedIn(rule)
  if (ids.length === 0) return undefined
  const unknown = await read
    .selectFrom('broadcasts')
    .select(['name', 'subject'])
    .where('id', 'in', idsIn(ids, 'text'))
    .where(({ or, eb }) =>
      or([eb('mailed_through', 'is', null), eb('mailed_through', '<>', 'all')]),
    )
    .limit(1)
    .executeTakeFirst()
  if (unknown === undefined) return undefined
  const { name, subject } = unknown
  return `Who got the campaign "${name ?? subject}" is looked up once the segment is saved`
}

/** Of some segments, those that wait until the recipients of a campaign are looked up; by their ids. */
export async function waitingForMailed(
  read: Read,
  segments: readonly { id: string; rule: Rule }[],
): Promise<string[]> {
  const asked = segments.map(({ id, rule }) => ({ id, campaigns: mailedIn(rule) }))
  const ids = [...new Set(asked.flatMap(({ campaigns }) => campaigns))]
  if (ids.length === 0) return []
  const rows = await read
    .selectFrom('broadcasts')
    .select('id')
    .where('id', 'in', idsIn(ids, 'text'))
    .where('mailed_through', '<>', 'all')
    .execute()
  const pending = new Set(rows.map(({ id }) => id))
  return asked
    .filter(({ campaigns }) => campaigns.some((id) => pending.has(id)))
    .map(({ id }) => id)
}
