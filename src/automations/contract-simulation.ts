import { refine } from 'superstruct'
import { addressField, answer, manyOf, operation, refusal, shape } from '../contract/index.js'
import {
  bodyId,
  closed,
  count,
  field,
  list,
  maybe,
  openObject,
  orNull,
  rule,
  structOf,
  table,
  text,
  textThat,
  time,
  uuid,
} from '../fields/index.js'
import { isJsonObject } from '../json/index.js'
import { afterMs } from '../rules/index.js'
import { whysUnseen } from '../tracking/index.js'
import { maxEvents, moment, payloadOf } from './contract-events.js'
import {
  automation,
  exampleId,
  exampleTime,
  graphChanges,
  invalidDefinition,
} from './contract-parts.js'
import { runStatus } from './contract-runs.js'

const isDuration = (text: unknown) => typeof text === 'string' && afterMs(text) !== undefined

/** Nobody can know beforehand when a person opens a mail. */
const afters = (what: string) =>
  maybe(
    field(
      rule<Record<string, string>>(
        'an object of durations by the key of a send step, such as { "welcome": "PT2H" }',
        (value) => isJsonObject(value) && Object.values(value).every(isDuration),
      ),
      {
        type: 'object',
        description: `How long after it was sent the mail of a step is ${what}, by the key of the step`,
        additionalProperties: { type: 'string' },
      },
    ),
  )

export const simulatedAddress = addressField(
  'The address of a contact of the account, or any other; this, `listId` or `segmentId`',
)

/** The world that is walked through: who, when, and what happens on the way. */
const world = table(
  {
    email: maybe(simulatedAddress),
    listId: maybe(
      bodyId(
        'A contact list: the 100 contacts who came to it last go through, and the answer has only counts',
      ),
    ),
    segmentId: maybe(bodyId('A segment: 100 of the people in it go through, as with `listId`')),
    payload: payloadOf(
      openObject(
        'The payload of the event that starts it. The list, segment or form by which the automation begins is in it without being said; where it begins on a date, `date` in it stands for what the contact has',
      ),
    ),
    at: moment(
      'When that event comes; default: now. Of what begins on a date: the first from then on',
    ),
    events: maybe(
      list(
        table({
          // A walk may also play the appliance's own events, which begin with $.
          event: textThat(
            'the name of an event',
            (name) => /^[$A-Za-z0-9_.:-]{1,100}$/.test(name),
            text('The name of the event'),
          ),
          at: moment('When the event comes; this or `after`'),
          after: maybe(
            textThat(
              'a duration after the start, such as "P2D" or "2d"',
              isDuration,
              text('How long after the beginning it comes: `P2D`, `2d`, `90m`'),
            ),
          ),
          payload: payloadOf(openObject('The payload of the event')),
        }),
        { most: maxEvents, about: 'What else happens to the contact' },
      ),
    ),
    opens: afters('opened'),
    clicks: afters('clicked'),
    until: moment('When the simulation ends; default: a year after its beginning'),
    ...graphChanges,
  },
  { about: 'Who goes through it, and what happens meanwhile.' },
)
const newSimulation = field(
  refine(structOf(world), 'required', ({ email, listId, segmentId }) => {
    if ([email, listId, segmentId].filter((one) => one !== undefined).length === 1) return true
    const message = 'Expected one of email, listId and segmentId, and no other of them'
    return { path: ['email'], key: 'email', value: undefined, type: 'string', message }
  }),
  world.schema,
)

const refusalsAbout =
  'such as `already_running`; `no_date`: it begins on a date, and no such day comes; `unreadable_date`: what stands in that field is no day, such as `1990-02-28`'

const unseenDeeds = () => ({
  ...manyOf({
    step: text('The key of the step that sends the mail'),
    deed: { type: 'string', enum: ['opened', 'clicked'], description: 'What is done with it' },
    why: {
      type: 'string',
      enum: whysUnseen,
      description:
        'Why nobody sees it: `unreachable`, the server has no public address; `domain`, `account` or `settings`, which have it off; `transactional`, such mail is not measured unless domain or account say so; `light`, the mail has no picture and too few words for the pixel',
    },
  }),
  description:
    'What `opens` and `clicks` say and nobody would see as things stand now: it is not heard, as when the automation runs',
})

// Counts and no addresses: a simulation over a list must not become another way to read the list.
const cohort = () => ({
  contacts: count('How many contacts were walked through it'),
  started: count('For how many of them a run began'),
  refused: {
    type: 'object',
    description: `For how many none began, by why: ${refusalsAbout}`,
    additionalProperties: count('How many'),
  },
  steps: {
    type: 'object',
    description: 'How often each step had each result: by the key of the step, then by the result',
    additionalProperties: { type: 'object', additionalProperties: count('How often') },
  },
  ends: {
    type: 'object',
    description: 'How often each end came, such as `completed` or `exited:goal`',
    additionalProperties: count('How often'),
  },
  unseen: unseenDeeds(),
  cut: {
    type: 'boolean',
    description:
      'True: it took too many steps, and not all contacts were walked through it to the end',
  },
})

const simulation = () => ({
  automationId: uuid('The id that the request named'),
  version: orNull({
    type: 'integer',
    description: 'The version that was simulated; null when the request gave steps of its own',
  }),
  lines: {
    type: 'array',
    items: closed(
      {
        at: time('When this happens'),
        run: count('The run that the line belongs to, counted from 0'),
        step: orNull(text('The key of the step; null where lines were left out')),
        type: orNull(text('The type of the step; null where lines were left out')),
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
              text: orNull(text('The text part; null: it is made of the HTML')),
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
  runs: manyOf({
    startedAt: time('When the run began'),
    endedAt: orNull(time('When the run ended; null: it is still under way')),
    status: runStatus,
    reason: orNull(text('Why the run ended; null where there is nothing to say')),
    currentStep: orNull(
      text('The key of the step where it is still under way; null when it has ended'),
    ),
  }),
  refused: {
    ...manyOf({
      at: time('When the event came'),
      reason: text(`Why no run began: ${refusalsAbout}`),
    }),
    description: 'Events that could have started a run, but did not',
  },
  unseen: unseenDeeds(),
  cut: {
    type: 'boolean',
    description: 'True: there were more than some 5,000 lines, and only these are told',
  },
})

// A POST that changes nothing: what is walked through may be a whole graph, which no query has room for.
export const simulateAutomation = operation('POST /v1/automations/:id/simulate', {
  id: 'simulateAutomation',
  may: 'read',
  of: automation,
  body: shape('NewSimulation', newSimulation),
  says: () => ({
    summary: 'Walk somebody through an automation',
    description:
      'Nothing is written or sent. The same code walks that runs the automation, with a clock of its own.',
    examples: {
      'Paid after two days': {
        email: 'ann@example.org',
        payload: { plan: 'pro' },
        events: [{ event: 'order.paid', after: 'P2D' }],
      },
    },
    answers: [
      answer('What would happen', 'Simulation', simulation(), {
        automationId: exampleId,
        version: 1,
        lines: [{ at: exampleTime, run: 0, step: 'start', type: 'trigger', result: 'started' }],
        runs: [
          {
            startedAt: exampleTime,
            endedAt: exampleTime,
            status: 'completed',
            reason: null,
            currentStep: null,
          },
        ],
        refused: [],
        unseen: [],
        cut: false,
      }),
      answer('With `listId` or `segmentId`', 'Cohort', cohort(), {
        contacts: 100,
        started: 98,
        refused: { filtered: 2 },
        steps: { start: { started: 98 }, paid: { received: 40, timed_out: 58 } },
        ends: { completed: 98 },
        unseen: [],
        cut: false,
      }),
    ],
    refusals: [
      // A list of another account looks like one that does not exist.
      refusal(
        'not_found',
        'The account has no such list or segment',
        'The account has no contact list with this id',
      ),
      invalidDefinition(
        'The steps or connections that were given are wrong, or `opens` and `clicks` name no send step',
      ),
    ],
  }),
})
