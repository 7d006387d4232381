import { accountRefusals, ceiling, foreignCursor, pageQuery, refusal } from '../contract/index.js'
import { closed, orNull, text } from '../fields/index.js'
import { automationEvents } from './automation-events.js'
import { at, automationRuns, id, noSuchAutomation, params } from './automation-runs.js'
import { automationSchemas } from './automation-schemas.js'
import type { Description } from './description.js'

const name = 'Welcome'

/** The smallest automation that does something, which the examples of all operations share. */
const steps = [
  { key: 'start', type: 'trigger', config: { eventName: 'user.signup' } },
  {
    key: 'welcome',
    type: 'send_email',
    config: { template: 'welcome', from: 'Posthorn <hello@example.com>', type: 'transactional' },
  },
]
const connections = [{ from: 'start', to: 'welcome', type: 'default' }]
const automation = {
  id,
  name,
  status: 'enabled',
  version: 1,
  runs: { running: 0, waiting: 12, completed: 340, exited: 5, failed: 0, cancelled: 0 },
  enrolledContacts: 351,
  createdAt: at,
  updatedAt: at,
}
const detail = { ...automation, steps, connections, settings: {} }
/**
 * A start over a list that belongs to another account must look like one over a list that does not
 * exist.
 */
const noSuchList = refusal(
  'not_found',
  'The account has no such list',
  'The account has no contact list with this id',
)
const archived = refusal('conflict', 'It is archived', 'The automation is archived')
/**
 * Every fault at once with the key of its step: editors mark them in the drawing, and nobody wants to repair a graph one fault a request.
 */
const faults = {
  shape: 'InvalidAutomation',
  fields: {
    errors: {
      type: 'array',
      description: 'Everything that is wrong, by the key of its step',
      items: closed({
        key: orNull(text('The key of the step; null for what concerns no single step')),
        error: text('What is wrong there'),
      }),
    },
  },
  example: { errors: [{ key: 'welcome', error: 'The account has no template "welcom"' }] },
} as const
/** One function, as create, edit and enable refuse in the same shape with different reasons. */
const invalid = (when: string) =>
  refusal(
    'validation_error',
    when,
    'The automation is not valid: step "welcome": The account has no template "welcom"',
    { status: 422, ...faults },
  )
/** interface.md: PATCH while enabled is 422, not 409. */
const enabled = refusal(
  'validation_error',
  'It is enabled',
  'The automation is enabled; disable it before you change it',
  { status: 422 },
)
/** Bounds against an event that starts hundreds of runs for each contact. */
const tooMany = refusal(
  'validation_error',
  '200 automations of the account, or 50 with this event, are enabled',
  'At most 50 enabled automations may begin with the same event',
  { status: 422 },
)
/** 402 with `upgrade: "marketing"`, as every other place that needs a marketing plan. */
const noPlan = refusal(
  'marketing_subscription_required',
  'It sends marketing mail, and the account has no marketing plan',
  'Marketing mail needs a marketing plan; steps that send it: "welcome". Ask the operator for a marketing plan, then enable the automation',
  {
    fields: { upgrade: { const: 'marketing' } },
    example: { upgrade: 'marketing' },
  },
)
/** A repeat changes nothing and is no error: a client that lost the answer can ask again. */
const stateAnswer = (status: string, message: string) => ({
  status: 200,
  when: 'As it is now; a repeat changes nothing',
  shape: 'AutomationState',
  value: { id, status, message },
})

export const automations: Description = {
  tag: {
    name: 'Automations',
    description:
      'Sequences that events start, for each contact: mails, delays, waits, branches. A contact goes through an automation once at a time.',
  },
  schemas: automationSchemas,
  operations: {
    ...automationEvents,
    'POST /v1/automations': {
      id: 'createAutomation',
      summary: 'Make an automation',
      description: 'A new automation is disabled until you enable it.',
      body: {
        shape: 'NewAutomation',
        examples: [{ when: 'A welcome', value: { name, steps, connections } }],
      },
      answers: [
        {
          status: 201,
          when: 'It was made',
          shape: 'AutomationCreated',
          value: {
            id,
            name,
            status: 'disabled',
            message: 'Automation created; enable it to let its event start it',
          },
        },
      ],
      refusals: [
        invalid('Steps or connections are wrong'),
        ...accountRefusals,
        ceiling('500 automations', 'automations'),
      ],
    },
    'GET /v1/automations': {
      id: 'listAutomations',
      summary: 'List the automations',
      query: {
        ...pageQuery,
        limit: { ...pageQuery.limit, maximum: 100, default: 20 },
      },
      answers: [
        {
          status: 200,
          when: 'Newest first',
          shape: 'Automations',
          value: { automations: [automation], hasMore: false, nextCursor: null },
        },
      ],
      refusals: [foreignCursor],
    },
    'GET /v1/automations/:id': {
      id: 'getAutomation',
      summary: 'One automation with its steps',
      params,
      answers: [
        {
          status: 200,
          when: 'The automation',
          shape: 'AutomationDetail',
          value: { ...detail, warnings: [] },
        },
      ],
      refusals: [noSuchAutomation],
    },
    'PATCH /v1/automations/:id': {
      id: 'updateAutomation',
      summary: 'Change an automation',
      description:
        'Runs that are under way go on as they began. After it was enabled once, the change makes a new version.',
      params,
      body: {
        shape: 'AutomationChanges',
        examples: [{ when: 'Another name', value: { name: 'Onboarding' } }],
      },
      answers: [
        {
          status: 200,
          when: 'As it is after the request',
          shape: 'AutomationDetail',
          value: detail,
        },
      ],
      refusals: [
        noSuchAutomation,
        enabled,
        archived,
        invalid('Steps or connections are wrong'),
        ...accountRefusals,
      ],
    },
    'POST /v1/automations/:id/enable': {
      id: 'enableAutomation',
      summary: 'Let its event start an automation',
      params,
      answers: [
        {
          status: 200,
          when: 'As it is now; a repeat changes nothing',
          shape: 'AutomationEnabled',
          value: {
            id,
            status: 'enabled',
            message: 'Automation enabled: its event starts it from now on',
            warnings: [],
          },
        },
      ],
      refusals: [
        noSuchAutomation,
        archived,
        invalid('A step names what is not there: template, verified sender, topic, endpoint'),
        tooMany,
        noPlan,
        ...accountRefusals,
      ],
    },
    'POST /v1/automations/:id/disable': {
      id: 'disableAutomation',
      summary: 'Let nothing start an automation',
      description: 'Runs that are under way finish.',
      params,
      answers: [
        stateAnswer('disabled', 'Automation disabled: no event starts it; runs under way finish'),
      ],
      refusals: [noSuchAutomation, archived],
    },
    'POST /v1/automations/:id/archive': {
      id: 'archiveAutomation',
      summary: 'Stop an automation for good',
      params,
      answers: [stateAnswer('archived', 'Automation archived: its runs are cancelled')],
      refusals: [noSuchAutomation],
    },
    // A POST that changes nothing: what is walked through may be a whole graph, which no query has room for.
    'POST /v1/automations/:id/simulate': {
      id: 'simulateAutomation',
      summary: 'Walk somebody through an automation',
      description:
        'Nothing is written or sent. The same code walks that runs the automation, with a clock of its own.',
      params,
      body: {
        shape: 'NewSimulation',
        examples: [
          {
            when: 'Paid after two days',
            value: {
              email: 'ann@example.org',
              payload: { plan: 'pro' },
              events: [{ event: 'order.paid', after: 'P2D' }],
            },
          },
        ],
      },
      answers: [
        {
          status: 200,
          when: 'What would happen',
          shape: 'Simulation',
          value: {
            automationId: id,
            version: 1,
            lines: [{ at, run: 0, step: 'start', type: 'trigger', result: 'started' }],
            runs: [
              { startedAt: at, endedAt: at, status: 'completed', reason: null, currentStep: null },
            ],
            refused: [],
            cut: false,
          },
        },
        {
          status: 200,
          when: 'With `listId`',
          shape: 'Cohort',
          value: {
            contacts: 100,
            started: 98,
            steps: { start: { started: 98 }, paid: { received: 40, timed_out: 58 } },
            ends: { completed: 98 },
            cut: false,
          },
        },
      ],
      refusals: [
        noSuchAutomation,
        noSuchList,
        invalid(
          'The steps or connections that were given are wrong, or `opens` and `clicks` name no send step',
        ),
      ],
    },
    ...automationRuns,
  },
}
