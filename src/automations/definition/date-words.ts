import { counted } from '../../amounts/index.js'
import { dateFieldOf } from './date-trigger.js'
import type { DateOf } from './definition.js'

/**
 * When a trigger by date begins, without a full stop: `Each year, 3 days before “birthday”, at 09:00 where they are`.
 */
export function dateWords({
  field,
  days = 0,
  time = '09:00',
  zone = 'contact',
  repeat,
}: DateOf): string {
  const often = repeat === 'once' ? 'Once' : 'Each year'
  const away = `${counted(Math.abs(days), 'day')} ${days < 0 ? 'before' : 'after'}`
  const day = field === '' ? 'a date of theirs' : `“${dateFieldOf({ field })}”`
  const where = zone === 'contact' ? 'where they are' : `in ${zone}`
  return `${often}, ${days === 0 ? `on the day of ${day}` : `${away} ${day}`}, at ${time} ${where}`
}
