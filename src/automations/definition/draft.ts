import { type AccountBilling, checkOpen } from '../../billing/index.js'
import { ApiError } from '../../errors/index.js'
import { jsonBytes } from '../../json/index.js'
import { idsIn, type Read, type Tx } from '../../store/index.js'
import {
  type Automation,
  type AutomationDeps,
  findAutomation,
  readDefinition,
  refuseArchived,
} from './automation.js'
import { type AutomationDefinition, limits } from './definition.js'
import { putVersion } from './edit.js'
import { type LiquidDeps, subjectFaults } from './subject-faults.js'
import { validate } from './validate.js'

/*
 * A draft is what somebody writes in pages. It is kept whatever is wrong with it, and the version goes on as it is.
 * While nothing starts the automation, a draft without faults becomes the version at once; otherwise it does when
 * somebody puts it in force.
 */

/** An automation as it is being written. */
export interface WrittenAutomation {
  name: string
  /** Need not be valid where it is a draft. */
  definition: AutomationDefinition
  /** Good for one change: each change makes another revision. */
  revision: string
  /** Whether there is a draft beside the version. */
  isDraft: boolean
}

/** The draft of an automation, or its version where there is none. */
export async function readWritten(read: Read, automation: Automation): Promise<WrittenAutomation> {
  const draft = await draftOf(read, automation)
  const { definition, name } =
    draft === undefined
      ? {
          ...(await readDefinition(read, automation.id, automation.version)),
          name: automation.name,
        }
      : { definition: JSON.parse(draft.definition) as AutomationDefinition, name: draft.name }
  const revision = revisionOf(automation, draft)
  return { name, definition, revision, isDraft: draft !== undefined }
}

/** Which of some automations have a draft beside their version. */
export async function draftsAmong(
  read: Read,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await read
    .selectFrom('automation_drafts')
    .select('automation_id')
    .where('automation_id', 'in', idsIn(ids, 'text'))
    .where('account_id', '=', accountId)
    .execute()
  return new Set(rows.map((row) => row.automation_id))
}

interface DraftRow {
  name: string
  definition: string
  revision: number
}

const draftOf = (read: Read, { id, account_id: accountId }: Automation) =>
  read
    .selectFrom('automation_drafts')
    .select(['name', 'definition', 'revision'])
    .where('automation_id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirst()

/** A change by the API makes another revision, too. */
const revisionOf = ({ version, updated_at }: Automation, draft: DraftRow | undefined): string =>
  `${version}.${updated_at}.${draft?.revision ?? 0}`

/**
 * Keeps what somebody has written over `revision`; throws a 409 where somebody else has changed it since. It becomes
 * the version where nothing starts the automation and nothing is wrong with it.
 */
export async function keepWritten(
  { store, clock, renderer }: AutomationDeps & LiquidDeps,
  billing: AccountBilling,
  id: string,
  { name, definition, revision }: Omit<WrittenAutomation, 'isDraft'>,
): Promise<WrittenAutomation> {
  checkOpen(billing)
  if (jsonBytes(definition) > limits.definitionBytes) throw tooLarge()
  const unread = await subjectFaults({ renderer }, billing.accountId, definition.steps)
  return await store.write(async (tx) => {
    const automation = await findAutomation(tx, billing.accountId, id)
    refuseArchived(automation)
    const draft = await draftOf(tx, automation)
    if (revisionOf(automation, draft) !== revision) throw changedMeanwhile()
    const valid = unread.length > 0 ? undefined : validate(definition).definition
    if (automation.status === 'disabled' && valid !== undefined) {
      await becomeVersion(tx, automation, { name, definition: valid, now: clock.now() })
    } else {
      await putDraft(tx, automation, { name, definition, now: clock.now() })
    }
    return await readWritten(tx, await findAutomation(tx, billing.accountId, id))
  })
}

/**
 * Keeps what is being written as a draft, whatever is in it, and answers its revision. Throws a 409 where somebody else
 * has changed it since `revision`.
 */
export async function keepTyped(
  { store, clock }: Pick<AutomationDeps, 'store' | 'clock'>,
  accountId: string,
  id: string,
  { name, definition, revision }: Omit<WrittenAutomation, 'isDraft'>,
): Promise<string> {
  if (jsonBytes(definition) > limits.definitionBytes) throw tooLarge()
  return await store.write(async (tx) => {
    const automation = await findAutomation(tx, accountId, id)
    refuseArchived(automation)
    if (revisionOf(automation, await draftOf(tx, automation)) !== revision) throw changedMeanwhile()
    await putDraft(tx, automation, { name, definition, now: clock.now() })
    return revisionOf(automation, await draftOf(tx, automation))
  })
}

/** Writes a draft, or another in its place. */
export async function putDraft(
  tx: Tx,
  automation: Automation,
  { name, definition, now }: { name: string; definition: AutomationDefinition; now: number },
): Promise<void> {
  const draft = await draftOf(tx, automation)
  const row = {
    name,
    definition: JSON.stringify(definition),
    revision: (draft?.revision ?? 0) + 1,
    changed_at: now,
  }
  await tx
    .insertInto('automation_drafts')
    .values({ automation_id: automation.id, account_id: automation.account_id, ...row })
    .onConflict((conflict) => conflict.column('automation_id').doUpdateSet(row))
    .execute()
}

/** What is written replaces the version, or becomes the next one where runs have begun in the version. */
export async function becomeVersion(
  tx: Tx,
  automation: Automation,
  { name, definition, now }: { name: string; definition: AutomationDefinition; now: number },
): Promise<void> {
  const { id } = automation
  const { frozenAt } = await readDefinition(tx, id, automation.version)
  const version = frozenAt === null ? automation.version : automation.version + 1
  await putVersion(tx, id, version, definition)
  await tx
    .updateTable('automations')
    .set({ name, version, updated_at: now })
    .where('id', '=', id)
    .execute()
  await dropDraft(tx, id)
}

/** Takes the draft away, and leaves the version. */
export async function discardDraft(
  { store }: Pick<AutomationDeps, 'store'>,
  accountId: string,
  id: string,
): Promise<void> {
  await store.write(async (tx) => {
    const automation = await findAutomation(tx, accountId, id)
    await dropDraft(tx, automation.id)
  })
}

const dropDraft = (tx: Tx, id: string) =>
  tx.deleteFrom('automation_drafts').where('automation_id', '=', id).execute()

/** What is written is not what `revision` names any more. Pages have words of their own for it. */
export const changedSince =
  'The automation was changed since this revision: read the draft anew, and make your change to that'

export const changedMeanwhile = () => new ApiError('conflict', changedSince)

const tooLarge = () =>
  new ApiError(
    'validation_error',
    `The automation has more than ${limits.definitionBytes / 1024} KiB; remove steps, or make two automations of it`,
    { is: 'tooLarge', names: [limits.definitionBytes / 1024] },
  )
