import { foreignCursor, pageQuery, refusal } from '../contract/index.js'
import { text } from '../fields/index.js'
import type { Description } from './description.js'

export const id = '01a1fc92-0000-7000-8000-5f0e1c2d3b4a'
const runId = '01a1fc92-0000-7000-8000-5f0e1c2d3b4b'
const contactId = '01a1fc92-0000-7000-8000-5f0e1c2d3b4c'
export const at = '2026-11-21T10:00:00.000Z'
export const params = { id: 'The UUID of the automation' }
const runParams = { id: 'The UUID of the run' }
/** The example is of a run that waits, as that state has the most fields that are not null. */
const run = {
  id: runId,
  automationId: id,
  version: 1,
  contactId,
  email: 'ann@example.org',
  status: 'waiting',
  reason: null,
  currentStep: 'paid',
  startedAt: at,
  updatedAt: at,
  waitingFor: { kind: 'event', event: 'order.paid', until: '2026-12-03T10:00:00.000Z' },
  history: [
    { step: 'start', at, result: 'started' },
    { step: 'welcome', at, result: 'sent', emailId: runId },
  ],
}

const why = 'waits for `order.paid` until 3 Dec 10:00 UTC, then branch timeout, to `remind`'

/** 404 also for an automation of another account (interface.md, Scoping). */
export const noSuchAutomation = refusal(
  'not_found',
  'The account has no such automation',
  'The account has no automation with this id',
)
/**
 * Runs are named without their automation in the path (`/v1/automations/runs/:id/cancel`), so the
 * account is all that they are looked up by.
 */
const noSuchRun = refusal(
  'not_found',
  'The account has no such run',
  'The account has no automation run with this id',
)
const ended = refusal('conflict', 'The run has ended', 'The run has ended already: it is completed')

/** Contacts on their way through an automation. */
export const automationRuns: Description['operations'] = {
  'GET /v1/automations/:id/runs': {
    id: 'listRuns',
    summary: 'The runs of an automation',
    description:
      'A page of some statuses may have fewer than `limit`, or none, and yet `hasMore`: go on by `nextCursor`.',
    params,
    query: {
      status: text('Only runs with this status, or one of several with commas: `running,waiting`'),
      ...pageQuery,
      limit: { ...pageQuery.limit, maximum: 100, default: 20 },
    },
    answers: [
      {
        status: 200,
        when: 'Newest first',
        shape: 'AutomationRuns',
        value: { runs: [run], hasMore: false, nextCursor: null },
      },
    ],
    refusals: [noSuchAutomation, foreignCursor],
  },
  'GET /v1/automations/runs/:id': {
    id: 'getRun',
    summary: 'One run',
    params: runParams,
    answers: [{ status: 200, when: 'The run', shape: 'AutomationRun', value: { ...run, why } }],
    refusals: [noSuchRun],
  },
  'POST /v1/automations/runs/:id/cancel': {
    id: 'cancelRun',
    summary: 'Stop a run',
    params: runParams,
    answers: [
      {
        status: 200,
        when: 'It has ended',
        shape: 'RunState',
        value: { id: runId, status: 'cancelled', message: 'Run cancelled' },
      },
    ],
    refusals: [noSuchRun, ended],
  },
}
