import { array, optional, string } from 'superstruct'
import {
  type Broadcast,
  type BroadcastChanges,
  mostAnHour,
  paceOf,
  type SendWindow,
} from '../../broadcasts/index.js'
import { isZone } from '../../clock/index.js'
import { refuseWrong, type WrongField } from '../../errors/index.js'
import type { Form } from '../../http/index.js'
import { placeOf } from '../format.js'
import type { Faults } from '../shell/faults.js'
import { field, fieldSet } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'
import { edgeWords } from '../typed-moment.js'
import { shown } from './words.js'

/** How fast a campaign leaves and in which hours, as a browser sends it. */
export const paceFields = {
  rate: optional(string()),
  window: optional(string()),
  windowTo: optional(string()),
  windowDays: array(string()),
  windowZone: optional(string()),
}

interface PaceForm {
  rate?: string | undefined
  window?: string | undefined
  windowTo?: string | undefined
  windowDays: string[]
  windowZone?: string | undefined
}

/** As the API takes it. Throws a 400 at the field that is wrong. */
export function paceGiven(form: PaceForm, zone: string): Pick<BroadcastChanges, 'rate' | 'window'> {
  const { rate = '', window: from = '', windowTo: to = '', windowDays } = form
  const most = rate.replace(/[\s,.]/g, '')
  const days = windowDays.map(Number)
  const isEachDay = days.length === 0 || days.length === 7
  const named = form.windowZone?.trim() ?? ''
  refuseWrong([...rateFaults(most), ...hoursFaults({ from, to, named })])
  const hours = { from, to, zone: named || zone, ...(!isEachDay && { days }) }
  return {
    rate: most === '' ? 'none' : Number(most),
    window: from === '' && to === '' ? 'none' : hours,
  }
}

function rateFaults(most: string): WrongField[] {
  const fault = (message: string) => [{ field: 'rate', message }]
  if (!/^\d*$/.test(most)) return fault('Write a whole number of mails, such as 500')
  const isWithin = most === '' || (Number(most) >= 1 && Number(most) <= mostAnHour)
  return isWithin ? [] : fault(`Write a number of mails from 1 to ${shown(mostAnHour)}`)
}

function hoursFaults({ from, to, named }: Record<'from' | 'to' | 'named', string>): WrongField[] {
  const found: WrongField[] = []
  if ((from === '') !== (to === '')) {
    const [field, says] =
      from === '' ? (['window', 'from when'] as const) : (['windowTo', 'until when'] as const)
    found.push({ field, message: `Say ${says} too, or leave both empty` })
  }
  if (from !== '' && from === to) {
    const message = 'Write another time than the one from which it leaves'
    found.push({ field: 'windowTo', message })
  }
  if (from !== '' && named !== '' && !isZone(named)) {
    const message = 'There is no such zone: write one such as Africa/Lagos'
    found.push({ field: 'windowZone', message })
  }
  return found
}

/** Whether something is wrong with what a form says of it. */
export const isPaceWrong = ({ fields }: Faults): boolean =>
  Object.keys(paceFields).some((name) => name in fields)

/** Whether a form says how fast it leaves, or in which hours. */
export const isPaceTyped = (fields: Form): boolean =>
  ['rate', 'window', 'windowTo', 'windowDays'].some((name) => Boolean(fields.get(name)))

/** The faults with what is typed of it, for a form that comes back though nothing is wrong, as after 'Preview'. */
export function withPaceTyped(faults: Faults, fields: Form): Faults {
  const typed = ['rate', 'window', 'windowTo', 'windowZone'].map((name): [string, string] => [
    name,
    fields.get(name) ?? '',
  ])
  const windowDays = fields.all('windowDays')
  return { ...faults, values: { ...Object.fromEntries(typed), windowDays, ...faults.values } }
}

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const dayOptions = weekdays.map((label, at) => ({ value: String(at + 1), label }))

/** The fields of it, with what the campaign has. */
export function paceFieldsOf(
  pace: Pick<Broadcast, 'rate' | 'send_window'> | undefined,
  { zone, faults }: { zone: string; faults: Faults },
): Html {
  const { rate, window } = pace ? paceOf(pace) : { rate: null, window: null }
  const usualZone = window?.zone ?? zone
  return html`${field({
    name: 'rate',
    label: 'Mails an hour at most',
    hint: 'Empty: as fast as they can leave.',
    value: rate === null ? '' : String(rate),
    inputmode: 'numeric',
    required: false,
    faults,
  })}<div class="sides">${field({
    name: 'window',
    label: 'Only from',
    type: 'time',
    value: window?.from ?? '',
    required: false,
    faults,
  })}${field({
    name: 'windowTo',
    label: 'until',
    type: 'time',
    // A browser's field knows no 24:00.
    value: window?.to === '24:00' ? '00:00' : (window?.to ?? ''),
    required: false,
    faults,
  })}</div>${fieldSet({
    name: 'windowDays',
    label: 'On these days',
    hint: 'None ticked: on each.',
    options: dayOptions,
    value: (window?.days ?? []).map(String),
    faults,
  })}${field({
    name: 'windowZone',
    label: 'In the time of',
    hint: `Such as Africa/Lagos. ${edgeWords}`,
    value: usualZone,
    required: false,
    faults,
  })}`
}

/** How it leaves, in a sentence; undefined: as any other. */
export function paceWords(pace: Pick<Broadcast, 'rate' | 'send_window'>): string | undefined {
  const { rate, window } = paceOf(pace)
  const words = [
    ...(rate === null ? [] : [`at most ${shown(rate)} an hour`]),
    ...(window === null ? [] : [hoursWords(window)]),
  ]
  return words.length === 0 ? undefined : words.join(', ')
}

function hoursWords({ from, to, days, zone }: SendWindow): string {
  const on = days?.map((day) => weekdays[day - 1]?.slice(0, 3)).join(', ')
  return `from ${from} until ${to}${on === undefined ? '' : ` on ${on}`}, ${zone === 'UTC' ? 'UTC' : `the time in ${placeOf(zone)}`}`
}
