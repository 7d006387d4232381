import { goneNames, listLists } from '../contacts/index.js'
import { knownFields, listForms } from '../forms/index.js'
import type { Read } from '../store/index.js'
import { listTopics } from '../topics/index.js'
import type { knownOf } from './known.js'

/** The names that people know, for what records hold as ids and programs' names. */
export interface Names {
  /** Lists, topics and forms, also deleted lists, by their ids. */
  things: ReadonlyMap<string, string>
  /** Labels of own fields and of questions in forms, by the fields' names. */
  fields: ReadonlyMap<string, string>
}

export const noNames: Names = { things: new Map(), fields: new Map() }

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const moment = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+Z$/

// Plain words for parts of records whose names say little to people.
const partWords: Readonly<Record<string, string>> = {
  listId: 'list',
  listIds: 'lists',
  formId: 'form',
  topicId: 'topic',
  offered: 'offered',
  askedAt: 'asked for at',
  address: 'network',
  metadata: 'answers',
}

/** The names of everything that the records of an address mention. */
export async function namesIn(
  read: Read,
  accountId: string,
  { contact, consent, forms }: Awaited<ReturnType<typeof knownOf>>,
): Promise<Names> {
  const named = [
    ...(await listLists(read, accountId)),
    ...(await listTopics(read, accountId, { archived: true })),
    ...(await listForms(read, accountId)),
  ]
  const listIds = consent.flatMap(({ detail }) =>
    [detail.listId ?? [], detail.listIds ?? []].flat(),
  )
  const answers = Object.assign({}, contact?.metadata, ...forms.map(({ typed }) => typed.metadata))
  const fields = await knownFields(read, accountId, answers)
  return {
    things: new Map([
      ...(await goneNames(read, accountId, listIds)),
      ...named.map(({ id, name }): [string, string] => [id, name]),
    ]),
    fields: new Map(fields.map(({ name, label }) => [name, label])),
  }
}

/** A value as people read it: an object by its parts. An id without a known name is left to `everything.json`. */
export function worded(value: unknown, names: Names = noNames): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') {
    if (uuid.test(value)) return names.things.get(value) ?? ''
    return value.replace(moment, '$1 $2')
  }
  if (Array.isArray(value))
    return value
      .map((one) => worded(one, names))
      .filter((one) => one !== '')
      .join(', ')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map(([name, one]) => [labelOf(name, names), worded(asMoment(name, one), names)])
    .filter(([, words]) => words !== '')
    .map(([name, words]) => `${name}: ${words}`)
    .join('; ')
}

/** What a part of a record, or a field, is called. */
export const labelOf = (name: string, { fields }: Names): string =>
  fields.get(name) ?? partWords[name] ?? name

/** A time in ms, as records keep it, as text. */
const asMoment = (name: string, value: unknown): unknown =>
  typeof value === 'number' && /At$/.test(name) ? new Date(value).toISOString() : value
