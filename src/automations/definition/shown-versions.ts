import type { Read } from '../../store/index.js'
import type { Automation } from './automation.js'

// What a page has room for.
const mostVersions = 10

/** The versions of an automation that a page offers: the one that is edited, and the newest that were enabled. */
export async function versionsShown(
  read: Read,
  { id, version }: Pick<Automation, 'id' | 'version'>,
): Promise<{ version: number; frozen_at: number | null }[]> {
  return await read
    .selectFrom('automation_versions')
    .select(['version', 'frozen_at'])
    .where('automation_id', '=', id)
    .where(({ eb, or }) => or([eb('frozen_at', 'is not', null), eb('version', '=', version)]))
    .orderBy('version', 'desc')
    .limit(mostVersions)
    .execute()
}
