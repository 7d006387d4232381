import { ApiError } from '../../errors/index.js'
import type { Read } from '../../store/index.js'
import { findTemplate } from '../../templates/index.js'
import type { AutomationDefinition } from '../definition/index.js'
import { recipeLink } from './recipe.js'
import { recipes } from './recipes.js'

/** A mail of an automation that is in part still as its recipe made it. */
export interface AsMade {
  /** The key of the step that sends it, and its template. */
  key: string
  slug: string
  /** Its text tells the author what to write. */
  instructs: boolean
  /** Its button leads nowhere yet. */
  leadsNowhere: boolean
}

/** What recipes say to the author of a mail, who is to write something else in its place. */
const instructions = recipes.flatMap(({ mails }) => mails.flatMap(({ asks }) => asks ?? []))

/**
 * The mails of an automation that would go out with words meant for their author, or with a link that leads nowhere
 * yet.
 */
export async function asMade(
  read: Read,
  accountId: string,
  { steps }: Pick<AutomationDefinition, 'steps'>,
): Promise<AsMade[]> {
  const found: AsMade[] = []
  for (const { key, type, config } of steps) {
    if (type !== 'send_email' || config.template === '') continue
    const { template: slug, templateVersion } = config
    const template = await findTemplate(read, accountId, slug, templateVersion).catch(orNone)
    if (template === undefined) continue
    const text = JSON.stringify(template.blocks ?? template.html)
    const instructs = instructions.some((one) => text.includes(JSON.stringify(one).slice(1, -1)))
    const leadsNowhere = text.includes(`"${recipeLink}"`)
    if (instructs || leadsNowhere) found.push({ key, slug, instructs, leadsNowhere })
  }
  return found
}

/** Another check tells of a template that is missing. */
function orNone(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 'not_found') return undefined
  throw error
}
