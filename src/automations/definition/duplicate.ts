import type { AccountBilling, Plans } from '../../billing/index.js'
import {
  type Automation,
  type AutomationDeps,
  findAutomation,
  nothing,
  readDefinition,
  type WrittenAlongside,
} from './automation.js'
import { limits } from './definition.js'
import { putDraft, readWritten } from './draft.js'
import { createAutomation } from './edit.js'

/**
 * A disabled automation with the steps and settings of another, as they are now, whatever state that one is in. Where
 * there is a draft beside them, `withDraft` copies that too: pages show it and turn it on. Throws as
 * `createAutomation` does.
 */
export async function duplicateAutomation(
  deps: AutomationDeps & { plans?: Pick<Plans, 'ceilings'> },
  billing: AccountBilling,
  id: string,
  alongside: WrittenAlongside = nothing,
  { withDraft = false } = {},
): Promise<Automation> {
  const { read } = deps.store
  const found = await findAutomation(read, billing.accountId, id)
  const written = withDraft ? await readWritten(read, found) : undefined
  const { definition } = await readDefinition(read, found.id, found.version)
  const { steps, connections, settings } = definition
  const copy = { name: copyName(found.name), steps, connections, settings }
  return await createAutomation(deps, billing, copy, async (tx, made) => {
    const { usual_from } = found
    await tx.updateTable('automations').set({ usual_from }).where('id', '=', made.id).execute()
    if (written?.isDraft) {
      const draft = { name: copyName(written.name), definition: written.definition }
      await putDraft(tx, made, { ...draft, now: deps.clock.now() })
    }
    await alongside(tx, made)
  })
}

const ending = ' (copy)'

/** Room is left for the ending, however long the name is. */
const copyName = (name: string) =>
  `${[...name].slice(0, limits.nameLength - ending.length - 1).join('')}${ending}`
