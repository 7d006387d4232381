import { knownFields } from '../../forms/index.js'
import type { FieldKind } from '../../rules/index.js'
import { instantOf } from '../../rules/index.js'
import { type Read, storedObject } from '../../store/index.js'

/** A field that contacts have of their own, or one of their names, as they really fill it. */
export interface FilledField {
  /** Of metadata, or `firstName`, `lastName`. */
  name: string
  label: string
  /** What the account says that it holds, else what all that were looked at are. */
  kind: FieldKind | undefined
  /** The commonest first; of a choice all there are. */
  values: string[]
}

const mostOwn = 30
const mostValues = 8
const mostLetters = 40
// Contacts of whom it is asked which fields they have: a millisecond or two.
const looked = 200

/** The fields of an account's own, those that it describes first, then the commonest; and its contacts' names. */
export async function ownFields(
  read: Read,
  accountId: string,
): Promise<{ fields: FilledField[]; names: ReadonlyMap<string, FilledField> }> {
  const rows = await read
    .selectFrom('contacts')
    .select(['metadata', 'first_name', 'last_name'])
    .where('account_id', '=', accountId)
    .orderBy('address')
    .limit(looked)
    .execute()
  const seen = new Map<string, unknown[]>()
  const names = new Map<string, unknown[]>([
    ['firstName', []],
    ['lastName', []],
  ])
  for (const { metadata, first_name, last_name } of rows) {
    names.get('firstName')?.push(first_name)
    names.get('lastName')?.push(last_name)
    for (const [key, value] of Object.entries(storedObject(metadata))) {
      // A dot would be a path within it.
      if (key.includes('.') || key === '' || key.length > 60) continue
      const known = seen.get(key) ?? []
      seen.set(key, known)
      known.push(value)
    }
  }
  const described = await knownFields(read, accountId, Object.fromEntries(seen))
  const asOf = new Map(described.map((field) => [field.name, field]))
  const common = [...seen]
    .sort((a, b) => b[1].length - a[1].length || a[0].localeCompare(b[0]))
    .slice(0, mostOwn)
    .map(([key]) => key)
  const fieldOf = (name: string, values: readonly unknown[]): FilledField => {
    const { label = name, type, choices = [] } = asOf.get(name) ?? {}
    const kind = type === undefined ? kindOfAll(values) : describedKinds[type]
    return { name, label, kind, values: choices.length > 0 ? [...choices] : commonest(values) }
  }
  return {
    fields: [...new Set([...asOf.keys(), ...common])]
      .filter((name) => !names.has(name))
      .map((name) => fieldOf(name, seen.get(name) ?? [])),
    names: new Map([...names].map(([name, values]) => [name, fieldOf(name, values)])),
  }
}

const describedKinds = { text: 'text', choice: 'text', number: 'number', date: 'day' } as const

/** What all these values are; undefined for several kinds of them, or none. */
function kindOfAll(values: readonly unknown[]): FieldKind | undefined {
  const kinds = new Set(values.filter((one) => one !== null && one !== '').map(kindOf))
  const [kind] = kinds
  return kinds.size === 1 ? kind : undefined
}

function kindOf(value: unknown): FieldKind | undefined {
  if (typeof value === 'boolean') return 'truth'
  if (typeof value === 'number') return 'number'
  if (typeof value !== 'string') return undefined
  return instantOf(value) === undefined ? 'text' : 'day'
}

/** What stands there most often, as it is typed. */
function commonest(values: readonly unknown[]): string[] {
  const counts = new Map<string, number>()
  for (const value of values) {
    if (typeof value !== 'string' && typeof value !== 'number') continue
    const text = String(value)
    if (text === '' || text.length > mostLetters) continue
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return [...counts]
    .sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
    .slice(0, mostValues)
    .map(([text]) => text)
}
