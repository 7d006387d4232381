import type { Json } from '../json/index.js'
import type { Read } from '../store/index.js'
import { deedFields, mailedFields, untouched } from './fields.js'
import { campaignsOf, segmentsOf } from './read-facts.js'

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

/** The segments and campaigns that a rule, or anything with rules in it, names; by their ids, in lower case. */
export interface NamedAudience {
  segments: readonly string[]
  campaigns: readonly string[]
}

/** The ids in some JSON. It finds more than it must: a text that only looks like such a field costs a query. */
export function audienceIn(json: string): NamedAudience {
  const ids = (root: string) => {
    const found = [...json.matchAll(new RegExp(`"${root}\\.(${uuid})`, 'gi'))]
    return [...new Set(found.map(([, id = '']) => id.toLowerCase()))]
  }
  return { segments: ids('segment'), campaigns: ids('broadcast') }
}

/** The form that such a field should have; undefined if it has it, or for a field of another root. */
export function audiencePathFault(path: string): string | undefined {
  const [root, id = '', ...rest] = path.split('.')
  const isId = new RegExp(`^${uuid}$`, 'i').test(id)
  if (root === 'segment') {
    return isId && rest.length === 0 ? undefined : 'Expected segment.ID, with the UUID of a segment'
  }
  if (root !== 'broadcast') return undefined
  if (isId && deedFields.some((field) => field === rest.join('.'))) return undefined
  const expected = `Expected broadcast.ID with one of .${deedFields.join(', .')}, with the UUID of a campaign`
  return mailedFields.some((field) => field === rest.join('.'))
    ? `${expected}; who got it is asked by a segment: segment.ID`
    : expected
}

/** What some contacts are to the named segments and campaigns: by contact, then by field. */
export async function readAudience(
  read: Read,
  contactIds: readonly string[],
  named: NamedAudience,
): Promise<ReadonlyMap<string, Readonly<Record<string, Json>>>> {
  const asked = { read, ids: contactIds }
  const [segments, campaigns] = await Promise.all([
    segmentsOf(asked, named.segments),
    campaignsOf(asked, named.campaigns),
  ])
  return new Map(
    contactIds.map((contactId): [string, Record<string, Json>] => {
      const fields: Record<string, Json> = {}
      for (const id of named.segments) {
        fields[`segment.${id}`] = segments.get(contactId)?.has(id) ?? false
      }
      for (const id of named.campaigns) {
        const deeds = { ...untouched, ...campaigns.get(`${contactId} ${id}`) }
        for (const [name, value] of Object.entries(deeds)) fields[`broadcast.${id}.${name}`] = value
      }
      return [contactId, fields]
    }),
  )
}
