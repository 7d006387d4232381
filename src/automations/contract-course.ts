import { refine } from 'superstruct'
import {
  accountRefusals,
  answer,
  confirmation,
  manyOf,
  operation,
  refusal,
  shape,
} from '../contract/index.js'
import {
  bodyId,
  closed,
  count,
  field,
  flag,
  list,
  maybe,
  oneOf,
  orNull,
  structOf,
  table,
  text,
  time,
  uuid,
  whole,
  words,
} from '../fields/index.js'
import { meantRuns } from './contract-cancel.js'
import {
  automation,
  dryRun,
  exampleId,
  exampleTime,
  stateFields,
  wasDry,
} from './contract-parts.js'
import { releases } from './runs/hold.js'
import { entryRefusals } from './runs/status.js'

const archived = () => refusal('conflict', 'It is archived', 'The automation is archived')
const neverEnabled = () =>
  refusal('conflict', 'It was never enabled', '“Welcome” was never enabled, so nobody is in it')

export const pauseAutomation = operation('POST /v1/automations/:id/pause', {
  id: 'pauseAutomation',
  may: 'full',
  audit: 'automation.pause',
  of: automation,
  body: shape('AutomationPause', table({ dryRun }, { noOthers: true })),
  says: () => ({
    summary: 'Let nobody take a step in an automation',
    examples: { 'At once': {}, 'What would happen': { dryRun: true } },
    description:
      'Events still start runs and end waits. Whoever falls due meanwhile is held until it is resumed.',
    answers: [
      answer(
        'It is paused, or what would happen; a repeat changes nothing',
        'AutomationPaused',
        {
          ...stateFields('The status, which stays as it was'),
          dryRun: wasDry,
          pausedAt: orNull(time('Since when; null: it is not, as only a dry run says')),
        },
        {
          id: exampleId,
          status: 'enabled',
          message: 'Automation paused: nobody takes a step until it is resumed',
          dryRun: false,
          pausedAt: exampleTime,
        },
      ),
    ],
    refusals: [archived()],
  }),
})

const mails = (about: string) => count(about)

export const resumeAutomation = operation('POST /v1/automations/:id/resume', {
  id: 'resumeAutomation',
  may: 'full',
  audit: 'automation.resume',
  of: automation,
  body: shape(
    'AutomationResume',
    table(
      {
        overdue: maybe(
          oneOf(
            releases,
            'What becomes of what fell due meanwhile: `shift` (the default) puts every time off by as long as the pause was, `now` goes on at once, `skip` goes on at once but leaves out the mails',
          ),
        ),
        dryRun,
      },
      { noOthers: true },
    ),
  ),
  says: () => ({
    summary: 'Let a paused automation go on',
    description: 'It also releases runs that are held after a restore or a long standstill.',
    examples: {
      'As if no time had passed': { overdue: 'shift' },
      'What would happen': { dryRun: true },
    },
    answers: [
      answer(
        'It goes on, or what would happen',
        'AutomationResumed',
        {
          ...stateFields('The status, which stays as it was'),
          dryRun: wasDry,
          held: count('How many runs were held'),
          released: count('How many of them were released at once; the rest follows by itself'),
          mailsAtOnce: closed({
            shift: mails('How many mails `shift` would send at once, at most'),
            now: mails('How many mails `now` would send at once, at most'),
            skip: mails('How many mails `skip` would send at once, at most'),
          }),
          isAll: flag(
            'False: so many runs are held that only the first of them were counted, and there are more mails',
          ),
        },
        {
          id: exampleId,
          status: 'enabled',
          message: 'Automation resumed: 12 runs go on',
          dryRun: false,
          held: 12,
          released: 12,
          mailsAtOnce: { shift: 0, now: 9, skip: 0 },
          isAll: true,
        },
      ),
    ],
    refusals: [
      archived(),
      refusal(
        'conflict',
        'Nothing is held',
        '“Welcome” is not paused, and none of its runs is held',
      ),
    ],
  }),
})

/** The most runs that one request moves: its client waits for them. */
export const mostMoved = 10_000

const otherStep = shape(
  'StepInstead',
  table({
    step: words('The key of the step at which the runs are'),
    begins: words('The key of the step of the version that they begin at once, in place of it'),
  }),
)

const movedOnly = shape('RunsToMove', table(meantRuns, { noOthers: true }))

export const moveRuns = operation('POST /v1/automations/:id/move', {
  id: 'moveRuns',
  may: 'full',
  audit: 'automation.move',
  of: automation,
  body: shape(
    'RunsMove',
    table(
      {
        version: maybe(
          whole('A version that was enabled once; default: the newest of these', { least: 1 }),
        ),
        instead: maybe(
          list(otherStep, {
            most: 100,
            about:
              'Where runs go whose step the version has not, or has as another thing; without it they stay',
          }),
        ),
        only: maybe(movedOnly),
        dryRun,
      },
      { noOthers: true },
    ),
  ),
  says: () => ({
    summary: 'Let runs of older versions go on by the steps of another',
    description: `A run moves if the version has a step with the key and type of the one at which it is, a wait for the same event. What it waits for stays as it is. Whose step the version has not stays, unless \`instead\` names a step for it. One request moves about ${mostMoved.toLocaleString('en')} runs: ask again while \`left\` is more than 0.`,
    examples: {
      'What would move': { dryRun: true },
      'To the second version': { version: 2 },
      'Whose step is gone': { instead: [{ step: 'paid', begins: 'thanks' }] },
    },
    answers: [
      answer(
        'They have moved, or what would happen',
        'RunsMoved',
        {
          version: count('The version to which they move'),
          dryRun: wasDry,
          moved: count('How many have moved'),
          left: count('How many are still to move'),
          groups: {
            ...manyOf({
              version: count('The version in which the runs are'),
              step: text('The key of the step at which they are'),
              type: text('The type of that step'),
              runs: count('How many'),
              stays: orNull(text('Why they stay; null: they move')),
              begins: orNull(
                text(
                  'The key of the step that they begin instead; null: they stay, or go on at their own',
                ),
              ),
            }),
            description: 'Runs of other versions, by step; after a move those that are left',
          },
        },
        {
          version: 2,
          dryRun: false,
          moved: 120,
          left: 0,
          groups: [
            {
              version: 1,
              step: 'paid',
              type: 'wait_for_event',
              runs: 4,
              stays: 'version 2 has no step paid',
              begins: null,
            },
          ],
        },
      ),
    ],
    refusals: [
      neverEnabled(),
      refusal(
        'validation_error',
        'No such version was ever enabled',
        'There is no version 7 that was ever enabled',
        { status: 422 },
      ),
    ],
  }),
})

/** How many runs begin in an hour where the request does not say. */
export const usualPerHour = 1_000
/** The most that a request may say. */
export const mostPerHour = 1_000_000

const whom = table(
  {
    listId: maybe(bodyId('The people of this list; this or `segmentId`')),
    segmentId: maybe(bodyId('Those who are in this segment now; this or `listId`')),
    perHour: maybe(
      whole('How many begin in an hour; default: 1000', { least: 1, most: mostPerHour }),
    ),
    dryRun,
  },
  { noOthers: true },
)
const newStart = field(
  refine(structOf(whom), 'required', ({ listId, segmentId }) => {
    if ((listId === undefined) !== (segmentId === undefined)) return true
    const message = 'Expected either listId or segmentId'
    return { path: ['listId'], key: 'listId', value: undefined, type: 'string', message }
  }),
  whom.schema,
)

const startFields = {
  listId: orNull(uuid('The list; null: it is a segment')),
  segmentId: orNull(uuid('The segment; null: it is a list')),
  perHour: count('How many begin in an hour'),
  seen: count('How many people were looked at so far'),
  started: count('For how many of them it has begun'),
  startedAt: time('When the start was asked for'),
  endedAt: orNull(time('When it came to its end or was stopped; null: it is under way')),
}
const startExample = {
  listId: exampleId,
  segmentId: null,
  perHour: 500,
  seen: 1200,
  started: 1100,
  startedAt: exampleTime,
  endedAt: null,
}
const underWay = (when: string) => answer(when, 'CrowdStart', startFields, startExample)

export const startForCrowd = operation('POST /v1/automations/:id/start', {
  id: 'startForCrowd',
  may: 'full',
  audit: 'automation.start-many',
  of: automation,
  body: shape('NewCrowdStart', newStart),
  says: () => ({
    summary: 'Start an automation for a list or a segment',
    description:
      'Whatever event it waits for. Its filter, how often a contact may enter it, and suppressions apply. The appliance starts so many an hour and goes on after a restart.',
    examples: {
      'Who would enter': { listId: exampleId, dryRun: true },
      'A list, slowly': { listId: exampleId, perHour: 500 },
    },
    answers: [
      answer(
        'It has begun, or what would happen',
        'CrowdStarted',
        {
          dryRun: wasDry,
          name: text('The name of the list or segment'),
          people: count('How many people were looked at'),
          starts: count('How many of them would enter now'),
          again: count('How many of these have been in it before, and go through it again'),
          refused: {
            type: 'object',
            description: `How many would not, by the reason: ${entryRefusals.join(', ')}`,
            additionalProperties: count('How many'),
          },
          isAll: flag('False: only the first people were looked at, and there are more'),
          perHour: count('How many begin in an hour'),
          message: confirmation,
        },
        {
          dryRun: false,
          name: 'Readers',
          people: 1200,
          starts: 1100,
          again: 40,
          refused: { suppressed: 100 },
          isAll: true,
          perHour: 500,
          message: 'It begins for “Readers”, 500 people an hour',
        },
      ),
    ],
    refusals: [
      refusal(
        'not_found',
        'There is no such list or segment',
        'The account has no list with this id',
      ),
      refusal(
        'validation_error',
        'The automation is not enabled',
        '“Welcome” is disabled: only an enabled automation starts runs',
        { status: 422 },
      ),
      refusal(
        'validation_error',
        'It begins on a date',
        '“Birthday” begins for each person on a day of their own, so it cannot be started for a list or a segment: whoever has the date enters when the day comes',
        { status: 422 },
      ),
      refusal(
        'conflict',
        'A start is under way',
        'A start is under way: stop it first, or let it come to its end',
      ),
      ...accountRefusals,
    ],
  }),
})

const noStart = () =>
  refusal('conflict', 'There is none', 'No start over a list or a segment is under way')

export const getCrowdStart = operation('GET /v1/automations/:id/start', {
  id: 'getCrowdStart',
  may: 'read',
  of: automation,
  says: () => ({
    summary: 'How far the last start for a list or a segment is',
    answers: [underWay('The last one')],
    refusals: [
      refusal(
        'not_found',
        'It was never started for a list or a segment',
        'The automation was never started for a list or a segment',
      ),
    ],
  }),
})

export const stopCrowdStart = operation('DELETE /v1/automations/:id/start', {
  id: 'stopCrowdStart',
  may: 'full',
  audit: 'automation.stop-many',
  of: automation,
  says: () => ({
    summary: 'Stop a start for a list or a segment',
    description: 'Runs that have begun go on.',
    answers: [underWay('It is stopped; how far it was')],
    refusals: [noStart()],
  }),
})

export const automationStanding = operation('GET /v1/automations/:id/standing', {
  id: 'automationStanding',
  may: 'read',
  of: automation,
  says: () => ({
    summary: 'How the runs of an automation stand, step by step',
    answers: [
      answer(
        'Steps of the version that is shown, and of others where somebody is',
        'AutomationStanding',
        {
          pausedAt: orNull(time('Since when it is paused; null: it is not')),
          steps: manyOf({
            version: count('The version'),
            key: text('The key of the step'),
            type: text('Its type'),
            present: count('How many runs stand there now'),
            counts: orNull({
              type: 'object',
              description:
                'What has happened there: `entered`, `done`, `met`, `timed_out`, `mails`, `opened` …; null: the version was never enabled',
              additionalProperties: count('How often'),
            }),
          }),
          waits: {
            ...manyOf({
              kind: text('`held` until somebody resumes it, or `blocked` for want of something'),
              reason: text('Why'),
              runs: count('How many runs'),
            }),
            description: 'Why runs do not go on that could by their time',
          },
        },
        {
          pausedAt: null,
          steps: [
            {
              version: 1,
              key: 'welcome',
              type: 'send_email',
              present: 0,
              counts: { entered: 352, done: 352, mails: 352, opened: 120 },
            },
          ],
          waits: [{ kind: 'blocked', reason: 'quota', runs: 12 }],
        },
      ),
    ],
  }),
})
