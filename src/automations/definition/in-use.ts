import { ApiError } from '../../errors/index.js'
import { parseMailbox } from '../../mime/index.js'
import { contains, type Read } from '../../store/index.js'
import type { AutomationDefinition } from './definition.js'
import type { StepFault } from './fault.js'
import { templateWarnings } from './warn.js'

/** The versions of an account's automations that events start, and those of live runs. */
async function versionsInUse(read: Read, accountId: string) {
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

/** An automation that sends from a domain. */
export interface DomainUse {
  id: string
  name: string
}

/**
 * The automations that are enabled, or have live runs, and send from a domain of the account: without it their
 * runs wait at the send step until it is verified again.
 */
export async function domainUses(
  read: Read,
  accountId: string,
  domain: string,
): Promise<DomainUse[]> {
  const uses = new Map<string, DomainUse>()
  for (const { id, name, definition } of await versionsInUse(read, accountId)) {
    const sends = definition.steps.some(
      ({ type, config }) =>
        type === 'send_email' && parseMailbox(config.from)?.domain.toLowerCase() === domain,
    )
    if (sends) uses.set(id, { id, name })
  }
  return [...uses.values()]
}

/** The automations that are enabled, or have live runs, and name a list. */
export async function listUses(
  read: Read,
  accountId: string,
  listId: string,
): Promise<{ id: string; name: string }[]> {
  const uses = new Map<string, string>()
  for (const { id, name, definition } of await versionsInUse(read, accountId)) {
    // A UUID in a trigger's rule or in a step is that list, wherever it stands.
    if (JSON.stringify(definition).includes(listId)) uses.set(id, name)
  }
  return [...uses].map(([id, name]) => ({ id, name }))
}

/** An automation that sends a template, and what the template's newest version means for it. */
export interface TemplateUse {
  id: string
  name: string
  /** How many live runs are of versions that send it. */
  liveRuns: number
  /** Variables that the template needs and the send step cannot know, as for automations. */
  warnings: StepFault[]
}

/**
 * The automations whose next mails are made of the newest version of a template: those that are enabled or have live
 * runs, and do not pin an older one (automations.md, O13). With `version`: what it means for them once the newest is
 * like that one.
 */
export async function templateUses(
  read: Read,
  accountId: string,
  slug: string,
  version?: number,
): Promise<TemplateUse[]> {
  const uses = new Map<string, TemplateUse>()
  for (const { definition, ...used } of await versionsInUse(read, accountId)) {
    const { id, name } = used
    const sends = sendsOf(definition, slug).filter(
      ({ config }) => config.templateVersion === undefined,
    )
    if (sends.length === 0) continue
    const use = uses.get(id) ?? { id, name, liveRuns: 0, warnings: [] }
    uses.set(id, use)
    use.liveRuns += await countLive(read, id, used.version)
    const meant = version === undefined ? definition : pinned(definition, slug, version)
    for (const warning of await templateWarnings(read, accountId, meant)) {
      const concerns = sends.some(({ key }) => key === warning.key)
      const { key, error } = warning
      const isSaid = use.warnings.some((said) => said.key === key && said.error === error)
      if (concerns && !isSaid) use.warnings.push({ key, error })
    }
  }
  return [...uses.values()]
}

/** An automation that would send a template, once it is turned on or its draft is put in force. */
export interface TemplatePlan {
  id: string
  name: string
  as: 'off' | 'draft'
}

/**
 * The automations that are written with a template and do not send it yet: nothing starts them, or only their draft
 * names it.
 */
export async function templatePlans(
  read: Read,
  accountId: string,
  slug: string,
): Promise<TemplatePlan[]> {
  // A definition that cannot name the template is not read: it may have 256 KiB.
  const naming = JSON.stringify(slug)
  const written = await read
    .selectFrom('automations')
    .innerJoin('automation_versions as versions', (join) =>
      join
        .onRef('versions.automation_id', '=', 'automations.id')
        .onRef('versions.version', '=', 'automations.version'),
    )
    .select(['automations.id', 'automations.name', 'automations.status', 'versions.definition'])
    .where('account_id', '=', accountId)
    .where('automations.status', '<>', 'archived')
    .where(contains('versions.definition', naming))
    .execute()
  const drafts = await read
    .selectFrom('automation_drafts as drafts')
    .innerJoin('automations', 'automations.id', 'drafts.automation_id')
    .select(['automations.id', 'automations.name', 'drafts.definition'])
    .where('drafts.account_id', '=', accountId)
    .where('automations.status', '<>', 'archived')
    .where(contains('drafts.definition', naming))
    .execute()
  const sends = ({ definition }: { definition: string }) =>
    sendsOf(JSON.parse(definition) as AutomationDefinition, slug).length > 0
  const inVersion = written.filter(sends)
  const known = new Set(inVersion.map(({ id }) => id))
  return [
    ...inVersion
      .filter(({ status }) => status !== 'enabled')
      .map(({ id, name }): TemplatePlan => ({ id, name, as: 'off' })),
    ...drafts
      .filter((one) => !known.has(one.id) && sends(one))
      .map(({ id, name }): TemplatePlan => ({ id, name, as: 'draft' })),
  ]
}

/** For each template, by its slug, the names of the automations whose runs would fail without it. */
export async function templateSenders(
  read: Read,
  accountId: string,
): Promise<ReadonlyMap<string, string[]>> {
  const senders = new Map<string, string[]>()
  for (const { name, definition } of await versionsInUse(read, accountId)) {
    for (const { type, config } of definition.steps) {
      if (type !== 'send_email') continue
      const names = senders.get(config.template) ?? []
      senders.set(config.template, names)
      if (!names.includes(name)) names.push(name)
    }
  }
  return senders
}

/**
 * Throws a 409 that names the automations, if one that is enabled or has live runs sends this template:
 * its runs would fail (automations.md, O13).
 */
export async function refuseTemplateInUse(
  read: Read,
  accountId: string,
  slug: string,
): Promise<void> {
  const names = (await versionsInUse(read, accountId))
    .filter(({ definition }) => sendsOf(definition, slug).length > 0)
    .map(({ name }) => `"${name}"`)
  if (names.length === 0) return
  const which = [...new Set(names)].join(', ')
  throw new ApiError(
    'conflict',
    `Template "${slug}" is sent by ${which}; archive or change that, and let its runs end, first`,
  )
}

/** The definition, but with this version of the template where a step would send the newest. */
const pinned = (definition: AutomationDefinition, slug: string, version: number) => ({
  ...definition,
  steps: definition.steps.map((step) =>
    step.type === 'send_email' && step.config.template === slug
      ? { ...step, config: { templateVersion: version, ...step.config } }
      : step,
  ),
})

/** The steps that would break if the template went. */
const sendsOf = ({ steps }: AutomationDefinition, slug: string) =>
  steps
    .filter((step) => step.type === 'send_email')
    .filter(({ config }) => config.template === slug)

/**
 * Live runs keep the version in which they began, so an edit of the automation does not free its
 * old templates.
 */
async function countLive(read: Read, automationId: string, version: number): Promise<number> {
  const { runs } = await read
    .selectFrom('automation_live')
    .select((eb) => eb.fn.countAll<number>().as('runs'))
    .where('automation_id', '=', automationId)
    .where('version', '=', version)
    .executeTakeFirstOrThrow()
  return runs
}
