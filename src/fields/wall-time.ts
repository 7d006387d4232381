import { isTimeOfDay, isWindowEnd, isZone } from '../clock/index.js'
import { suchAs } from './expectation.js'
import { type Field, field, maybe, table } from './field.js'
import { textThat } from './kinds.js'
import { rule } from './rule.js'
import { text } from './schema.js'

/** The name of a time zone. */
export const zoneName = (about = 'A time zone by its name in the IANA database'): Field<string> =>
  textThat(
    'a time zone such as "Africa/Lagos"',
    isZone,
    text(about, { examples: ['Africa/Lagos'] }),
    suchAs('a time zone', 'Africa/Lagos'),
  )

/** Days of the week: 1 is Monday, as in ISO 8601 and in Temporal. */
export const weekdays = (about = 'Days of the week, 1 for Monday'): Field<number[]> =>
  field(
    rule<number[]>(
      'an array of days, 1 (Monday) to 7, each once',
      (value) =>
        Array.isArray(value) &&
        value.length > 0 &&
        new Set(value).size === value.length &&
        value.every((day) => Number.isInteger(day) && day >= 1 && day <= 7),
      { is: 'list', least: 1, most: 7 },
    ),
    {
      type: 'array',
      items: { type: 'integer', minimum: 1, maximum: 7 },
      minItems: 1,
      maxItems: 7,
      uniqueItems: true,
      description: about,
    },
  )

/** A time such as "09:00". */
export const timeOfDay = (about: string): Field<string> =>
  textThat(
    'a time such as "09:00"',
    isTimeOfDay,
    text(about, { examples: ['09:00'] }),
    suchAs('a time', '09:00'),
  )

/** A time at which a window ends: "24:00" is the end of the day. */
export const windowEnd = (about: string): Field<string> =>
  textThat(
    'a time such as "17:00"',
    isWindowEnd,
    text(about, { examples: ['17:00'] }),
    suchAs('a time', '17:00'),
  )

/** Hours on some days, in a named zone. */
export const hoursOfDays = (about: string) =>
  table(
    {
      from: timeOfDay('When it opens, on the clocks of its zone'),
      to: windowEnd('When it closes; before `from`: on the next day. `24:00` ends the day'),
      days: maybe(weekdays('The days on which it opens, 1 for Monday; by default all')),
      zone: zoneName('The zone of these times'),
    },
    { noOthers: true, about },
  )
