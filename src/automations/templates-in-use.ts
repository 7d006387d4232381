import { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import type { AutomationDefinition } from './definition.js'

/**
 * Throws a 409 that names the automations, if one that is enabled or has live runs sends this template:
 * its runs would fail (automations.md, O13).
 */
export async function refuseTemplateInUse(
  read: Read,
  accountId: string,
  slug: string,
): Promise<void> {
  const versions = await read
    .selectFrom('automations')
    .innerJoin('automation_versions as versions', 'versions.automation_id', 'automations.id')
    .select(['automations.name', 'versions.definition'])
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
  const names = versions
    .filter(({ definition }) => {
      const { steps } = JSON.parse(definition) as AutomationDefinition
      return steps.some((step) => step.type === 'send_email' && step.config.template === slug)
    })
    .map(({ name }) => `"${name}"`)
  if (names.length === 0) return
  const which = [...new Set(names)].join(', ')
  throw new ApiError(
    'conflict',
    `Template "${slug}" is sent by ${which}; archive or change that, and let its runs end, first`,
  )
}
