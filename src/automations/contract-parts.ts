import { byId, confirmation, manyOf, refusal } from '../contract/index.js'
import {
  field,
  flag,
  maybe,
  openObject,
  orNull,
  rule,
  type Schema,
  text,
  uuid,
} from '../fields/index.js'
import { isJsonObject } from '../json/index.js'
import { edgeTypes, limits, stepTypes } from './definition/definition.js'
import { stepName } from './definition/step-name.js'

export { automationName } from './definition/automation-name.js'

/** The most rows on a page, and how many it has without `limit`. */
export const maxPage = 100
export const usualPage = 20

export const exampleId = '01a1fc92-0000-7000-8000-5f0e1c2d3b4a'
export const exampleTime = '2026-11-21T10:00:00.000Z'

export const automation = byId('automation')

// `config` is described in words and not as one schema for each type: generated clients turn twelve alternatives into
// something that nobody can use, and the errors of the API name the field anyway.
const step: Schema = {
  type: 'object',
  description:
    'A step. `config` by `type`: `trigger` { eventName, date?, filter?, reentry? }; `send_email` { template, from, subject?, replyTo?, variables?, type?, topicId?, templateVersion? }; `delay` { duration } or { until: { time, days?, zone? } }; `wait_for_event` { eventName, filter?, timeout?, since? }; `condition` a rule; `contact_update` { firstName?, lastName?, metadata? }; `split` { branches: [{ key, percent }] }; `webhook` { endpointId, payload? }; `exit` { reason? }. Durations are ISO 8601 (`P3D`, `PT2H`). A rule is { field, operator, value } or { all | any: [rules] } or { not: rule }; fields are `contact.…`, `segment.ID`, `broadcast.ID.opened` (`clicked`, `openedAt`, `clickedAt`, `left`, `complained`, `unreached`), `trigger.…`, `event.…`, `waits.KEY.…` and `email.KEY.opened` (`clicked`, `delivered`, `bounced`); operators `eq`, `neq`, `gt`, `gte`, `lt`, `lte`, `in`, `contains`, `not_contains`, `starts_with`, `ends_with`, `exists`, `is_empty`; a value { var: field } is that field. Events are your own and Posthorn’s: `$contact.created`, `$list.joined`, `$segment.joined` and `$segment.left` (with `segmentId`; not of those who are found when a segment is first filled), `$form.confirmed` (with `formId`; somebody has confirmed a form by its mail), `$email.opened`, `$email.clicked`, `$email.bounced` (a bounce that suppresses the address ends the runs of its contact and starts none). A trigger may begin on a date in place of an event: the eventName is `$contact.date`, and `date` { field, days?, time?, zone?, repeat? } says which: `field` in the metadata, as `birthday`, with a text such as `1990-02-28` (`--02-28` without a year; 29 February is on the 28th in other years); so many `days` after it, or before where less than 0; `time` there, 09:00 unless given, in the `zone` (`contact`: their `timeZone`, else the automation’s, else UTC); `repeat` is `yearly`, for nobody twice in a year, or `once`. Who is a day late, as nothing ran, has had it.',
  properties: {
    key: text('The name of the step in this automation', { pattern: '^[a-z0-9_-]{1,64}$' }),
    type: text('What the step does', { enum: stepTypes }),
    name: stepName.schema,
    config: openObject('The settings of the step, which depend on `type`'),
  },
  required: ['key', 'type'],
}

// A connection belongs to one of the ends of a step: yes/no of a condition, received/timeout of a wait, a branch of a
// split.
const connection: Schema = {
  type: 'object',
  description: 'Leads from one step to the next.',
  properties: {
    from: text('The key of the step that it leaves'),
    to: text('The key of the step that it leads to'),
    type: text('By which result of the step it leaves; `default` where there is only one', {
      enum: edgeTypes,
    }),
    branch: text('The key of the branch, only with the type `branch`'),
  },
  required: ['from', 'to', 'type'],
}

// `validate.ts` judges the steps together, so that all faults are told at once, by the key of their step.
export const steps = field(
  rule<unknown[]>('an array of steps: { key, type, config }', Array.isArray),
  { type: 'array', items: step, maxItems: limits.steps },
)
export const connections = field(
  rule<unknown[]>('an array of connections: { from, to, type }', Array.isArray),
  { type: 'array', items: connection },
)
export const settings = maybe(
  field(
    rule<object>('an object', isJsonObject),
    openObject(
      'Settings of the whole automation: `exitOn` [{ eventName, filter? }] ends a run wherever it is; `goal` { eventName, filter?, to? }; `timeZone`; `sendWindow` { from, to, days?, zone? }; `maxPerHour`; `onUnsubscribe` (`continue` where all mail is transactional)',
    ),
  ),
)
/**
 * Steps and connections of a request that may leave them out. They are replaced together, since half of a graph is not
 * valid.
 */
export const graphChanges = {
  steps: maybe(steps),
  connections: maybe(connections),
  settings,
}

/** Asks what a request would do. A body with it takes no unknown fields: a misspelt `dryRun` would do the thing. */
export const dryRun = maybe(flag('Only says what would happen; nothing is changed'))
/** Whether an answer is one to such a request. */
export const wasDry = flag('Whether it only says what would happen').schema

/** What is said of steps, one sentence each. */
export const byStep = (about: string, ofOne: string): Schema => ({
  ...manyOf({
    key: orNull(text('The key of the step; null for what concerns no single step')),
    error: text(ofOne),
  }),
  description: about,
})

/**
 * A definition that is not valid. Every fault at once with the key of its step: editors mark them in the drawing, and
 * nobody wants to repair a graph one fault a request.
 */
export const invalidDefinition = (when: string) =>
  refusal(
    'validation_error',
    when,
    'The automation is not valid: step "welcome": The account has no template "welcom"',
    {
      status: 422,
      shape: 'InvalidAutomation',
      fields: {
        errors: byStep('Everything that is wrong, by the key of its step', 'What is wrong there'),
      },
      example: { errors: [{ key: 'welcome', error: 'The account has no template "welcom"' }] },
    },
  )

/** What a change of state is answered with, whatever it is a change of. */
export const stateFields = (about: string) => ({
  id: uuid('The id that the request named'),
  status: text(about),
  message: confirmation,
})
