import { define, enums, refine, type Struct, type } from 'superstruct'
import { dayMs, isZone } from '../../clock/index.js'
import { headersFault, mailHeaders, mailReplyTo, mailTags } from '../../emails/index.js'
import {
  atLeastOne,
  described,
  listOf,
  noOthers,
  optional,
  rule,
  structOf,
  timeOfDay,
  uuidForm,
  weekdays,
  zoneName,
} from '../../fields/index.js'
import { isJsonObject, type Json, jsonBytes } from '../../json/index.js'
import { parseMailbox } from '../../mime/index.js'
import { durationMs, isVariable, type Variable } from '../../rules/index.js'
import { stepTags } from '../../templates/index.js'
import { dateEvent, isDateField, mostDays } from './date-trigger.js'
import {
  eventNameForm,
  limits,
  maxWaitMs,
  type StepOf,
  type StepType,
  stepKey,
} from './definition.js'
import type { StepFaultCode } from './fault.js'
import { pathFault, RuleTree } from './rule-tree.js'

// Ten years: as good as never again, for which there is "once".
const maxReentryMs = 3_650 * dayMs
const maxBranches = 20
// Control characters, and the two line separators of Unicode.
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** A text that fits a condition. */
export const textWith = (expected: string, holds: (text: string) => boolean) =>
  rule<string>(
    expected,
    (value) => typeof value === 'string' && value.isWellFormed() && holds(value),
  )

/** A number that fits a condition. */
const numberWith = (expected: string, holds: (number: number) => boolean) =>
  rule<number>(expected, (value) => typeof value === 'number' && holds(value))

// The appliance's own events; a client may wait for these but not send them.
export const ownEvents = [
  '$list.joined',
  '$contact.created',
  '$segment.joined',
  '$segment.left',
  '$form.confirmed',
  '$email.opened',
  '$email.clicked',
  '$email.bounced',
] as const

/** The name of an event, a client's or the appliance's own. */
export const EventName = textWith(
  `1 to 100 of A-Z, a-z, 0-9, "_", ".", ":" and "-", or one of ${ownEvents.join(', ')}`,
  (name) => eventNameForm.test(name) || ownEvents.some((own) => own === name),
)
/** The name of an event that begins runs; a date may be in its place. */
const TriggerName = textWith(
  `1 to 100 of A-Z, a-z, 0-9, "_", ".", ":" and "-", or one of ${ownEvents.join(', ')}, ${dateEvent}`,
  (name) => name === dateEvent || EventName.is(name),
)
/** The key of a step, or of a branch. */
export const Key = textWith('1 to 64 of a-z, 0-9, "_" and "-"', (key) => stepKey.test(key))
/** The name of a time zone. */
export const Zone = structOf(zoneName())
/** 1 is Monday. */
export const Days = structOf(weekdays())
/**
 * "contact" means the zone in the contact's metadata, so that a mail comes in the morning
 * everywhere.
 */
export const WindowZone = textWith(
  'a time zone such as "Africa/Lagos", or "contact"',
  (value) => value === 'contact' || isZone(value),
)
/** A time such as "09:00". */
export const WallTime = structOf(timeOfDay('A time of day'))

/** Without years and months, whose length depends on when they begin: a timer needs one length. */
const duration = (longestMs: number, longest: string) =>
  textWith(
    `an ISO 8601 duration of weeks, days, hours, minutes or seconds, such as "P3D" or "PT90M", of at most ${longest}`,
    (text) => {
      const ms = durationMs(text)
      return ms !== undefined && ms > 0 && ms <= longestMs
    },
  )

/**
 * Values, or paths of the fields that have them. Variables of a step are stored with every mail that it makes, so
 * their size counts a million times.
 */
const values = (
  expected: string,
  faultOf: (name: string, item: unknown) => ValueFault | undefined,
) =>
  define<Record<string, Json | Variable>>('values', (value, { path }) => {
    if (!isJsonObject(value) || jsonBytes(value) > limits.contactMetadataBytes) {
      return `Expected ${expected} of at most ${limits.contactMetadataBytes} bytes as JSON`
    }
    return Object.entries(value).flatMap(([key, item]) => {
      const fault = faultOf(key, item) ?? (isVariable(item) ? fieldFault(item.var) : undefined)
      return fault === undefined ? [] : [{ path: [...path, key], value: item, ...fault }]
    })
  })

/** What is wrong with one of the values, and which fault it is. */
interface ValueFault {
  message: string
  code: StepFaultCode
  name?: string
}

/** What is wrong with the path of a field in the place of a value. */
const fieldFault = (path: string): ValueFault | undefined => {
  const message = pathFault(path)
  return message === undefined ? undefined : { message, code: 'noField' }
}

// Whatever a contact's metadata may have, such as columns of imports: "Size (cm)".
const valueName = /^\P{Cc}{1,100}$/u

/** Values are stored as they are: Liquid in them would reach people as it is written. */
const isLiquid = (value: unknown) => typeof value === 'string' && /\{[{%]/.test(value)
const noLiquid =
  'Nothing is filled in inside a text: expected one without {{ and {%, or { "var": the path of a field }'

const namedFault = (name: string, item: unknown): ValueFault | undefined => {
  if (name === '') {
    const [line] = String(item).split('\n')
    return { message: 'Expected a name with its value', code: 'strayLine', name: line ?? '' }
  }
  if (!valueName.test(name)) {
    const message = 'Expected a name of 1 to 100 characters without control characters'
    return { message, code: 'badName' }
  }
  return isLiquid(item) ? { message: noLiquid, code: 'noField' } : undefined
}

/** Null clears the name; a variable in its place is judged when its value is known. */
const Name = define<string | null | Variable>('name', (value) => {
  if (isVariable(value)) return fieldFault(value.var) ?? true
  const isName =
    typeof value === 'string' &&
    value.length <= limits.nameLength &&
    value.isWellFormed() &&
    !/\p{Cc}/u.test(value)
  if (isName && isLiquid(value)) return { message: noLiquid, code: 'noField' }
  const expected = `null or a name of at most ${limits.nameLength} characters without control characters`
  return value === null || isName || `Expected ${expected}`
})

/**
 * Whether a contact may go through again: after the last run has ended (the default), never, or once so much time has
 * passed since the last beginning.
 */
const Reentry = rule<'after_end' | 'once' | { after: string }>(
  '"after_end", "once" or { "after": an ISO 8601 duration of at most 3650 days }',
  (value) => value === 'after_end' || value === 'once' || Again.is(value),
)
const Again = noOthers(type({ after: duration(maxReentryMs, '3650 days') }))

/**
 * At least two, or it would be no split. The percents have to add up to 100, so that no contact falls between two
 * branches.
 */
const Branches = refine(
  listOf(
    noOthers(
      type({
        key: Key,
        percent: numberWith('a number from 0 to 100', (percent) => percent >= 0 && percent <= 100),
      }),
    ),
    maxBranches,
    2,
  ),
  'branches',
  (branches) => {
    const keys = new Set(branches.map(({ key }) => key))
    if (keys.size < branches.length) return 'Expected branches of different keys'
    const sum = branches.reduce((sum, { percent }) => sum + percent, 0)
    if (Math.abs(sum - 100) < 1e-6) return true
    return { message: 'Expected percents that add up to 100', code: 'percents' }
  },
)

const words = <const T extends string>(...choices: T[]) =>
  described(enums(choices), choices.map((one) => `"${one}"`).join(' or '))

// The day of a contact's field on which a run begins.
const OnDate = noOthers(
  type({
    field: textWith(
      'a field of the contact\'s metadata, such as "birthday" or "metadata.birthday"',
      isDateField,
    ),
    days: optional(
      numberWith(
        `a whole number of days from -${mostDays} (before) to ${mostDays} (after)`,
        (days) => Number.isInteger(days) && Math.abs(days) <= mostDays,
      ),
    ),
    time: optional(WallTime),
    zone: optional(WindowZone),
    repeat: optional(words('yearly', 'once')),
  }),
)

// A delay lasts no longer than a wait for an event may.
const MaxDelay = duration(maxWaitMs, '90 days')

const Delay = type({
  duration: optional(MaxDelay),
  until: optional(
    noOthers(type({ time: WallTime, days: optional(Days), zone: optional(WindowZone) })),
  ),
})

// A mail has what a send by the API can have: its fields are the same.
const Mail = type({
  template: textWith('the slug of a template', (slug) => /^[a-z0-9][a-z0-9_-]{0,63}$/.test(slug)),
  // Judged by the parser that reads it at the send.
  from: textWith(
    'an address: "email@domain" or "Name <email@domain>"',
    (value) => parseMailbox(value) !== undefined,
  ),
  subject: optional(
    textWith(
      'a string of 1 to 998 bytes without control characters',
      (text) => text.trim() !== '' && !controls.test(text) && Buffer.byteLength(text) <= 998,
    ),
  ),
  replyTo: optional(structOf(mailReplyTo)),
  // There are names that only Posthorn writes.
  headers: optional(refine(structOf(mailHeaders), 'names', (given) => headersFault(given) ?? true)),
  tags: optional(structOf(mailTags)),
  variables: optional(
    values('an object of variables', (name, item) =>
      stepTags.includes(name)
        ? ({
            message: 'Every template has this name already; choose another',
            code: 'takenName',
          } as const)
        : namedFault(name, item),
    ),
  ),
  type: optional(words('marketing', 'transactional')),
  topicId: optional(textWith('the id of a topic', (id) => uuidForm.test(id))),
  templateVersion: optional(
    numberWith('the number of a version', (number) => Number.isInteger(number) && number > 0),
  ),
})

/**
 * What each type of step takes; unknown fields are refused here, unlike elsewhere in the API,
 * because a misspelt `timeout` would be a run that waits for ever.
 */
export const configs: { [T in StepType]: Struct<StepOf<T>['config'], unknown> } = {
  trigger: refine(
    noOthers(
      type({
        eventName: TriggerName,
        date: optional(OnDate),
        filter: optional(RuleTree),
        reentry: optional(Reentry),
      }),
    ),
    'date',
    ({ eventName, date }) => {
      if ((eventName === dateEvent) === (date !== undefined)) return true
      const message = `Expected "date" with the eventName "${dateEvent}", and with no other`
      return { path: ['date'], value: date, message }
    },
  ),
  send_email: refine(noOthers(Mail), 'topic', ({ type, topicId: value }) => {
    if (type !== 'transactional' || value === undefined) return true
    return { path: ['topicId'], value, message: 'Only marketing mail belongs to a topic' }
  }),
  delay: refine(
    noOthers(Delay),
    'either',
    ({ duration, until }) =>
      (duration === undefined) !== (until === undefined) || 'Expected either "duration" or "until"',
  ),
  wait_for_event: noOthers(
    type({
      eventName: EventName,
      filter: optional(RuleTree),
      timeout: optional(MaxDelay),
      since: optional(words('run', 'step')),
    }),
  ),
  condition: RuleTree,
  contact_update: atLeastOne(
    noOthers(
      type({
        firstName: optional(Name),
        lastName: optional(Name),
        metadata: optional(values('an object', namedFault)),
      }),
    ),
  ),
  split: noOthers(type({ branches: Branches })),
  webhook: noOthers(
    type({
      endpointId: textWith('the id of a webhook endpoint', (id) => id !== '' && id.length <= 64),
      payload: optional(values('an object', () => undefined)),
    }),
  ),
  exit: noOthers(
    type({
      reason: optional(
        textWith(
          'a string of 1 to 200 characters without control characters',
          (text) => text.trim() !== '' && text.length <= 200 && !controls.test(text),
        ),
      ),
    }),
  ),
}
