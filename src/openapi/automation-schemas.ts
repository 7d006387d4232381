import { confirmation, pageFields } from '../contract/index.js'
import {
  alternative,
  closed,
  count,
  openObject,
  orNull,
  ownData,
  type Schema,
  shaped,
  text,
  time,
  uuid,
} from '../fields/index.js'

/*
 * The bodies of automations and events.
 */
const eventName = text('The name of the event: 1 to 100 of A-Z, a-z, 0-9, `_`, `.`, `:` and `-`', {
  pattern: '^[A-Za-z0-9_.:-]{1,100}$',
})
const name = text('The name of the automation, for yourself', { minLength: 1, maxLength: 200 })
const status = text('`disabled`: no event starts it; `archived`: it is stopped for good', {
  enum: ['disabled', 'enabled', 'archived'],
})
const runStatuses = ['running', 'waiting', 'completed', 'exited', 'failed', 'cancelled']
const runStatus = text('`running` and `waiting` are under way, the others have ended', {
  enum: runStatuses,
})

/** Shared by the single event and the batch of events, which must not differ. */
const eventFields: Record<string, Schema> = {
  event: eventName,
  contactId: uuid('The id of the contact; needed unless `email` is given'),
  email: text(
    'The address of the contact; one that the account does not know becomes a contact on no list',
  ),
  payload: ownData(
    'Data of your own, which conditions and templates see as `event` and `trigger`; at most 16 KiB as JSON',
  ),
  occurredAt: time(
    'When the event happened; default: now. One that is older than 24 hours starts nothing, a time more than 5 minutes ahead is a 422',
  ),
}

/** An event is of one contact. */
const whose = [alternative('By id', 'contactId'), alternative('By address', 'email')]

/**
 * `config` is described in words and not as one schema a type: generated clients make of twelve
 * alternatives something that nobody can use, and the errors of the API name the field anyway.
 */
const step = {
  type: 'object',
  description:
    'A step. `config` by `type`: `trigger` { eventName, filter?, reentry? }; `send_email` { template, from, subject?, replyTo?, variables?, type?, topicId?, templateVersion? }; `delay` { duration } or { until: { time, days?, zone? } }; `wait_for_event` { eventName, filter?, timeout?, since? }; `condition` a rule; `contact_update` { firstName?, lastName?, metadata? }; `split` { branches: [{ key, percent }] }; `webhook` { endpointId, payload? }; `exit` { reason? }. Durations are ISO 8601 (`P3D`, `PT2H`). A rule is { field, operator, value } or { all | any: [rules] } or { not: rule }; fields are `contact.…`, `trigger.…`, `event.…`, `waits.KEY.…` and `email.KEY.opened` (`clicked`, `delivered`, `bounced`); operators `eq`, `neq`, `gt`, `gte`, `lt`, `lte`, `in`, `contains`, `not_contains`, `starts_with`, `ends_with`, `exists`, `is_empty`; a value { var: field } is that field. Events are your own and Posthorn’s: `$contact.created`, `$list.joined`, `$email.opened`, `$email.clicked`, `$email.bounced` (a bounce that suppresses the address ends the runs of its contact and starts none).',
  properties: {
    key: text('The name of the step in this automation', { pattern: '^[a-z0-9_-]{1,64}$' }),
    type: text('What the step does', {
      enum: [
        'trigger',
        'send_email',
        'delay',
        'wait_for_event',
        'condition',
        'contact_update',
        'split',
        'webhook',
        'exit',
      ],
    }),
    config: openObject('The settings of the step, which depend on `type`'),
  },
  required: ['key', 'type'],
}

/**
 * A connection belongs to one of the ends of a step: yes/no of a condition, received/timeout of a
 * wait, a branch of a split.
 */
const connection = {
  type: 'object',
  description: 'Leads from one step to the next.',
  properties: {
    from: text('The key of the step that it leaves'),
    to: text('The key of the step that it leads to'),
    type: text('By which result of the step it leaves; `default` where there is only one', {
      enum: [
        'default',
        'condition_met',
        'condition_not_met',
        'event_received',
        'timeout',
        'branch',
      ],
    }),
    branch: text('The key of the branch, only with the type `branch`'),
  },
  required: ['from', 'to', 'type'],
}

/** What holds for a whole automation; in words for the reason that steps are. */
const settings = openObject(
  'Settings of the whole automation: `exitOn` [{ eventName, filter? }] ends a run wherever it is; `goal` { eventName, filter?, to? }; `timeZone`; `sendWindow` { from, to, days?, zone? }; `maxPerHour`; `onUnsubscribe` (`continue` where all mail is transactional)',
)

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
  id: uuid('The id of the automation, which never changes'),
  name,
  status,
  version: count('The version of its steps now; runs go on in the version in which they began'),
  runs: closed(
    Object.fromEntries(
      runStatuses.map((one) => [one, count(`How many runs have the status \`${one}\``)]),
    ),
  ),
  enrolledContacts: count('How many contacts have ever entered it'),
  createdAt: time('When the automation was made'),
  updatedAt: time('When the automation was last changed'),
}

/** The names of these fields are the contract's (interface.md, POST /v1/events/send). */
const started = closed(
  {
    automationId: uuid('The id of an enabled automation that the event can start'),
    name,
    started: { type: 'boolean', description: 'Whether a run of the contact began' },
    runId: orNull(uuid('The run that began, or the one that is under way; null: there is none')),
    reason: text('Why no run began; absent when one did', {
      enum: [
        'already_running',
        'already_entered',
        'too_soon',
        'filtered',
        'suppressed',
        'too_old',
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
  id: uuid('The id that the request named'),
  status: text(description),
  message: confirmation,
})
const stateChange = (description: string) => closed(changedState(description))

/**
 * Faults that keep it from being enabled are errors; these are things that may come right before a
 * run gets there.
 */
const warnings: Schema = {
  type: 'array',
  description:
    'What may fail when a step runs, such as a variable that its template needs and does not get',
  items: closed({
    key: orNull(text('The key of the step; null for what concerns no single step')),
    error: text('What may fail there'),
  }),
}

/** For the simulation only: nobody can know beforehand when a person opens a mail. */
const afters = (what: string): Schema => ({
  type: 'object',
  description: `How long after it was sent the mail of a step is ${what}, by the key of the step`,
  additionalProperties: { type: 'string' },
})

export const automationSchemas: Record<string, Schema> = {
  NewEvent: {
    type: 'object',
    properties: eventFields,
    required: ['event'],
    anyOf: whose,
  },
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
          description: 'One of `contactId` and `email` is needed.',
        },
      },
    },
    required: ['events'],
  },
  EventAccepted: closed({
    event: eventName,
    contactId: uuid('The contact whose event it is'),
    contactCreated: { type: 'boolean', description: 'True: the contact is new to the account' },
    started: count('How many runs began'),
    resumed: count('How many runs waited for the event and go on'),
    automations: {
      type: 'array',
      description: 'The enabled automations that begin with the event',
      items: started,
    },
  }),
  EventsAccepted: closed({
    accepted: count('How many events were taken in'),
    results: { type: 'array', items: shaped('EventAccepted') },
  }),
  NewAutomation: {
    type: 'object',
    properties: { name, ...graph },
    required: ['name', 'steps', 'connections'],
  },
  AutomationChanges: {
    type: 'object',
    description:
      'Fields that are not given stay as they are; steps and connections are replaced as a whole.',
    properties: { name, ...graph },
  },
  AutomationCreated: closed({
    id: uuid('The id of the automation, for the other endpoints'),
    name,
    status,
    message: confirmation,
  }),
  AutomationState: stateChange('The status after the request'),
  AutomationEnabled: closed({ ...changedState('The status after the request'), warnings }),
  RunState: stateChange('The status of the run, `cancelled`'),
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
    ...pageFields,
  }),
  AutomationRun: closed(
    {
      id: uuid('The id of the run, which never changes'),
      automationId: uuid('The automation of the run'),
      version: count('The version of the automation in which it runs'),
      contactId: orNull(uuid('The contact; null once it is deleted')),
      email: {
        type: ['string', 'null'],
        description: 'The address of the contact; null once it is deleted',
      },
      status: runStatus,
      reason: {
        type: ['string', 'null'],
        description:
          'Why the run has ended: `unsubscribed`, `bounced`, `complained`, `deleted` …, or what its `exit` step says; null while it is under way, and where there is nothing to say',
      },
      currentStep: {
        type: ['string', 'null'],
        description: 'The key of the step at which the run is or has ended',
      },
      startedAt: time('When the event that started the run came'),
      updatedAt: time('When the run last moved, or ended'),
      // `kind` has no enum: a newer server may know another reason to wait, and generated clients may refuse what an enum lacks.
      waitingFor: {
        description: 'What the run waits for; null when it has ended, or goes on at once',
        oneOf: [
          { type: 'null' },
          closed(
            {
              kind: text(
                'What it is: `event`, `delay`, or why a step cannot be taken yet: `suspended`, `quota`, `paused`, `domain`, `plan`, `queue_full`, `window`, `cap`, `held`, `retry`',
              ),
              event: text('The name of the event, when the kind is `event`'),
              reason: text('Why it is held, when the kind is `held`'),
              until: orNull(
                time(
                  'When the run goes on at the latest; null when it is held until the operator releases it',
                ),
              ),
            },
            ['event', 'reason'],
          ),
        ],
      },
      history: {
        type: 'array',
        items: closed(
          {
            step: {
              type: ['string', 'null'],
              description: 'The key of the step; null where lines were left out',
            },
            at: time('When this happened'),
            result: text(
              'What came of the step: `sent`, `waited`, `received`, `timed_out`, `met`, `not_met` …',
            ),
            emailId: uuid('The id of the mail, when the result is `sent`'),
            eventId: count('The number of the event, when the result is `received`'),
          },
          ['emailId', 'eventId'],
        ),
      },
      why: text('Why the run is where it is and until when, in a sentence; not in lists'),
    },
    ['why'],
  ),
  AutomationRuns: closed({
    runs: { type: 'array', items: shaped('AutomationRun') },
    ...pageFields,
  }),
  NewSimulation: {
    type: 'object',
    description: 'Who goes through it, and what happens meanwhile.',
    properties: {
      email: text('The address of a contact of the account, or any other; this or `listId`'),
      listId: uuid(
        'A contact list: the 100 contacts who came to it last go through, and the answer has only counts',
      ),
      payload: openObject('The payload of the event that starts it'),
      at: time('When that event comes; default: now'),
      events: {
        type: 'array',
        description: 'What else happens to the contact',
        maxItems: 100,
        items: {
          type: 'object',
          properties: {
            event: text('The name of the event'),
            at: time('When the event comes; this or `after`'),
            after: text('How long after the beginning it comes: `P2D`, `2d`, `90m`'),
            payload: openObject('The payload of the event'),
          },
          required: ['event'],
        },
      },
      opens: afters('opened'),
      clicks: afters('clicked'),
      until: time('When the simulation ends; default: a year after its beginning'),
      ...graph,
    },
  },
  // Counts and no addresses: a simulation over a list must not become another way to read the list.
  Cohort: closed({
    contacts: count('How many contacts were walked through it'),
    started: count('For how many of them a run began'),
    steps: {
      type: 'object',
      description:
        'How often each step had each result: by the key of the step, then by the result',
      additionalProperties: { type: 'object', additionalProperties: count('How often') },
    },
    ends: {
      type: 'object',
      description: 'How often each end came, such as `completed` or `exited:goal`',
      additionalProperties: count('How often'),
    },
    cut: {
      type: 'boolean',
      description:
        'True: it took too many steps, and not all contacts were walked through it to the end',
    },
  }),
  Simulation: closed({
    automationId: uuid('The id that the request named'),
    version: {
      type: ['integer', 'null'],
      description: 'The version that was simulated; null when the request gave steps of its own',
    },
    lines: {
      type: 'array',
      items: closed(
        {
          at: time('When this happens'),
          run: count('The run that the line belongs to, counted from 0'),
          step: {
            type: ['string', 'null'],
            description: 'The key of the step; null where lines were left out',
          },
          type: {
            type: ['string', 'null'],
            description: 'The type of the step; null where lines were left out',
          },
          result: text('What came of the step, as in the history of a run'),
          why: openObject('What a condition compared, and how it came out'),
          event: closed({
            name: text('The name of the event that a wait received'),
            at: time('When the event came'),
            payload: { description: 'The payload of the event' },
          }),
          mail: {
            description: 'The mail of a send step; only for the first 20 of them',
            oneOf: [
              closed({
                template: text('The slug of the template'),
                from: text('The sender'),
                subject: text('The subject, as it would be sent'),
                html: text('The HTML, as it would be sent'),
                text: {
                  type: ['string', 'null'],
                  description: 'The text part; null: it is made of the HTML',
                },
              }),
              closed({
                template: text('The slug of the template'),
                from: text('The sender'),
                fault: text('Why the template cannot be filled in'),
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
        startedAt: time('When the run began'),
        endedAt: orNull(time('When the run ended; null: it is still under way')),
        status: runStatus,
        reason: {
          type: ['string', 'null'],
          description: 'Why the run ended; null where there is nothing to say',
        },
        currentStep: {
          type: ['string', 'null'],
          description: 'The key of the step where it is still under way; null when it has ended',
        },
      }),
    },
    refused: {
      type: 'array',
      description: 'Events that could have started a run, but did not',
      items: closed({
        at: time('When the event came'),
        reason: text('Why no run began, such as `already_running`'),
      }),
    },
    cut: {
      type: 'boolean',
      description: 'True: there were more than some 5,000 lines, and only these are told',
    },
  }),
}
