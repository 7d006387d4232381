import * as operations from '../../automations/contract.js'
import type { AutomationDefinition } from '../../automations/index.js'
import { dayMs, isoTime, timeOfLocal } from '../../clock/index.js'
import { ApiError } from '../../errors/index.js'
import { check, structOf, table } from '../../fields/index.js'
import type { Form } from '../../http/index.js'
import { jsonBytes } from '../../json/index.js'
import { afterMs } from '../../rules/index.js'
import { eventFields } from '../automations/event-fields.js'
import { durationOf, type TypedDuration } from './durations.js'

/* What the form of a trial says about a person and about what happens to them. */

// More than anybody types by hand.
export const mostEvents = 20

const Email = structOf(table({ email: operations.simulatedAddress }))

/** The typed address; throws a `ShapeError` at its field. */
export const checkedEmail = (typed: string): string => check({ email: typed.trim() }, Email).email

type Deed = 'opened' | 'clicked'

/** How long after the mail it happens, as it was typed; an hour where nothing was. */
export function typedAfter(fields: Form, deed: Deed): TypedDuration {
  const amount = (fields.get(`${deed}After`) ?? '').trim()
  return amount === ''
    ? { amount: '1', unit: 'H' }
    : { amount, unit: fields.get(`${deed}Unit`) ?? 'H' }
}

/** That time in ISO 8601; throws a 400 that names the field. */
function afterOf(fields: Form, deed: Deed): string {
  const typed = typedAfter(fields, deed)
  const duration = durationOf(typed)
  if (/^\d+$/.test(typed.amount) && afterMs(duration) !== undefined) return duration
  throw badField(
    `${deed}After`,
    `“${typed.amount}” is not how long after it came. Write a whole number, such as 5`,
  )
}

// Also the names of this server's own events.
const eventName = /^[$A-Za-z0-9_.:-]{1,100}$/

const badField = (field: string, message: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field } })

/** The world of the trial, from the form; throws a 400 that names the field. */
export function worldIn(
  fields: Form,
  { steps, connections, settings }: AutomationDefinition,
  { zone, now }: { zone: string; now: number },
) {
  const started = beginningIn(fields.get('at') ?? '', { zone, now })
  const payload = (fields.get('payload') ?? '').trim()
  const date = (fields.get('date') ?? '').trim()
  const given = { ...(payload === '' ? {} : payloadIn(payload)), ...(date !== '' && { date }) }
  const afters = (deed: Deed) => {
    const after = afterOf(fields, deed)
    return Object.fromEntries(fields.all(deed).map((key) => [key, after]))
  }
  return {
    steps,
    connections,
    ...(settings !== undefined && { settings }),
    ...(started !== undefined && { at: isoTime(started) }),
    payload: given,
    events: happeningsIn(fields),
    opens: Object.assign(afters('clicked'), afters('opened')),
    clicks: afters('clicked'),
  }
}

// Nobody plans further ahead, and a year such as 0002 is a typing error.
const mostYears = 10

/** When the trial begins, as it was typed; undefined for now. */
function beginningIn(typed: string, { zone, now }: { zone: string; now: number }) {
  if (typed === '') return undefined
  const at = timeOfLocal(typed, zone)
  if (at !== undefined && Math.abs(at - now) <= mostYears * 366 * dayMs) return at
  throw badField(
    'at',
    `Choose a day and a time at most ${mostYears} years from now, or leave it empty`,
  )
}

/** The typed events, and an empty line for one more. */
export function happeningsTyped(fields: Form): { event: string; after: string; unit: string }[] {
  const [after, unit] = [fields.all('after'), fields.all('unit')]
  const typed = fields.all('event').map((event, at) => ({
    event,
    after: after[at] ?? '',
    unit: unit[at] ?? 'D',
  }))
  const some = typed.filter(({ event }) => event.trim() !== '')
  return [...some, { event: '', after: '', unit: 'D' }].slice(0, mostEvents)
}

/** What else they do, and how long after the beginning. */
function happeningsIn(fields: Form) {
  const [after, unit] = [fields.all('after'), fields.all('unit')]
  return fields.all('event').flatMap((typed, n) => {
    const event = typed.trim()
    if (event === '') return []
    if (!eventName.test(event)) {
      throw new ApiError(
        'validation_error',
        `What else they do, event ${n + 1}: “${event}” is no name of an event. Write 1 to 100 letters, digits, and _ . : -`,
      )
    }
    const amount = after[n]?.trim() || '0'
    const duration = durationOf({ amount, unit: unit[n] ?? 'D' })
    if (/^\d+$/.test(amount) && afterMs(duration) !== undefined) return [{ event, after: duration }]
    throw new ApiError(
      'validation_error',
      `What else they do, event ${n + 1}: “${amount}” is not how long after the beginning it comes. Write a whole number, such as 2`,
    )
  })
}

function payloadIn(typed: string) {
  const fields = eventFields(typed)
  if (fields === undefined)
    throw badField('payload', 'What the event says: write a line each, such as: total = 5')
  if (jsonBytes(fields) <= operations.maxPayloadBytes) return fields
  throw badField('payload', 'What the event says may have 16 KiB at most: leave something out')
}
