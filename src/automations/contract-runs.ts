import {
  type AnswerExample,
  accountRefusals,
  addressField,
  answer,
  byId,
  foreignCursor,
  manyOf,
  operation,
  pageFields,
  pageParams,
  refusal,
  shape,
} from '../contract/index.js'
import {
  bodyId,
  closed,
  count,
  maybe,
  orNull,
  queryWhole,
  table,
  text,
  textThat,
  time,
  uuid,
  words,
} from '../fields/index.js'
import {
  automation,
  exampleId,
  exampleTime,
  maxPage,
  stateFields,
  usualPage,
} from './contract-parts.js'
import { entryRefusals, runStatuses } from './runs/status.js'

const run = byId('run', 'automation run')

export const runStatus = text('`running` and `waiting` are under way, the others have ended', {
  enum: runStatuses,
})
const known = {
  id: uuid('The id of the run, which never changes'),
  automationId: uuid('The automation of the run'),
  version: count('The version of the automation in which it runs'),
  contactId: orNull(uuid('The contact; null once it is deleted')),
  email: orNull(text('The address of the contact; null once it is deleted')),
  status: runStatus,
  reason: orNull(
    text(
      'Why the run has ended: `unsubscribed`, `bounced`, `complained`, `deleted` …, or what its `exit` step says; null while it is under way, and where there is nothing to say',
    ),
  ),
  currentStep: orNull(text('The key of the step at which the run is or has ended')),
  startedAt: time('When the event that started the run came'),
  updatedAt: time('When the run last moved, or ended'),
  // `kind` has no enum: a newer server may know another reason to wait, and generated clients may refuse what an enum
  // lacks.
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
        step: orNull(text('The key of the step; null where lines were left out')),
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
}
const runId = '01a1fc92-0000-7000-8000-5f0e1c2d3b4b'
// A run that waits, as that state has the most fields that are not null.
const example = {
  id: runId,
  automationId: exampleId,
  version: 1,
  contactId: '01a1fc92-0000-7000-8000-5f0e1c2d3b4c',
  email: 'ann@example.org',
  status: 'waiting',
  reason: null,
  currentStep: 'paid',
  startedAt: exampleTime,
  updatedAt: exampleTime,
  waitingFor: { kind: 'event', event: 'order.paid', until: '2026-12-03T10:00:00.000Z' },
  history: [
    { step: 'start', at: exampleTime, result: 'started' },
    { step: 'welcome', at: exampleTime, result: 'sent', emailId: runId },
  ],
}

export const listRuns = operation('GET /v1/automations/:id/runs', {
  id: 'listRuns',
  may: 'read',
  of: automation,
  query: {
    status: maybe(
      textThat(
        `one or more of ${runStatuses.join(', ')}, separated by commas`,
        (value) => value.split(',').every((one) => runStatuses.some((status) => status === one)),
        text('Only runs with this status, or one of several with commas: `running,waiting`'),
      ),
    ),
    step: maybe(
      words(
        'Only runs that are at the step with this key now; with `status` also those that ended there',
      ),
    ),
    version: maybe(queryWhole(1, 1_000_000_000, 'Only those in this version')),
    waiting: maybe(
      words(
        'Only runs that cannot go on by themselves: `held`, or why their step cannot be taken yet, as in `waitingFor`; not with `status`',
      ),
    ),
    reason: maybe(
      words('Only runs that ended for this reason, with the one `status` by which they ended'),
    ),
    email: maybe(addressField('Only those of the contact with this address')),
    ...pageParams(usualPage, maxPage),
  },
  says: () => ({
    summary: 'The runs of an automation',
    description:
      'All filters that are given hold. A page of some statuses may have fewer than `limit`, or none, and yet `hasMore`: go on by `nextCursor`.',
    answers: [
      answer(
        'Newest first',
        'AutomationRuns',
        { runs: manyOf('AutomationRun'), ...pageFields },
        { runs: [example], hasMore: false, nextCursor: null },
      ),
    ],
    refusals: [
      foreignCursor,
      refusal(
        'validation_error',
        'No version has the step, or the filters do not go together',
        'The automation has no step "welcom"',
        { status: 422 },
      ),
    ],
  }),
})

// The path of a run does not name its automation, so runs are looked up by the account alone.
export const getRun = operation('GET /v1/automations/runs/:id', {
  id: 'getRun',
  may: 'read',
  of: run,
  says: () => {
    const why = 'waits for `order.paid` until 3 Dec 10:00 UTC, then branch timeout, to `remind`'
    const one: AnswerExample = {
      status: 200,
      when: 'The run',
      shape: 'AutomationRun',
      schema: closed(known, ['why']),
      value: { ...example, why },
    }
    return { summary: 'One run', answers: [one] }
  },
})

export const startRun = operation('POST /v1/automations/:id/runs', {
  id: 'startRun',
  may: 'full',
  audit: 'run.start',
  of: automation,
  body: shape('NewRun', table({ contactId: bodyId('The contact') })),
  says: () => ({
    summary: 'Start an enabled automation for one contact',
    description:
      'Whatever event it waits for: the run begins by the event `$started`, without a payload. Its filter, how often a contact may enter it, and suppressions apply.',
    examples: { 'A contact': { contactId: example.contactId } },
    answers: [
      answer(
        'The run has begun',
        'RunStarted',
        { ...stateFields('`running`') },
        { id: runId, status: 'running', message: 'Automation started for the contact' },
        201,
      ),
    ],
    refusals: [
      refusal(
        'not_found',
        'The account has no such contact',
        'The account has no contact with this id',
      ),
      refusal(
        'validation_error',
        'The automation is not enabled',
        '“Welcome” is draft: only an enabled automation starts runs',
        { status: 422 },
      ),
      refusal('conflict', 'The contact does not enter', 'They are in this automation now', {
        shape: 'NotStarted',
        fields: { reason: text('Why', { enum: entryRefusals }) },
        example: { reason: 'already_running' },
      }),
      refusal(
        'service_unavailable',
        'As many runs are live as may be',
        'Too many runs of automations are live; try again later',
      ),
      ...accountRefusals,
    ],
  }),
})

export const cancelRun = operation('POST /v1/automations/runs/:id/cancel', {
  id: 'cancelRun',
  may: 'full',
  audit: 'run.cancel',
  of: run,
  says: () => ({
    summary: 'Stop a run',
    answers: [
      answer('It has ended', 'RunState', stateFields('The status of the run, `cancelled`'), {
        id: runId,
        status: 'cancelled',
        message: 'Run cancelled',
      }),
    ],
    refusals: [
      refusal('conflict', 'The run has ended', 'The run has ended already: it is completed'),
    ],
  }),
})
