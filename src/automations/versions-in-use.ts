import type { Read } from '../store/index.js'
import type { AutomationDefinition } from './definition.js'

/** The versions of an account's automations that events start, and those of live runs. */
export async function versionsInUse(read: Read, accountId: string) {
  const versions = await read
    .selectFrom('automations')
    .innerJoin('automation_versions as versions', 'versions.automation_id', 'automations.id')
    .select(['automations.id', 'automations.name', 'versions.version', 'versions.definition'])
    .where('account_id', '=', accountId)
    .where('automations.status', '<>', 'archived')
    .where(({ or, exists, selectFrom }) =>
      or([
        exists(
          selectFrom('automation_triggers as triggers')
            .select('triggers.event')
            .where('triggers.account_id', '=', accountId)
            .whereRef('triggers.automation_id', '=', 'versions.automation_id')
            .whereRef('triggers.version', '=', 'versions.version'),
        ),
        exists(
          selectFrom('automation_live as live')
            .select('live.id')
            .whereRef('live.automation_id', '=', 'versions.automation_id')
            .whereRef('live.version', '=', 'versions.version'),
        ),
      ]),
    )
    .execute()
  return versions.map(({ definition, ...version }) => ({
    ...version,
    definition: JSON.parse(definition) as AutomationDefinition,
  }))
}
