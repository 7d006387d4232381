import {
  type AnswerExample,
  accountRefusals,
  answer,
  type Contract,
  ceiling,
  closedOf,
  confirmation,
  foreignCursor,
  manyOf,
  operation,
  pageFields,
  pageParams,
  refusal,
  shape,
} from '../contract/index.js'
import {
  closed,
  count,
  flag,
  maybe,
  orNull,
  schemasOf,
  table,
  text,
  time,
  uuid,
} from '../fields/index.js'
import { cancelRuns, getRunsCancelled, stopCancelling } from './contract-cancel.js'
import {
  automationStanding,
  getCrowdStart,
  moveRuns,
  pauseAutomation,
  resumeAutomation,
  startForCrowd,
  stopCrowdStart,
} from './contract-course.js'
import { discardDraft, enableDraft, getDraft, updateDraft } from './contract-drafts.js'
import { listEventNames } from './contract-event-names.js'
import { sendEvent, sendEvents } from './contract-events.js'
import {
  automation,
  automationName,
  byStep,
  connections,
  exampleId,
  exampleTime,
  graphChanges,
  invalidDefinition,
  maxPage,
  settings,
  stateFields,
  steps,
  usualPage,
} from './contract-parts.js'
import { cancelRun, getRun, listRuns, startRun } from './contract-runs.js'
import { simulateAutomation } from './contract-simulation.js'
import { runStatuses } from './runs/status.js'

export * from './contract-cancel.js'
export * from './contract-course.js'
export * from './contract-drafts.js'
export * from './contract-event-names.js'
export * from './contract-events.js'
export { automationName, usualPage } from './contract-parts.js'
export * from './contract-runs.js'
export * from './contract-simulation.js'

const status = text('`disabled`: no event starts it; `archived`: it is stopped for good', {
  enum: ['disabled', 'enabled', 'archived'],
})
// Counts instead of runs: an automation may have had millions, and a list of automations has to be quick.
const summary = {
  id: uuid('The id of the automation, which never changes'),
  name: automationName.schema,
  status,
  version: count('The version of its steps now; runs go on in the version in which they began'),
  runs: closed(
    Object.fromEntries(
      runStatuses.map((one) => [one, count(`How many runs have the status \`${one}\``)]),
    ),
  ),
  enrolledContacts: count('How many contacts have ever entered it'),
  reachedGoal: count('How often its goal was reached'),
  pausedAt: orNull(time('Since when nobody takes a step; null: it is not paused')),
  createdAt: time('When the automation was made'),
  updatedAt: time('When the automation was last changed'),
}
const example = {
  id: exampleId,
  name: 'Welcome',
  status: 'enabled',
  version: 1,
  runs: { running: 0, waiting: 12, completed: 340, exited: 5, failed: 0, cancelled: 0 },
  enrolledContacts: 351,
  reachedGoal: 0,
  pausedAt: null,
  createdAt: exampleTime,
  updatedAt: exampleTime,
}
// The smallest automation that does something.
const exampleGraph = {
  steps: [
    { key: 'start', type: 'trigger', config: { eventName: 'user.signup' } },
    {
      key: 'welcome',
      type: 'send_email',
      config: { template: 'welcome', from: 'Posthorn <hello@example.com>', type: 'transactional' },
    },
  ],
  connections: [{ from: 'start', to: 'welcome', type: 'default' }],
}
/** Faults that prevent enabling are errors. Warnings tell what may still be set right before a run gets there. */
const warnings = () =>
  byStep(
    'What may fail when a step runs, such as a variable that its template needs and does not get',
    'What may fail there',
  )

const detail = (when: string, more: object = {}): AnswerExample => ({
  status: 200,
  when,
  shape: 'AutomationDetail',
  schema: closed({ ...summary, ...schemasOf(graphChanges), warnings: warnings() }, ['warnings']),
  value: { ...example, ...exampleGraph, settings: {}, ...more },
})

const archived = () => refusal('conflict', 'It is archived', 'The automation is archived')
// A repeat changes nothing and is no error: a client that lost the answer can ask again.
const asItIs = 'As it is now; a repeat changes nothing'
const state = (now: string, message: string) =>
  answer(asItIs, 'AutomationState', stateFields('The status after the request'), {
    id: exampleId,
    status: now,
    message,
  })

export const createAutomation = operation('POST /v1/automations', {
  id: 'createAutomation',
  may: 'full',
  audit: 'automation.create',
  body: shape('NewAutomation', table({ name: automationName, steps, connections, settings })),
  says: () => ({
    summary: 'Make an automation',
    description: 'A new automation is disabled until you enable it.',
    examples: { 'A welcome': { name: example.name, ...exampleGraph } },
    answers: [
      answer(
        'It was made',
        'AutomationCreated',
        {
          id: uuid('The id of the automation, for the other endpoints'),
          name: automationName,
          status,
          message: confirmation,
        },
        {
          id: exampleId,
          name: example.name,
          status: 'disabled',
          message: 'Automation created; enable it to let its event start it',
        },
        201,
      ),
    ],
    refusals: [
      invalidDefinition('Steps or connections are wrong'),
      ...accountRefusals,
      ceiling('500 automations', 'automations'),
    ],
  }),
})

export const duplicateAutomation = operation('POST /v1/automations/:id/duplicate', {
  id: 'duplicateAutomation',
  may: 'full',
  audit: 'automation.duplicate',
  of: automation,
  body: shape(
    'AutomationCopy',
    table(
      { draft: maybe(flag('Copies its draft, too, where it has one; the copy has it as a draft')) },
      { noOthers: true },
    ),
  ),
  says: () => ({
    summary: 'Copy an automation',
    examples: { 'As it is in force': {}, 'With its draft': { draft: true } },
    description:
      'Its steps and settings as they are now, in whatever state it is; not its runs. The copy is disabled.',
    answers: [
      answer(
        'It was made',
        'AutomationCopied',
        {
          id: uuid('The id of the copy'),
          name: automationName,
          status,
          message: confirmation,
        },
        {
          id: exampleId,
          name: 'Welcome (copy)',
          status: 'disabled',
          message: 'Automation created; enable it to let its event start it',
        },
        201,
      ),
    ],
    refusals: [...accountRefusals, ceiling('500 automations', 'automations')],
  }),
})

export const listAutomations = operation('GET /v1/automations', {
  id: 'listAutomations',
  may: 'read',
  query: pageParams(usualPage, maxPage),
  says: () => ({
    summary: 'List the automations',
    answers: [
      answer(
        'Newest first',
        'Automations',
        { automations: manyOf('Automation'), ...pageFields },
        { automations: [example], hasMore: false, nextCursor: null },
      ),
    ],
    refusals: [foreignCursor],
  }),
})

export const getAutomation = operation('GET /v1/automations/:id', {
  id: 'getAutomation',
  may: 'read',
  of: automation,
  says: () => ({
    summary: 'One automation with its steps',
    answers: [detail('The automation', { warnings: [] })],
  }),
})

export const updateAutomation = operation('PATCH /v1/automations/:id', {
  id: 'updateAutomation',
  may: 'full',
  audit: 'automation.change',
  of: automation,
  body: shape(
    'AutomationChanges',
    table(
      { name: maybe(automationName), ...graphChanges },
      {
        about:
          'Fields that are not given stay as they are; steps and connections are replaced as a whole.',
      },
    ),
  ),
  says: () => ({
    summary: 'Change an automation',
    description:
      'Runs that are under way go on as they began. After it was enabled once, the change makes a new version.',
    examples: { 'Another name': { name: 'Onboarding' } },
    answers: [detail('As it is after the request')],
    refusals: [
      // interface.md: PATCH while enabled is 422, not 409.
      refusal(
        'validation_error',
        'It is enabled',
        'The automation is enabled; disable it before you change it',
        { status: 422 },
      ),
      archived(),
      invalidDefinition('Steps or connections are wrong'),
      ...accountRefusals,
    ],
  }),
})

export const enableAutomation = operation('POST /v1/automations/:id/enable', {
  id: 'enableAutomation',
  may: 'full',
  audit: 'automation.enable',
  of: automation,
  says: () => ({
    summary: 'Let its event start an automation',
    answers: [
      answer(
        asItIs,
        'AutomationEnabled',
        { ...stateFields('The status after the request'), warnings: warnings() },
        {
          id: exampleId,
          status: 'enabled',
          message: 'Automation enabled: its event starts it from now on',
          warnings: [],
        },
      ),
    ],
    refusals: [
      archived(),
      invalidDefinition(
        'A step names what is not there: template, verified sender, topic, segment, endpoint',
      ),
      // Bounds against an event that starts hundreds of runs for each contact.
      refusal(
        'validation_error',
        '200 automations of the account, or 50 with this event, are enabled',
        'At most 50 enabled automations may begin with the same event',
        { status: 422 },
      ),
      // 402 with `upgrade: "marketing"`, as every other place that needs a marketing plan.
      refusal(
        'marketing_subscription_required',
        'It sends marketing mail, and the account has no marketing plan',
        'Marketing mail needs a marketing plan; steps that send it: "welcome". Ask the operator for a marketing plan, then enable the automation',
        {
          fields: { upgrade: { const: 'marketing' } },
          example: { upgrade: 'marketing' },
        },
      ),
      ...accountRefusals,
    ],
  }),
})

export const disableAutomation = operation('POST /v1/automations/:id/disable', {
  id: 'disableAutomation',
  may: 'full',
  audit: 'automation.disable',
  of: automation,
  says: () => ({
    summary: 'Let nothing start an automation',
    description: 'Runs that are under way finish.',
    answers: [state('disabled', 'Automation disabled: no event starts it; runs under way finish')],
    refusals: [archived()],
  }),
})

export const archiveAutomation = operation('POST /v1/automations/:id/archive', {
  id: 'archiveAutomation',
  may: 'full',
  audit: 'automation.archive',
  of: automation,
  says: () => ({
    summary: 'Stop an automation for good',
    answers: [state('archived', 'Automation archived: its runs are cancelled')],
  }),
})

export const automations: Contract = {
  tag: {
    name: 'Automations',
    description:
      'Sequences that events start, for each contact: mails, delays, waits, branches. A contact goes through an automation once at a time.',
  },
  operations: [
    sendEvent,
    sendEvents,
    listEventNames,
    createAutomation,
    listAutomations,
    getAutomation,
    updateAutomation,
    duplicateAutomation,
    getDraft,
    updateDraft,
    enableDraft,
    discardDraft,
    enableAutomation,
    disableAutomation,
    archiveAutomation,
    pauseAutomation,
    resumeAutomation,
    moveRuns,
    startForCrowd,
    getCrowdStart,
    stopCrowdStart,
    automationStanding,
    simulateAutomation,
    listRuns,
    startRun,
    getRun,
    cancelRun,
    cancelRuns,
    getRunsCancelled,
    stopCancelling,
  ],
  shapes: () => ({ Automation: closedOf(summary) }),
}
