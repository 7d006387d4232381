import { dayMs, hourMs } from '../clock/index.js'

// At least one number must follow the P, and the T: the two look-aheads.
const form =
  /^P(?=\d|T\d)(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,9})S)?)?$/
const unitsMs = [7 * dayMs, dayMs, hourMs, 60_000, 1_000]

/**
 * An ISO 8601 duration in ms, of weeks, days, hours, minutes and seconds in whole numbers; undefined for any other
 * text. A day is 24 hours. Years and months are refused: a month is 28 to 31 days.
 */
export function durationMs(text: string): number | undefined {
  const parts = form.exec(text)?.slice(1)
  return parts?.reduce((sum, count, index) => sum + Number(count ?? 0) * (unitsMs[index] ?? 0), 0)
}

/** A duration in ms, from what people write, such as `2d` or `90m`, or from ISO 8601. */
export function afterMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([wdhms])$/.exec(text) ?? []
  if (count === undefined) return durationMs(text)
  const letter = unit.toUpperCase()
  return durationMs('WD'.includes(letter) ? `P${count}${letter}` : `PT${count}${letter}`)
}
