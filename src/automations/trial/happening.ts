import { jsonObjectIn } from '../../json/index.js'
import { afterMs } from '../definition/index.js'
import type { SimulatedHappening } from './simulation.js'

/**
 * Reads an event of a simulation as it is written on a command line: `order.paid@+2d`, a time after
 * `start` (w, d, h, m, s, or ISO 8601 as `+P2D`) or an instant, and after `=` its payload as JSON, as
 * in `order.paid@2026-12-01T09:00:00Z={"total":5}`. Without a time it happens at the start. A string
 * says what is wrong.
 */
export function readHappening(text: string, start: number): SimulatedHappening | string {
  const [, name = '', when, payload] = form.exec(text) ?? []
  if (name === '') return `"${text}" is not of the form NAME@+2d or NAME@+2d={"payload":1}`
  const at = when === undefined ? start : timeOf(when, start)
  if (at === undefined)
    return `"${when}" is not a time: expected +2d, +90m, +P2D or a date and time`
  const parsed = payload === undefined ? {} : jsonObjectIn(payload)
  if (parsed === undefined) return `The payload of "${name}" is not a JSON object`
  return { at, kind: 'event', name, payload: parsed }
}

// The name, the time after an @, the payload after a =; the payload may have line breaks.
const form = /^([$A-Za-z0-9_.:-]{1,100})(?:@([^={]+))?(?:=(.*))?$/s

/** Relative to the start of the walk or absolute; both are milliseconds since 1970 from here on. */
function timeOf(text: string, start: number): number | undefined {
  if (text.startsWith('+')) {
    const after = afterMs(text.slice(1))
    return after === undefined ? undefined : start + after
  }
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}
