import { answer, confirmation, operation, refusal, shape } from '../contract/index.js'
import { count, flag, maybe, orNull, table, text, time, whole, words } from '../fields/index.js'
import { automation, dryRun, exampleTime, wasDry } from './contract-parts.js'

/** Which live runs are meant: those that fit every field that is given. */
export const meantRuns = {
  step: maybe(words('Only runs that are at the step with this key')),
  version: maybe(whole('Only runs of this version', { least: 1 })),
  waiting: maybe(
    words(
      'Only runs that cannot go on by themselves: `held`, or why their step cannot be taken yet, as in `waitingFor`',
    ),
  ),
}

const fields = {
  id: text('The number of the work'),
  state: text('How it stands', { enum: ['running', 'paused', 'stopped', 'done', 'failed'] }),
  cancelled: count('How many runs were cancelled so far'),
  total: count('How many there were, at most, when it began; when it is done, how many it was'),
  reason: orNull(text('Why it has failed')),
  begunAt: time('When it began'),
  endedAt: orNull(time('When it ended; null: it goes on')),
}
const example = {
  id: '41',
  state: 'running',
  cancelled: 0,
  total: 12_000,
  reason: null,
  begunAt: exampleTime,
  endedAt: null,
}
const told = (when: string, status = 200) => answer(when, 'RunsCancelled', fields, example, status)
const everybody = maybe(
  flag(
    'All live runs of the automation; without it at least one of the others says which are meant',
  ),
)
const cancelled = Object.assign({ dryRun, everybody }, meantRuns)

/** The refusal of a request that does not say which runs it means. */
export const nobodySaid =
  'Say which runs are meant by `step`, `version` or `waiting`, or all of them by `everybody: true`'

const never = () =>
  refusal(
    'not_found',
    'No runs of it were cancelled together',
    'Nobody was taken out of this automation by one request lately',
  )

export const cancelRuns = operation('POST /v1/automations/:id/cancel', {
  id: 'cancelRuns',
  may: 'full',
  audit: 'automation.take-out',
  of: automation,
  body: shape('RunsMeant', table(cancelled, { noOthers: true })),
  says: () => ({
    summary: 'Stop all live runs of an automation that fit',
    description:
      'The appliance does it, some thousands a second, and goes on after a restart. Runs that begin later stay. An empty body is refused, so that nothing cancels everybody by a slip; with `dryRun` it counts them.',
    examples: {
      'Who waits at a step': { step: 'paid' },
      Everybody: { everybody: true },
      'What would happen': { step: 'paid', dryRun: true },
    },
    answers: [
      told('It has begun', 202),
      answer(
        'What would happen',
        'RunsToCancel',
        { dryRun: wasDry, total: count('How many runs fit, at most'), message: confirmation },
        { dryRun: true, total: 12_000, message: 'Nothing was cancelled: 12,000 runs fit' },
      ),
    ],
    refusals: [
      refusal(
        'validation_error',
        'No version has the step',
        'The automation has no step "welcom" that was ever enabled',
        { status: 422 },
      ),
      refusal('validation_error', 'Nobody is said, or everybody and some', nobodySaid, {
        status: 422,
      }),
      refusal(
        'conflict',
        'Ten of these are under way',
        'Ten tasks that take people out are under way: wait for one, or stop it',
      ),
    ],
  }),
})

export const getRunsCancelled = operation('GET /v1/automations/:id/cancel', {
  id: 'getRunsCancelled',
  may: 'read',
  of: automation,
  says: () => ({
    summary: 'How far the last stop of many runs is',
    answers: [told('The last one')],
    refusals: [never()],
  }),
})

export const stopCancelling = operation('DELETE /v1/automations/:id/cancel', {
  id: 'stopCancelling',
  may: 'full',
  audit: 'automation.stop-taking-out',
  of: automation,
  says: () => ({
    summary: 'Cancel no more runs',
    description: 'Those that were cancelled stay so.',
    answers: [told('It is stopped; how far it was')],
    refusals: [
      never(),
      refusal('conflict', 'It has ended', 'It has ended already', { example: {} }),
    ],
  }),
})
