import { sampleContacts, scaled } from '../../contacts/index.js'
import type { Json } from '../../json/index.js'
import { type Read, storedObject } from '../../store/index.js'
import { type DateRule, dateFieldOf, dateIn } from '../definition/index.js'

/** Who of an account has a day in the field by which an automation begins. */
export interface DateSurvey {
  field: string
  people: number
  dated: number
  /** People with another value than a day in the field: it never begins for them. */
  unreadable: number
  /** Some of these, each value once. */
  examples: { email: string; value: Json }[]
  /** How many contacts were looked at, where those were not all: then the numbers are estimates. */
  sample: number | null
}

const mostExamples = 3

/** Looks whether people have a day in the field, in a sample where there are many; it writes nothing. */
export async function surveyDates(
  read: Read,
  accountId: string,
  { date }: DateRule,
): Promise<DateSurvey> {
  let dated = 0
  let unreadable = 0
  const examples = new Map<string, { email: string; value: Json }>()
  const of = await sampleContacts(read, accountId, (contacts) => {
    for (const { email, metadata } of contacts) {
      const found = dateIn(date, storedObject(metadata))
      if (found.kind === 'day') dated++
      if (found.kind !== 'unreadable') continue
      unreadable++
      if (examples.size < mostExamples)
        examples.set(JSON.stringify(found.value), { email, value: found.value })
    }
  })
  return {
    field: dateFieldOf(date),
    people: of.total,
    dated: scaled(dated, of),
    unreadable: scaled(unreadable, of),
    examples: [...examples.values()],
    sample: of.sample,
  }
}
