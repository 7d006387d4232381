import type { Tx } from '../store/index.js'
import { enqueueWebhook } from '../webhooks/index.js'
import type { Plan } from './plan.js'

/** The event that a webhook step tells. */
const event = 'automation.step'

/**
 * Writes a job for each webhook that these runs tell an endpoint of the account; one that is disabled
 * or gone gets none. Resolves with whether there is any.
 */
export async function enqueueStepWebhooks(
  tx: Tx,
  accountId: string,
  plans: readonly Extract<Plan, { kind: 'go' }>[],
  now: number,
): Promise<boolean> {
  let any = false
  for (const { run, walked } of plans) {
    for (const action of walked.actions) {
      if (action.kind !== 'webhook') continue
      const { endpointId, payload, stepId } = action
      const step = run.version.compiled.byId.get(stepId)?.step.key ?? ''
      const body = JSON.stringify({
        event,
        automationId: run.row.automation_id,
        runId: run.row.id,
        step,
        contactId: run.row.contact_id,
        email: run.contact?.email ?? '',
        payload,
        timestamp: new Date(now).toISOString(),
      })
      // The lane's order is by what it tells of; here that is the run.
      const job = { accountId, endpointId, subjectId: run.row.id, event, body, now }
      if (await enqueueWebhook(tx, job)) any = true
    }
  }
  return any
}
