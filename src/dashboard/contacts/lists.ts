import { type ContactList, listPage, requireList } from '../../contacts/index.js'
import type { Read } from '../../store/index.js'
import { namedOptions } from '../shell/named-options.js'

/** A list to choose. */
export interface ListChoice {
  value: string
  label: string
  /** Whoever is put on it is asked by mail first. */
  asksFirst?: boolean
}

// How many are offered: the newest. A page has no room for 5,000.
const mostOffered = 100

/** An account's lists as choices, those of `also` before the others. */
export async function listChoices(
  read: Read,
  accountId: string,
  also: readonly (Pick<ContactList, 'id' | 'name'> & Partial<ContactList>)[] = [],
): Promise<ListChoice[]> {
  const known = new Set(also.map(({ id }) => id))
  const { page } = await listPage(read, accountId, { limit: mostOffered })
  const lists = [...also, ...page.filter(({ id }) => !known.has(id))]
  const asking = new Set(lists.flatMap(({ id, doubleOptIn }) => (doubleOptIn ? [id] : [])))
  return namedOptions(lists).map(({ value, label }) => ({
    value,
    label,
    asksFirst: asking.has(value),
  }))
}

/** What is said where an account may have more lists than are offered; empty where all are there. */
export const onOlderLists = (offered: readonly ListChoice[]): string =>
  offered.length < mostOffered
    ? ''
    : `The newest ${mostOffered} are offered. For an older one press “Add a contact” on its own page.`

/** The list that an address names, if it names one. Throws a 404. */
export const listNamed = async (read: Read, accountId: string, id: string | undefined) =>
  id === undefined ? [] : [await requireList(read, accountId, id)]
