import {
  type DateOf,
  dateEvent,
  dateFieldOf,
  mostDays,
  ownEvents,
  placeFields,
  placeIn,
} from '../../automations/index.js'
import type { Rule } from '../../rules/index.js'
import { deletedPlaceWords, placeWords } from '../automations/words.js'
import { eventWords } from '../event-words.js'
import type { FieldChoice } from '../segments/choices.js'
import { noFaults } from '../shell/faults.js'
import { type Html, html } from '../shell/html.js'
import type { StepChoices } from './step-choices.js'
import { one, showsFor } from './step-field.js'

type Heard = { eventName: string; filter?: Rule }

/** An event of the appliance, for one list, segment or form if it has one, or the account's own event by its name. */
export function heardFields(
  { eventName, filter }: Heard,
  label: string,
  { choices, change }: { choices: StepChoices; change: string },
  mayBeDate = false,
): Html {
  const own: readonly string[] = mayBeDate ? [...ownEvents, dateEvent] : ownEvents
  const isOwn = own.includes(eventName)
  const place = placeIn(filter)
  const when = one({
    name: 'when',
    label,
    type: 'select',
    value: isOwn ? whenOf(eventName, place) : 'event',
    options: [
      ...own.flatMap((name) => [
        { value: name, label: capital(anyWords(name)) },
        ...placesOf(name, choices, name === eventName ? place : ''),
      ]),
      { value: 'event', label: 'An event that your shop or application sends' },
    ],
  })
  const offered =
    eventName === '' || isOwn ? choices.events : [...new Set([eventName, ...choices.events])]
  const event =
    !isOwn &&
    html`${one({
      name: 'event',
      label: 'Name of the event',
      hint: 'As it is sent: letters, digits, and _ . : -, at most 100. Those that came already are offered.',
      value: eventName,
      list: 'seen-events',
      maxlength: 100,
      autocomplete: 'off',
      spellcheck: false,
    })}<datalist id="seen-events">${offered.map((name) => html`<option value="${name}"></option>`)}</datalist>`
  return html`${when}${showsFor('when', change)}${event}`
}

/** The value of an event's choice, with the list, segment or form that it is about. */
export const whenOf = (eventName: string, place: string): string =>
  place === '' ? eventName : `${eventName}:${place}`

/** The event and place of a chosen value. */
export function whenIn(chosen: string): { eventName: string; place: string } {
  const at = chosen.indexOf(':')
  return at < 0
    ? { eventName: chosen, place: '' }
    : { eventName: chosen.slice(0, at), place: chosen.slice(at + 1) }
}

const kinds: Readonly<Record<string, 'lists' | 'segments' | 'forms'>> = {
  listId: 'lists',
  segmentId: 'segments',
  formId: 'forms',
}

function placesOf(eventName: string, offered: StepChoices, chosen: string): FieldChoice[] {
  const kind = kinds[placeFields[eventName] ?? '']
  if (kind === undefined) return []
  const known = offered[kind]
  const isKnown = chosen === '' || known.some(({ value }) => value === chosen)
  const choices = known.map(({ value, label }) => ({
    value: whenOf(eventName, value),
    label: capital(placeWords(eventName, label)),
  }))
  if (isKnown) return choices
  const gone = { value: whenOf(eventName, chosen), label: capital(deletedPlaceWords(eventName)) }
  return [...choices, gone]
}

const anyWords = (name: string): string =>
  placeFields[name] === undefined
    ? eventWords(name)
    : eventWords(name).replace(/ a (list|segment|form)$/, ' any $1')

/** The fields of a date: which field, how far from it, when, and how often. */
export function dateFields(
  { field: of, days = 0, time = '09:00', zone = '', repeat = 'yearly' }: DateOf = { field: '' },
  { dates }: StepChoices,
  unknown: string | undefined,
): Html {
  return html`${one({
    name: 'dateField',
    label: 'Which field has the date',
    hint: 'Such as birthday: at most 64 letters, digits, _ and -. It holds a day like 1990-02-28. Who was born on 29 February has it on the 28th in other years.',
    value: dateFieldOf({ field: of }),
    list: 'date-fields',
    faults: unknown === undefined ? noFaults : { ...noFaults, fields: { 's.dateField': unknown } },
    maxlength: 64,
    autocomplete: 'off',
    spellcheck: false,
  })}<datalist id="date-fields">${dates.map(({ value, label }) => html`<option value="${value}">${label}</option>`)}</datalist>
<div class="tools">${one({ name: 'dateDays', label: 'Days', hint: `A whole number: 0 is the day itself; at most ${mostDays}.`, value: String(Math.abs(days)), inputmode: 'numeric', maxlength: 3, autocomplete: 'off' })}${one(
    {
      name: 'dateWay',
      label: 'Before or after it',
      type: 'select',
      value: days < 0 ? 'before' : 'after',
      options: [
        { value: 'after', label: 'After' },
        { value: 'before', label: 'Before' },
      ],
    },
  )}</div>
${one({ name: 'dateTime', label: 'At what time', hint: 'Where they are, if their field timeZone says it; else in the time zone of the automation, or UTC.', type: 'time', value: time })}${one({ name: 'dateZone', label: 'Time zone', hint: 'Empty: where they are. Else one for everybody, such as Europe/Berlin.', value: zone, maxlength: 64, required: false, autocomplete: 'off', spellcheck: false })}${one(
  {
    name: 'dateRepeat',
    label: 'How often',
    type: 'select',
    value: repeat,
    options: [
      { value: 'yearly', label: 'Each year on that day, for nobody twice in a year' },
      { value: 'once', label: 'Once, in the year of the date' },
    ],
  },
)}`
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
