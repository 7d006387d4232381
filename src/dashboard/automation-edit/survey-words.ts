import { counted, shownCount } from '../../amounts/index.js'
import type { DateSurvey } from '../../automations/index.js'
import { inQuotes } from '../shell/names.js'

/** How many people have a day in the field by which an automation begins, in a sentence. */
export function datedWords({ field, people, dated, sample }: DateSurvey): string {
  if (people === 0) return 'There are no contacts yet.'
  const about = sample === null ? '' : 'about '
  if (dated === 0)
    return `Nobody${looked(sample)} has a day in ${inQuotes(field)}, so it begins for nobody.`
  return `Of ${counted(people, 'contact')} ${about}${shownCount(dated)} ${dated === 1 ? 'has' : 'have'} a day in ${inQuotes(field)}${looked(sample)}.`
}

/** How many have something else in the field, with examples; undefined where nobody has. */
export function unreadableWords({
  field,
  unreadable,
  examples,
  sample,
}: DateSurvey): string | undefined {
  if (examples.length === 0) return undefined
  const about = sample === null ? '' : 'About '
  const such = examples.map(({ email, value }) => `${inQuotes(shownValue(value))} (${email})`)
  return `${about}${counted(unreadable, 'contact has', 'contacts have')} something else than a day in ${inQuotes(field)}${looked(sample)}, such as ${such.join(', ')}: it never begins for them. Write a day as 1990-02-28, or --02-28 without the year.`
}

const looked = (sample: number | null) =>
  sample === null ? '' : `, by ${counted(sample, 'contact')} looked at`

const mostLetters = 40

function shownValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > mostLetters ? `${text.slice(0, mostLetters)}…` : text
}
