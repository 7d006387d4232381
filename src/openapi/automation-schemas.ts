import { closed, count, orNull, type Schema, shaped, text, time, uuid } from './describe.js'

/*
 * The bodies of automations and events.
 */
const eventName = text('1 to 100 of A-Z, a-z, 0-9, `_`, `.`, `:` and `-`', {
  pattern: '^[A-Za-z0-9_.:-]{1,100}$',
})
const name = text('For people', { minLength: 1, maxLength: 200 })
const status = text('`disabled`: no event starts it; `archived`: for good', {
  enum: ['disabled', 'enabled', 'archived'],
})
const runStatuses = ['running', 'waiting', 'completed', 'exited', 'failed', 'cancelled']
const runStatus = text('`running` and `waiting` are under way', { enum: runStatuses })

/** Shared by the single event and the batch of events, which must not differ. */
const eventFields: Record<string, Schema> = {
  event: eventName,
  contactId: uuid('The contact; this or `email`'),
  email: text('An address; one that the account does not know becomes a contact on no list'),
  payload: {
    type: 'object',
    description: 'What conditions and templates see as `event` and `trigger`; at most 16 KiB',
  },
  occurredAt: time(
    'When it happened; older than 24 hours it starts nothing, and more than 5 minutes ahead is a 422',
  ),
}

/**
 * `config` is described in words and not as one schema a type: generated clients make of twelve
 * alternatives something that nobody can use, and the errors of the API name the field anyway.
 */
const step = {
  type: 'object',
  description:
    'A step. `config` by `type`: `trigger` { eventName, filter?, reentry? }; `send_email` { template, from, subject?, replyTo?, variables?, type?, topicId?, templateVersion? }; `delay` { duration } or { until: { time, days?, zone? } }; `wait_for_event` { eventName, filter?, timeout?, since? }; `condition` a rule; `contact_update` { firstName?, lastName?, metadata? }; `split` { branches: [{ key, percent }] }; `webhook` { endpointId, payload? }; `exit` { reason? }. Durations are ISO 8601 (`P3D`, `PT2H`). A rule is { field, operator, value } or { all | any: [rules] } or { not: rule }; fields are `contact.…`, `trigger.…`, `event.…`, `waits.KEY.…` and `email.KEY.opened` (`clicked`, `delivered`, `bounced`); operators `eq`, `neq`, `gt`, `gte`, `lt`, `lte`, `in`, `contains`, `not_contains`, `starts_with`, `ends_with`, `exists`, `is_empty`; a value { var: field } is that field. Events are your own and Posthorn’s: `$contact.created`, `$list.joined`, `$email.opened`, `$email.clicked`, `$email.bounced` (a bounce that suppresses the address ends the runs of its contact and starts none).',
  properties: {
    key: text('Names the step', { pattern: '^[a-z0-9_-]{1,64}$' }),
    type: text('What it does', {
      enum: [
        ...['trigger', 'send_email', 'delay', 'wait_for_event', 'condition', 'contact_update'],
        ...['split', 'webhook', 'exit'],
      ],
    }),
    config: { type: 'object' },
  },
  required: ['key', 'type'],
}

/**
 * A connection belongs to one of the ends of a step: yes/no of a condition, received/timeout of a
 * wait, a branch of a split.
 */
const connection = {
  type: 'object',
  description: 'Leads from a step to the one after it.',
  properties: {
    from: text('The key of a step'),
    to: text('The key of a step'),
    type: text('Which of its ends', {
      enum: [
        ...['default', 'condition_met', 'condition_not_met', 'event_received', 'timeout'],
        'branch',
      ],
    }),
    branch: text('Of a split: the key of the branch'),
  },
  required: ['from', 'to', 'type'],
}

/** What holds for a whole automation; in words for the reason that steps are. */
const settings = {
  type: 'object',
  description:
    '`exitOn` [{ eventName, filter? }] ends a run wherever it is; `goal` { eventName, filter?, to? }; `timeZone`; `sendWindow` { from, to, days?, zone? }; `maxPerHour`; `onUnsubscribe` (`continue` where all mail is transactional)',
}

/**
 * The part that create and edit have in common. Steps and connections are replaced together, since
 * half of a graph is not valid.
 */
const graph: Record<string, Schema> = {
  steps: { type: 'array', items: step, maxItems: 100 },
  connections: { type: 'array', items: connection },
  settings,
}

/**
 * Counts instead of runs: an automation may have had millions, and a list of automations has to be
 * quick.
 */
const summary: Record<string, Schema> = {
  id: uuid('Never changes'),
  name,
  status,
  version: count('Of what it does now; runs go on in the version in which they began'),
  runs: closed(Object.fromEntries(runStatuses.map((one) => [one, count(`Runs that are ${one}`)]))),
  enrolledContacts: count('Contacts who have ever entered it'),
  createdAt: time('When it was made'),
  updatedAt: time('When it was last changed'),
}

/** The names of these fields are the contract's (interface.md, POST /v1/events/send). */
const started = closed(
  {
    automationId: uuid('An enabled automation that the event can start'),
    name,
    started: { type: 'boolean', description: 'A run of the contact began' },
    runId: orNull(uuid('The run that began, or the one that is under way')),
    reason: text('Why none began', {
      enum: [
        ...['already_running', 'already_entered', 'too_soon', 'filtered', 'suppressed', 'too_old'],
        'limit',
      ],
    }),
  },
  ['reason'],
)

/**
 * Enabling, disabling and archiving answer alike, so that a client needs one type for the three.
 */
const changedState = (description: string) => ({
  ...{
    id: uuid('The id that the request named'),
    status: text(description),
    message: text('For people'),
  },
})
const stateChange = (description: string) => closed(changedState(description))

/**
 * Faults that keep it from being enabled are errors; these are things that may come right before a
 * run gets there.
 */
const warnings: Schema = {
  type: 'array',
  description: 'What will fail when a step runs, such as a variable that its template lacks',
  items: closed({ key: orNull(text('The step')), error: text('What is wrong') }),
}

/** For the simulation only: nobody can know beforehand when a person opens a mail. */
const afters = (what: string): Schema => ({
  type: 'object',
  description: `How long after it was sent the mail of a step is ${what}, by the key of the step`,
  additionalProperties: { type: 'string' },
})

export const automationSchemas: Record<string, Schema> = {
  NewEvent: { type: 'object', properties: eventFields, required: ['event'] },
  NewEvents: {
    type: 'object',
    properties: {
      events: {
        type: 'array',
        minItems: 1,
        maxItems: 100,
        items: {
          type: 'object',
          properties: {
            ...eventFields,
            idempotencyKey: text('Like the header `Idempotency-Key`, but for this event only', {
              pattern: '^[\\x21-\\x7e]{1,255}$',
            }),
          },
          required: ['event'],
        },
      },
    },
    required: ['events'],
  },
  EventAccepted: closed({
    event: eventName,
    contactId: uuid('Whose event it is'),
    contactCreated: { type: 'boolean', description: 'The account did not know the address' },
    started: count('Runs that began'),
    resumed: count('Runs that were waiting for it and go on'),
    automations: { type: 'array', items: started },
  }),
  EventsAccepted: closed({
    accepted: count('Events that were taken in'),
    results: { type: 'array', items: shaped('EventAccepted') },
  }),
  NewAutomation: {
    type: 'object',
    properties: { name, ...graph },
    required: ['name', 'steps', 'connections'],
  },
  AutomationChanges: {
    type: 'object',
    description: 'What is not given stays; steps and connections are replaced as a whole.',
    properties: { name, ...graph },
  },
  AutomationCreated: closed({
    id: uuid('For the other endpoints'),
    name,
    status,
    message: text('For people'),
  }),
  AutomationState: stateChange('As it is after the request'),
  AutomationEnabled: closed({ ...changedState('As it is after the request'), warnings }),
  RunState: stateChange('`cancelled`'),
  Automation: closed(summary),
  AutomationDetail: closed(
    {
      ...summary,
      ...graph,
      warnings,
    },
    ['warnings'],
  ),
  Automations: closed({
    automations: { type: 'array', items: shaped('Automation') },
    hasMore: { type: 'boolean' },
    nextCursor: { type: ['string', 'null'], description: 'For `cursor`, to get the next page' },
  }),
  AutomationRun: closed(
    {
      id: uuid('Never changes'),
      automationId: uuid('The automation of the run'),
      version: count('The version of the automation in which it runs'),
      contactId: orNull(uuid('The contact; null once it is deleted')),
      email: { type: ['string', 'null'], description: "The contact's address" },
      status: runStatus,
      reason: {
        type: ['string', 'null'],
        description:
          'Of one that has ended: `unsubscribed`, `bounced`, `complained`, `deleted` …, or what its `exit` step says',
      },
      currentStep: { type: ['string', 'null'], description: 'Where it is or has ended' },
      startedAt: time('When its event came'),
      updatedAt: time('When it last moved'),
      // `kind` has no enum: a newer server may know another reason to wait, and generated clients may refuse what an enum lacks.
      waitingFor: {
        description: 'Null when it has ended, or goes on at once',
        oneOf: [
          { type: 'null' },
          closed(
            {
              kind: text(
                '`event`, `delay`, or why a step cannot be taken yet: `suspended`, `quota`, `paused`, `domain`, `plan`, `queue_full`, `window`, `cap`, `held`, `retry`',
              ),
              event: text('The event that it waits for'),
              reason: text('Why it is held'),
              until: orNull(time('Until then at the latest; null: until it is released')),
            },
            ['event', 'reason'],
          ),
        ],
      },
      history: {
        type: 'array',
        items: closed(
          {
            step: { type: ['string', 'null'], description: 'Null: some lines were left out' },
            at: time('When'),
            result: text('`sent`, `waited`, `received`, `timed_out`, `met`, `not_met` …'),
            emailId: uuid('Of `sent`: the mail'),
            eventId: count('Of `received`: the number of the event'),
          },
          ['emailId', 'eventId'],
        ),
      },
      why: text('Of a run that was asked for: why it is where it is and until when, in a sentence'),
    },
    ['why'],
  ),
  AutomationRuns: closed({
    runs: { type: 'array', items: shaped('AutomationRun') },
    hasMore: { type: 'boolean' },
    nextCursor: { type: ['string', 'null'], description: 'For `cursor`, to get the next page' },
  }),
  NewSimulation: {
    type: 'object',
    description: 'Who goes through it, and what happens meanwhile.',
    properties: {
      email: text('A contact of the account, or any address; this or `listId`'),
      listId: uuid('Those who came to this list last, 100 at most; only counts are told'),
      payload: { type: 'object', description: 'Of the event that begins it' },
      at: time('When that comes; now by default'),
      events: {
        type: 'array',
        maxItems: 100,
        items: {
          type: 'object',
          properties: {
            event: text('Its name'),
            at: time('When it comes'),
            after: text('Or how long after the beginning: `P2D`, `2d`, `90m`'),
            payload: { type: 'object' },
          },
          required: ['event'],
        },
      },
      opens: afters('opened'),
      clicks: afters('clicked'),
      until: time('Nothing later is told; a year by default'),
      ...graph,
    },
  },
  // Counts and no addresses: a simulation over a list must not become another way to read the list.
  Cohort: closed({
    contacts: count('Who were walked through it'),
    started: count('Those for whom a run began'),
    steps: {
      type: 'object',
      description: 'By the key of the step, how often each result came',
      additionalProperties: { type: 'object', additionalProperties: count('Times') },
    },
    ends: {
      type: 'object',
      description: 'How often each end came, such as `completed` or `exited:goal`',
      additionalProperties: count('Times'),
    },
    cut: {
      type: 'boolean',
      description:
        'Whether it took too many steps: not all contacts were walked through it to the end',
    },
  }),
  Simulation: closed({
    automationId: uuid('The id that the request named'),
    version: {
      type: ['integer', 'null'],
      description: 'Of the automation as it is kept; null for steps that were given',
    },
    lines: {
      type: 'array',
      items: closed(
        {
          at: time('When'),
          run: count('Of which run, from 0'),
          step: { type: ['string', 'null'], description: 'The key of the step' },
          type: { type: ['string', 'null'], description: 'What the step does' },
          result: text('As in the history of a run'),
          why: { type: 'object', description: 'What a condition compared, and how it came out' },
          event: closed({
            name: text('Of the event that a wait received'),
            at: time('When it came'),
            payload: { description: 'As it was sent' },
          }),
          mail: {
            oneOf: [
              closed({
                template: text('Its slug'),
                from: text('The sender'),
                subject: text('As it would be'),
                html: text('As it would be'),
                text: { type: ['string', 'null'], description: 'Null: made of the HTML' },
              }),
              closed({
                template: text('Its slug'),
                from: text('The sender'),
                fault: text('Why it cannot be rendered'),
              }),
            ],
          },
          stoppedBy: text('What would keep the mail from being made as things stand now'),
        },
        ['why', 'event', 'mail', 'stoppedBy'],
      ),
    },
    runs: {
      type: 'array',
      items: closed({
        startedAt: time('When it began'),
        endedAt: orNull(time('When it ended')),
        status: runStatus,
        reason: { type: ['string', 'null'], description: 'Why it ended' },
        currentStep: { type: ['string', 'null'], description: 'Where it stands at the end' },
      }),
    },
    refused: {
      type: 'array',
      description: 'Events that started nothing',
      items: closed({ at: time('When'), reason: text('Why') }),
    },
    cut: {
      type: 'boolean',
      description: 'Whether it went on for more than some 5,000 lines: only these are told',
    },
  }),
}
