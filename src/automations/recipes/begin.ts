import { type AccountBilling, checkOpen, type Plans } from '../../billing/index.js'
import { ApiError } from '../../errors/index.js'
import { createSegment, listSegments } from '../../segments/index.js'
import { findTemplate, putTemplate, type Renderer } from '../../templates/index.js'
import {
  type Automation,
  type AutomationDeps,
  createAutomation,
  definitionIn,
} from '../definition/index.js'
import type { Recipe, RecipeMail } from './recipe.js'
import { recipes } from './recipes.js'

/** What making one of a recipe needs. */
export type RecipeDeps = AutomationDeps & { plans: Plans; renderer: Renderer }

/** What somebody says of the automation that they want. */
export interface Beginning {
  recipe: string
  /** That of the recipe, if it is empty. */
  name: string
  from: string
  listId?: string | undefined
}

/**
 * Makes an automation by a recipe, disabled, and those of its templates and segments that the account has not. Throws a
 * 400 for no recipe, else as what makes the parts does; what was made until then stays and is used the next time.
 */
export async function beginAutomation(
  deps: RecipeDeps,
  billing: AccountBilling,
  { recipe: named, name, from, listId }: Beginning,
): Promise<Automation> {
  checkOpen(billing)
  const recipe = recipes.find((one) => one.name === named)
  if (recipe === undefined) throw new ApiError('validation_error', 'recipe: choose one of the list')
  // Told before anything is made.
  definitionIn(recipe.definition({ from, listId }))
  for (const mail of recipe.mails) await makeTemplate(deps, billing.accountId, mail)
  const segmentId = await segmentFor(deps, billing.accountId, recipe)
  const { steps, connections, settings } = recipe.definition({ from, listId, segmentId })
  const given = { name: name.trim() || recipe.title, steps, connections, settings }
  return await createAutomation(deps, billing, given)
}

async function makeTemplate(
  deps: RecipeDeps,
  accountId: string,
  { slug, subject, blocks }: RecipeMail,
): Promise<void> {
  const isThere = await findTemplate(deps.store.read, accountId, slug).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ApiError && error.code === 'not_found') return false
      throw error
    },
  )
  if (isThere) return
  const document = { version: 1 as const, blocks: [...blocks] }
  await putTemplate(
    deps,
    accountId,
    { slug, subject, textBody: null, blocks: document },
    { isNew: true },
  )
}

async function segmentFor(
  deps: RecipeDeps,
  accountId: string,
  { segment }: Recipe,
): Promise<string | undefined> {
  if (segment === undefined) return undefined
  const there = await listSegments(deps.store.read, accountId)
  const found = there.find(({ name }) => name === segment.name)
  return (found ?? (await createSegment(deps, accountId, segment))).id
}
