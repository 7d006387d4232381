import { preparedInsertAll, type Tx } from '../../store/index.js'
import { historyJson } from '../runs/index.js'
import type { TakenEvent } from './store-events.js'

/** An event that starts runs of an automation's version. */
export interface Trigger {
  event: string
  automationId: string
  version: number
  name: string
}

/**
 * How often a contact has entered an automation. It outlives the runs, as `once` has to hold after
 * they are deleted.
 */
export interface Entry {
  runs: number
  lastStartedAt: number
  /** JSON: the starts less than an hour before the last one. */
  starts: string | null
}

/** A run that begins. */
export interface NewRun {
  id: string
  trigger: Trigger
  stepId: number
  event: TakenEvent
  listens: readonly string[]
  outlives: 0 | 1
}

/** The key of a contact in an automation, for maps. */
export const pairOf = ({ contactId, automationId }: { contactId: string; automationId: string }) =>
  `${contactId} ${automationId}`

/**
 * Many runs in one statement: an event with a list of 10,000 would otherwise be 10,000 statements
 * within one transaction.
 */
export async function insertRuns(
  tx: Tx,
  accountId: string,
  begun: readonly NewRun[],
  entries: ReadonlyMap<string, Entry>,
  now: number,
): Promise<void> {
  const history = historyJson([], now)
  await insertLive(
    tx,
    begun.map(({ id, trigger: { automationId, version }, stepId, event, outlives }) => ({
      id,
      account_id: accountId,
      automation_id: automationId,
      version,
      contact_id: event.contact.id,
      step_id: stepId,
      trigger_event: event.stored.id,
      seq: 0,
      status: 'running',
      due_at: now,
      attempts: 0,
      steps: 0,
      mails: 0,
      history,
      started_at: now,
      updated_at: now,
      outlives,
    })),
  )
  await putEntries(
    tx,
    begun.map(({ trigger: { automationId }, event }) => {
      const contactId = event.contact.id
      const { runs = 1, starts = null } = entries.get(pairOf({ contactId, automationId })) ?? {}
      return {
        contact_id: contactId,
        automation_id: automationId,
        runs,
        last_started_at: now,
        starts,
      }
    }),
  )
  await insertListens(
    tx,
    begun.flatMap(({ id, event, listens }) =>
      listens.map((name) => ({ contact_id: event.contact.id, event: name, run_id: id })),
    ),
  )
}

const insertLive = preparedInsertAll('automation_live')

/** Counts the entries. */
const putEntries = preparedInsertAll('automation_entries', (insert) =>
  insert.onConflict((conflict) =>
    conflict.columns(['contact_id', 'automation_id']).doUpdateSet((eb) => ({
      runs: eb.ref('excluded.runs'),
      last_started_at: eb.ref('excluded.last_started_at'),
      starts: eb.ref('excluded.starts'),
    })),
  ),
)

export const insertListens = preparedInsertAll('automation_listens')
