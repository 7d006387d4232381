import { type AccountBilling, checkOpen, type Plans } from '../../billing/index.js'
import { createContactField, listContactFields } from '../../contact-fields/index.js'
import { findSenderDomain, verifiedDomains } from '../../domains/index.js'
import { ApiError } from '../../errors/index.js'
import { parseMailbox } from '../../mime/index.js'
import { createSegment, listSegments } from '../../segments/index.js'
import { putTemplate, type Renderer } from '../../templates/index.js'
import {
  type Automation,
  type AutomationDeps,
  createAutomation,
  definitionIn,
  type StepDefinition,
} from '../definition/index.js'
import type { Recipe, RecipeMail } from './recipe.js'
import { recipes } from './recipes.js'

/** What making one of a recipe needs. */
export type RecipeDeps = AutomationDeps & { plans: Plans; renderer: Renderer }

/** What somebody says of the automation that they want. */
export interface Beginning {
  recipe: string
  /** The recipe's own name, if this is empty. */
  name: string
  from: string
  listId?: string | undefined
  /** The field of contacts whose day begins it; the recipe's own, if this is empty. */
  dateField?: string | undefined
}

/**
 * Makes an automation by a recipe, disabled, with templates of its own. It makes the segment that the recipe asks for
 * where the account has none of that name, and likewise the field of contacts. Throws a 400 for no recipe, a 422 for a
 * sender on none of the account's domains, otherwise as the making of the parts does; parts made until then stay.
 */
export async function beginAutomation(
  deps: RecipeDeps,
  billing: AccountBilling,
  { recipe: named, name, from, listId, dateField: field }: Beginning,
): Promise<Automation> {
  checkOpen(billing)
  const recipe = recipes.find((one) => one.name === named)
  if (recipe === undefined) {
    const fields = { field: 'recipe' }
    throw new ApiError('validation_error', 'Choose one of these', { fields })
  }
  const dateField = field?.trim() || recipe.dateField?.name
  const given = { from, listId, dateField }
  await checkSender(deps, billing.accountId, from)
  // Faults are told before anything is made.
  definitionIn(recipe.definition(given))
  const templates = new Map<string, string>()
  for (const mail of recipe.mails) {
    templates.set(mail.slug, await makeTemplate(deps, billing.accountId, mail))
  }
  const segmentId = await segmentFor(deps, billing.accountId, recipe)
  if (dateField === recipe.dateField?.name) await describeField(deps, billing.accountId, recipe)
  const { steps, connections, settings } = recipe.definition({ ...given, segmentId })
  const made = {
    name: name.trim() || recipe.title,
    steps: steps.map((step) => withTemplate(step, templates)),
    connections,
    settings,
  }
  return await createAutomation(deps, billing, made, async (tx, { id }) => {
    await tx.updateTable('automations').set({ usual_from: from }).where('id', '=', id).execute()
  })
}

/** Refuses an address on none of the account's verified domains; where it has none yet, any may be written. */
async function checkSender({ store }: RecipeDeps, accountId: string, from: string): Promise<void> {
  const mailbox = parseMailbox(from)
  if (mailbox === undefined) {
    throw badSender('Write an address such as news@shop.example, or Shop <news@shop.example>')
  }
  const domains = await verifiedDomains(store.read, accountId)
  if (domains.length === 0) return
  const domain = await findSenderDomain(store.read, accountId, mailbox.domain)
  if (domain?.status === 'verified') return
  throw badSender(
    `${mailbox.domain} is none of your verified domains, so nothing could be sent from it. Write an address on one of these: ${domains.join(', ')}`,
  )
}

const badSender = (message: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field: 'from' } })

/** Forms, imports and the pages of contacts ask for fields that are described. */
async function describeField(
  deps: RecipeDeps,
  accountId: string,
  { dateField }: Recipe,
): Promise<void> {
  if (dateField === undefined) return
  const known = await listContactFields(deps.store.read, accountId)
  const isTaken = known.some(
    ({ name, label }) =>
      name.toLowerCase() === dateField.name.toLowerCase() ||
      label.toLowerCase() === dateField.label.toLowerCase(),
  )
  if (!isTaken) await createContactField(deps, accountId, { ...dateField, type: 'date' })
}

/** A step of the recipe with the template that was made for it. */
function withTemplate(
  step: StepDefinition,
  templates: ReadonlyMap<string, string>,
): StepDefinition {
  const template = templates.get(step.key)
  if (step.type !== 'send_email' || template === undefined) return step
  return { ...step, config: { ...step.config, template } }
}

const mostNames = 50

/**
 * Makes a template of the recipe's mail under a free name: a template that somebody has written, or another automation
 * sends, stays as it is.
 */
async function makeTemplate(
  deps: RecipeDeps,
  accountId: string,
  { slug, subject, blocks }: RecipeMail,
): Promise<string> {
  const names = Array.from({ length: mostNames }, (_, n) => (n === 0 ? slug : `${slug}-${n + 1}`))
  const taken = await deps.store.read
    .selectFrom('templates')
    .select('slug')
    .where('account_id', '=', accountId)
    .where('slug', 'in', names)
    .execute()
  const free = names.find((name) => !taken.some((one) => one.slug === name))
  if (free === undefined) {
    throw new ApiError('conflict', `There are ${mostNames} templates called ${slug} already`)
  }
  const document = { version: 1 as const, blocks: [...blocks] }
  const made = { slug: free, subject, textBody: null, blocks: document }
  await putTemplate(deps, accountId, made, { isNew: true })
  return free
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
