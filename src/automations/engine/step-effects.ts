import type { UpdateResult } from 'kysely'
import type { AccountBilling } from '../../billing/index.js'
import { markContacts } from '../../changes/index.js'
import { isoTime } from '../../clock/index.js'
import { nameKeys } from '../../contacts/index.js'
import { prepared, storedObject, type Tx } from '../../store/index.js'
import { enqueueWebhook } from '../../webhooks/index.js'
import type { RunContact } from '../definition/index.js'
import { type ContactChanges, changed } from '../runs/index.js'
import type { RunPlan } from './plan.js'

/** The event that a webhook step tells. */
const event = 'automation.step'

/**
 * Writes a job for each webhook that these runs send to an endpoint of the account. An endpoint that is disabled or
 * gone gets none, and none gets one while the account's plan has no webhooks; the run's history says so. Resolves with
 * whether there is any.
 */
export async function enqueueStepWebhooks(
  tx: Tx,
  { accountId, plan }: AccountBilling,
  plans: readonly Extract<RunPlan, { kind: 'go' }>[],
  now: number,
): Promise<boolean> {
  let any = false
  for (const { run, walked } of plans) {
    for (const action of walked.actions) {
      if (action.kind !== 'webhook') continue
      const { endpointId, payload, stepId, entry } = action
      const step = run.version.compiled.byId.get(stepId)?.step.key ?? ''
      const body = JSON.stringify({
        event,
        automationId: run.row.automation_id,
        runId: run.row.id,
        step,
        contactId: run.row.contact_id,
        email: run.contact?.email ?? '',
        payload,
        timestamp: isoTime(now),
      })
      // The lane orders jobs by their subject, which is the run here.
      const job = { accountId, endpointId, subjectId: run.row.id, event, body, now }
      const isTold = plan.webhooks && (await enqueueWebhook(tx, job))
      const told = walked.history[entry]
      if (told !== undefined) {
        told.result = isTold ? 'queued' : `skipped:${plan.webhooks ? 'endpoint' : 'no_webhooks'}`
      }
      if (isTold) any = true
    }
  }
  return any
}

/**
 * Lays a step's changes over the contact as it is now, which may have changed since the step was planned. Changes that
 * have become too large meanwhile are left out.
 */
export async function applyChanges(tx: Tx, id: string, changes: ContactChanges): Promise<void> {
  const [row] = await contactOf(tx, { id })
  if (row === undefined) return
  const { email, firstName, lastName, phone, metadata, createdAt } = row
  const contact: RunContact = {
    id,
    email,
    firstName,
    lastName,
    phone,
    createdAt,
    metadata: storedObject(metadata),
  }
  const after = changed(contact, changes)
  if (after === undefined) return
  const { firstName: first, lastName: last } = after
  const kept = metadata === null && changes.metadata === undefined ? null : after.metadata
  const json = kept === null ? null : JSON.stringify(kept)
  await putContact(tx, { id, first, last, ...nameKeys(first, last), json })
  await markContacts(tx, [id])
}

interface ContactColumns {
  email: string
  firstName: string | null
  lastName: string | null
  phone: string | null
  metadata: string | null
  createdAt: number
}

/** Read within the write, as another thread may have changed the contact since the plan. */
const contactOf = prepared<{ id: string }, ContactColumns>((db, { id }) =>
  db
    .selectFrom('contacts')
    .select(['email', 'first_name as firstName', 'last_name as lastName', 'phone', 'metadata'])
    .select('created_at as createdAt')
    .where('id', '=', id),
)

/** All of these fields at once; what the step does not change is written back as it was. */
const putContact = prepared<
  { id: string; first: string | null; last: string | null; json: string | null } & ReturnType<
    typeof nameKeys
  >,
  UpdateResult
>((db, { id, first, last, name_key, last_name_key, json }) =>
  db
    .updateTable('contacts')
    .set({ first_name: first, last_name: last, name_key, last_name_key, metadata: json })
    .where('id', '=', id),
)
