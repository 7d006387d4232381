import { automationSchemas } from './automation-schemas.js'
import { accountRefusals, pastDue } from './common.js'
import { closed, count, type Description, orNull, refusal, text } from './describe.js'

const id = '01a1fc92-0000-7000-8000-5f0e1c2d3b4a'
const runId = '01a1fc92-0000-7000-8000-5f0e1c2d3b4b'
const contactId = '01a1fc92-0000-7000-8000-5f0e1c2d3b4c'
const at = '2026-11-21T10:00:00.000Z'
const params = { id: 'The UUID of the automation' }
const runParams = { id: 'The UUID of the run' }
const name = 'Welcome'

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
const event = { event: 'user.signup', email: 'ann@example.org', payload: { plan: 'pro' } }
const accepted = {
  event: 'user.signup',
  contactId,
  contactCreated: true,
  started: 1,
  resumed: 0,
  automations: [{ automationId: id, name, started: true, runId }],
}
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

const noSuchAutomation = refusal(
  'not_found',
  'The account has no such automation',
  'No such automation',
)
const noSuchList = refusal('not_found', 'The account has no such list', 'No such list')
const noSuchRun = refusal('not_found', 'The account has no such run', 'No such run')
const archived = refusal('conflict', 'It is archived', 'The automation is archived')
const ended = refusal('conflict', 'The run has ended', 'The run has ended already: it is completed')
const noSuchContact = refusal(
  'not_found',
  'The account has no contact with this id',
  'No such contact',
)
const tooManyContacts = refusal(
  'plan_limit_exceeded',
  'The address is unknown and the plan holds no more contacts',
  'The plan allows 500 contacts; choose a larger marketing plan, or delete some',
)
const faults = {
  shape: 'InvalidAutomation',
  fields: {
    errors: {
      type: 'array',
      description: 'Every fault, by the key of its step',
      items: closed({
        key: orNull(text('The step; null for what is of no single one')),
        error: text('What is wrong'),
      }),
    },
  },
  example: { errors: [{ key: 'welcome', error: 'No template "welcom"' }] },
} as const
const invalid = (when: string) =>
  refusal(
    'validation_error',
    when,
    'The automation is not valid: step "welcome": No template "welcom"',
    { status: 422, ...faults },
  )
const enabled = refusal(
  'validation_error',
  'It is enabled',
  'The automation is enabled; disable it before you change it',
  { status: 422 },
)
const tooMany = refusal(
  'validation_error',
  '200 automations of the account, or 50 with this event, are enabled',
  'At most 50 enabled automations may begin with one event',
  { status: 422 },
)
const noPlan = refusal(
  'marketing_subscription_required',
  'It sends marketing mail, and the account has no marketing plan',
  'Marketing mail needs a marketing plan; steps that send it: "welcome". Ask the operator for a marketing plan, then enable the automation',
  {
    fields: { upgrade: { const: 'marketing' } },
    example: { upgrade: 'marketing' },
  },
)
const differ = refusal(
  'validation_error',
  '`contactId` and `email` are of different contacts',
  'contactId and email are of different contacts',
  { status: 422 },
)
const invalidEvents = refusal(
  'validation_error',
  'Some events are wrong; nothing was taken in',
  '1 of 2 events are invalid; nothing was taken in',
  {
    status: 422,
    shape: 'InvalidEvents',
    fields: {
      errors: {
        type: 'array',
        items: closed({ index: count('Of the event'), error: text('What is wrong') }),
      },
    },
    example: { errors: [{ index: 1, error: 'No such contact' }] },
  },
)
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
    'POST /v1/events/send': {
      id: 'sendEvent',
      summary: 'Tell what a contact did',
      description:
        'Wakes the runs that wait for the event, and starts the enabled automations that begin with it. A contact who is under way in one gets no second run of it.',
      body: { shape: 'NewEvent', examples: [{ when: 'A sign-up', value: event }] },
      answers: [{ status: 202, when: 'It is taken in', shape: 'EventAccepted', value: accepted }],
      refusals: [noSuchContact, differ, tooManyContacts, pastDue, ...accountRefusals],
    },
    'POST /v1/events/batch': {
      id: 'sendEvents',
      summary: 'Tell what contacts did, 100 events at a time',
      description: 'All events are taken in, in their order, or none.',
      body: { shape: 'NewEvents', examples: [{ when: 'A sign-up', value: { events: [event] } }] },
      answers: [
        {
          status: 202,
          when: 'They are taken in',
          shape: 'EventsAccepted',
          value: { accepted: 1, results: [accepted] },
        },
      ],
      refusals: [invalidEvents, ...accountRefusals],
    },
    'POST /v1/automations': {
      id: 'createAutomation',
      summary: 'Make an automation',
      description: 'It is always disabled.',
      body: {
        shape: 'NewAutomation',
        examples: [{ when: 'A welcome', value: { name, steps, connections } }],
      },
      answers: [
        {
          status: 201,
          when: 'It is there',
          shape: 'AutomationCreated',
          value: {
            id,
            name,
            status: 'disabled',
            message: 'Automation created; enable it to let its event start it',
          },
        },
      ],
      refusals: [invalid('Steps or connections are wrong'), ...accountRefusals],
    },
    'GET /v1/automations': {
      id: 'listAutomations',
      summary: 'List the automations',
      query: {
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
        cursor: { type: 'string', description: 'What `nextCursor` said' },
      },
      answers: [
        {
          status: 200,
          when: 'Newest first',
          shape: 'Automations',
          value: { automations: [automation], hasMore: false, nextCursor: null },
        },
      ],
      refusals: [
        refusal(
          'validation_error',
          'The cursor belongs to another list, or to no list',
          'The cursor does not belong to this list',
          {
            status: 400,
          },
        ),
      ],
    },
    'GET /v1/automations/:id': {
      id: 'getAutomation',
      summary: 'One automation with its steps',
      params,
      answers: [
        { status: 200, when: 'It', shape: 'AutomationDetail', value: { ...detail, warnings: [] } },
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
      answers: [{ status: 200, when: 'As it is now', shape: 'AutomationDetail', value: detail }],
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
            ...{
              id,
              status: 'enabled',
              message: 'Automation enabled: its event starts it from now on',
            },
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
          when: 'Of a list',
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
    'GET /v1/automations/:id/runs': {
      id: 'listRuns',
      summary: 'The runs of an automation',
      params,
      query: {
        status: { type: 'string', description: 'One or more, with commas: `running,waiting`' },
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
        cursor: { type: 'string', description: 'What `nextCursor` said' },
      },
      answers: [
        {
          status: 200,
          when: 'Newest first',
          shape: 'AutomationRuns',
          value: { runs: [run], hasMore: false, nextCursor: null },
        },
      ],
      refusals: [
        noSuchAutomation,
        refusal(
          'validation_error',
          'The cursor belongs to another list, or to no list',
          'The cursor does not belong to this list',
          {
            status: 400,
          },
        ),
      ],
    },
    'GET /v1/automations/runs/:id': {
      id: 'getRun',
      summary: 'One run',
      params: runParams,
      answers: [{ status: 200, when: 'It', shape: 'AutomationRun', value: { ...run, why } }],
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
  },
}
