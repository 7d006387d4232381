import { is as isStruct } from 'superstruct'
import { dayMs } from '../../clock/index.js'
import {
  headersFault,
  mailHeaders,
  mailReplyTo,
  mailTags,
  maxReplyTo,
  maxTagName,
  maxTags,
  maxTagValue,
} from '../../emails/index.js'
import { structOf } from '../../fields/index.js'
import { isJsonObject, jsonBytes } from '../../json/index.js'
import { parseMailbox } from '../../mime/index.js'
import {
  type Check,
  checkFields,
  type FieldChecks,
  is,
  isText,
  may,
  must,
  object,
  oneOf,
  type SayFault,
} from './check-fields.js'
import { checkRule, pathFault } from './check-rule.js'
import { limits, type StepType } from './definition.js'
import { durationMs, maxWaitMs } from './duration.js'
import { isVariable } from './field.js'
import { isTimeOfDay, isZone } from './window.js'

// Ten years: as good as never again, for which there is "once".
const maxReentryMs = 3_650 * dayMs
const maxBranches = 20
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
// Control characters, and the two line separators of Unicode.
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** Names that clients may send (decisions.md), and those of the appliance's own events. */
const ownEvents = [
  '$list.joined',
  '$contact.created',
  '$email.opened',
  '$email.clicked',
  '$email.bounced',
] as const
/** Whether a client may send an event of this name. */
const isEventName = (name: string): boolean => /^[A-Za-z0-9_.:-]{1,100}$/.test(name)

/** Names with $ are the appliance's own; a client may wait for these but not send them. */
export const eventName = isText(
  `1 to 100 of A-Z, a-z, 0-9, "_", ".", ":" and "-", or one of ${ownEvents.join(', ')}`,
  (name) => isEventName(name) || ownEvents.some((own) => own === name),
)
/** The form of a step's key. It stands in paths such as `waits.KEY.NAME`, so it has no dot. */
export const stepKey = /^[a-z0-9_-]{1,64}$/
/** A check for the name of a time zone. */
export const zone = isText('a time zone such as "Africa/Lagos"', isZone)
/** 1 is Monday, as in ISO 8601 and in Temporal. */
export const days = is(
  'an array of days, 1 (Monday) to 7, each once',
  (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    new Set(value).size === value.length &&
    value.every((day) => Number.isInteger(day) && day >= 1 && day <= 7),
)
/**
 * "contact" means the zone in the contact's metadata, so that a mail comes in the morning
 * everywhere.
 */
export const windowZone = isText(
  'a time zone such as "Africa/Lagos", or "contact"',
  (value) => value === 'contact' || isZone(value),
)
/** A check for a time such as "09:00". */
export const timeOfDay = isText('a time such as "09:00"', isTimeOfDay)

/** Without years and months, whose length depends on when they begin: a timer needs one length. */
const duration = (longestMs: number, longest: string) =>
  isText(
    `an ISO 8601 duration of weeks, days, hours, minutes or seconds, such as "P3D" or "PT90M", of at most ${longest}`,
    (text) => {
      const ms = durationMs(text)
      return ms !== undefined && ms > 0 && ms <= longestMs
    },
  )

/** A value, or the path of the field that has it. */
const given =
  (check: Check): Check =>
  (value, name, say) => {
    if (!isVariable(value)) check(value, name, say)
    else {
      const fault = pathFault(value.var)
      if (fault !== undefined) say(`${name}: ${fault}`)
    }
  }

// What templates see beside their variables (automations.md §3.3).
const taken = ['contact', 'event', 'trigger', 'waits']
/**
 * Variables of a step are stored with every mail that it makes, so their size counts a million
 * times.
 */
const values = (expected: string, refused: readonly string[] = []): Check => {
  const any = given(() => {})
  return (value, name, say) => {
    if (!isJsonObject(value) || jsonBytes(value) > limits.contactMetadataBytes) {
      say(`${name}: expected ${expected} of at most ${limits.contactMetadataBytes} bytes as JSON`)
      return
    }
    for (const [key, item] of Object.entries(value)) {
      if (refused.includes(key))
        say(`${name}: "${key}" is a name that every template has already; choose another`)
      any(item, `${name}.${key}`, say)
    }
  }
}

/** Judged by the parser that reads it at the send. */
const address = isText(
  'an address: "email@domain" or "Name <email@domain>"',
  (value) => parseMailbox(value) !== undefined,
)
/** The field of the API's sends, so that a step can have what a send can. */
const replyTo = is(
  `an address, "email@domain" or "Name <email@domain>", or an array of at most ${maxReplyTo}`,
  (value) => isStruct(value, structOf(mailReplyTo)),
)
/** The field of the API's sends; `headersFault` then finds the names that only Posthorn writes. */
const headers: Check = (value, name, say) => {
  if (!isStruct(value, structOf(mailHeaders))) {
    say(`${name}: expected an object of header names and their values, which are strings`)
    return
  }
  const fault = headersFault(value)
  if (fault !== undefined) say(`${name}: ${fault}`)
}
/** The field of the API's sends. */
const tags = is(
  `an array of at most ${maxTags} { name, value } of different names: a name of 1 to ${maxTagName} of A-Z, a-z, 0-9, "_" and "-", a value of 1 to ${maxTagValue} of these and ".:@/+="`,
  (value) => isStruct(value, structOf(mailTags)),
)
/** Null clears the name; a variable in its place is judged when its value is known. */
const name = given(
  is(
    `null or a name of at most ${limits.nameLength} characters without control characters`,
    (value) =>
      value === null ||
      (typeof value === 'string' &&
        value.length <= limits.nameLength &&
        value.isWellFormed() &&
        !/\p{Cc}/u.test(value)),
  ),
)

/**
 * Whether a contact may go through again: after the last run has ended (the default), never, or so
 * long after the last beginning.
 */
const reentry: Check = (value, name, say) => {
  if (value === 'after_end' || value === 'once') return
  if (isJsonObject(value)) {
    checkFields({ after: must(duration(maxReentryMs, '3650 days')) }, value, name, say)
  } else say(`${name}: expected "after_end", "once" or { "after": duration }`)
}

/**
 * At least two, or it would be no split. The percents have to add up to 100, so that no contact falls between two branches.
 */
const branches: Check = (value, name, say) => {
  if (!Array.isArray(value) || value.length < 2 || value.length > maxBranches) {
    say(`${name}: expected an array of 2 to ${maxBranches} of { key, percent }`)
    return
  }
  const fields: FieldChecks = {
    key: must(isText('1 to 64 of a-z, 0-9, "_" and "-"', (key) => stepKey.test(key))),
    percent: must(
      is('a number from 0 to 100', (percent) => Number.isFinite(percent) && inPercent(percent)),
    ),
  }
  for (const [index, branch] of value.entries()) {
    checkFields(fields, branch, `${name}[${index}]`, say)
  }
  const keys = value.map((branch) => (isJsonObject(branch) ? branch.key : undefined))
  if (new Set(keys).size < keys.length) say(`${name}: two branches have the same key`)
  const sum = value.reduce((sum, branch) => sum + Number(isJsonObject(branch) && branch.percent), 0)
  if (!(Math.abs(sum - 100) < 1e-6)) say(`${name}: the percents do not add up to 100`)
}
/** Whether it is a number from 0 to 100. */
const inPercent = (value: unknown) => typeof value === 'number' && value >= 0 && value <= 100

// A delay lasts no longer than a wait for an event may.
const maxDelay = duration(maxWaitMs, '90 days')
/**
 * What each type of step takes; unknown fields are refused here, unlike elsewhere in the API,
 * because a misspelt `timeout` would be a run that waits for ever.
 */
const configs: Record<Exclude<StepType, 'condition'>, FieldChecks> = {
  trigger: { eventName: must(eventName), filter: may(checkRule), reentry: may(reentry) },
  send_email: {
    template: must(
      isText('the slug of a template', (slug) => /^[a-z0-9][a-z0-9_-]{0,63}$/.test(slug)),
    ),
    from: must(address),
    subject: may(
      isText(
        'a string of 1 to 998 bytes without control characters',
        (text) => text.trim() !== '' && !controls.test(text) && Buffer.byteLength(text) <= 998,
      ),
    ),
    replyTo: may(replyTo),
    headers: may(headers),
    tags: may(tags),
    variables: may(values('an object of variables', taken)),
    type: may(oneOf('marketing', 'transactional')),
    topicId: may(isText('the id of a topic', (id) => uuid.test(id))),
    templateVersion: may(
      is('the number of a version', (version) => Number.isInteger(version) && Number(version) > 0),
    ),
  },
  delay: {
    duration: may(maxDelay),
    until: may(object({ time: must(timeOfDay), days: may(days), zone: may(windowZone) })),
  },
  wait_for_event: {
    eventName: must(eventName),
    filter: may(checkRule),
    timeout: may(maxDelay),
    since: may(oneOf('run', 'step')),
  },
  contact_update: {
    // Null takes the name away.
    firstName: { check: name, takesNull: true },
    lastName: { check: name, takesNull: true },
    metadata: may(values('an object')),
  },
  split: { branches: must(branches) },
  webhook: {
    endpointId: must(isText('the id of a webhook endpoint', (id) => id !== '' && id.length <= 64)),
    payload: may(values('an object')),
  },
  exit: {
    reason: may(
      isText(
        'a string of 1 to 200 characters without control characters',
        (text) => text.trim() !== '' && text.length <= 200 && !controls.test(text),
      ),
    ),
  },
}

/** Whether there is such a step. */
export const isStepType = (type: unknown): type is StepType =>
  type === 'condition' || (typeof type === 'string' && Object.hasOwn(configs, type))
/** The types of steps, for messages. */
export const stepTypes = [...Object.keys(configs), 'condition']

/** Checks a step's config by itself: whether it is all there and each field is what it has to be. */
export function checkConfig(type: StepType, config: unknown, say: SayFault): void {
  if (type === 'condition') {
    checkRule(config, 'config', say)
    return
  }
  checkFields(configs[type], config, 'config', say)
  if (!isJsonObject(config)) return
  if (type === 'delay' && Object.hasOwn(config, 'duration') === Object.hasOwn(config, 'until')) {
    say('expected either "duration" or "until"')
  }
  if (type === 'send_email' && config.type === 'transactional' && config.topicId !== undefined) {
    say('topicId: only marketing mail belongs to a topic')
  }
  if (type === 'contact_update' && Object.keys(config).length === 0) {
    say('expected at least one of "firstName", "lastName" and "metadata"')
  }
}
