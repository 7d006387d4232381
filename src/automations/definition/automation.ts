import type { Selectable } from 'kysely'
import type { Clock } from '../../clock/index.js'
import { ApiError, OperatorError } from '../../errors/index.js'
import { type AutomationRow, idsIn, type Read, type Store, type Tx } from '../../store/index.js'
import type { AutomationDefinition } from './definition.js'

/** An automation's row: its name, state and counters. What it does is in its version. */
export type Automation = Selectable<AutomationRow>
/** Whether events start it; `archived` is for good. */
export type AutomationStatus = AutomationRow['status']

/** The account's automation; throws a 404. */
export async function findAutomation(
  read: Read,
  accountId: string,
  id: string,
): Promise<Automation> {
  const row = await read
    .selectFrom('automations')
    .selectAll()
    .where('id', '=', id.toLowerCase())
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  if (row === undefined)
    throw new ApiError('not_found', 'The account has no automation with this id', {
      is: 'noAutomation',
    })
  return row
}

/** An automation of whichever account by its id, or by its name if only one has it; for operators. */
export async function findAnyAutomation(read: Read, named: string): Promise<Automation> {
  const find = (column: 'id' | 'name', value: string) =>
    read.selectFrom('automations').selectAll().where(column, '=', value).limit(maxNamesakes)
  const byId = await find('id', named.toLowerCase()).execute()
  const rows = byId.length > 0 ? byId : await find('name', named.trim()).execute()
  const [row, ...namesakes] = rows
  if (row === undefined) {
    throw new OperatorError(
      `No automation ${named}; 'posthorn automation list' shows those of an account`,
    )
  }
  if (namesakes.length === 0) return row
  const list = rows.map(({ id, account_id, status }) => `\n  ${id}  ${status}, of ${account_id}`)
  throw new OperatorError(`Several automations have this name; name one by its id:${list.join('')}`)
}

// How many automations of one name an operator is shown to choose from.
const maxNamesakes = 20

/** An account's automations, newest first (UUIDv7), `limit` of them older than `before`. */
export async function listAutomations(
  read: Read,
  accountId: string,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<Automation[]> {
  return await read
    .selectFrom('automations')
    .selectAll()
    .where('account_id', '=', accountId)
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** The definition of a version, and when it was frozen. */
export async function readDefinition(
  read: Read,
  automationId: string,
  version: number,
): Promise<{ definition: AutomationDefinition; frozenAt: number | null }> {
  const { definition, frozen_at } = await read
    .selectFrom('automation_versions')
    .select(['definition', 'frozen_at'])
    .where('automation_id', '=', automationId)
    .where('version', '=', version)
    .executeTakeFirstOrThrow()
  return { definition: JSON.parse(definition), frozenAt: frozen_at }
}

/** The current definitions of some automations, by the automation's id. */
export async function definitionsOf(
  read: Read,
  automations: readonly Pick<Automation, 'id'>[],
): Promise<ReadonlyMap<string, AutomationDefinition>> {
  const ids = automations.map(({ id }) => id)
  const rows = await read
    .selectFrom('automations')
    .innerJoin('automation_versions as versions', (join) =>
      join
        .onRef('versions.automation_id', '=', 'automations.id')
        .onRef('versions.version', '=', 'automations.version'),
    )
    .select(['automations.id', 'versions.definition'])
    .where('automations.id', 'in', idsIn(ids, 'text'))
    .execute()
  return new Map(rows.map(({ id, definition }) => [id, JSON.parse(definition)]))
}

/** What every change of an automation needs. */
export interface AutomationDeps {
  store: Store
  clock: Clock
}

/** What a caller writes together with a change, from the changed row. */
export type WrittenAlongside = (tx: Tx, automation: Automation) => Promise<void>
/** For callers that write nothing alongside. */
export const nothing: WrittenAlongside = async () => {}

/** For a change of one that is archived: a 409. */
export const refuseArchived = ({ status }: Automation) => {
  if (status === 'archived') {
    throw new ApiError('conflict', 'The automation is archived', { is: 'archived' })
  }
}
