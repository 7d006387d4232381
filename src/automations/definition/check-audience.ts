import { audienceIn, segmentsThere } from '../../segments/index.js'
import type { Read } from '../../store/index.js'
import type { AutomationDefinition } from './definition.js'
import { coded, type StepFault } from './fault.js'

/** The segments that rules of a definition name and the account does not have, each with its place. */
export async function checkAudience(
  read: Read,
  accountId: string,
  { steps, settings = {} }: AutomationDefinition,
): Promise<StepFault[]> {
  const named = audienceIn(JSON.stringify([steps, settings])).segments
  if (named.length === 0) return []
  const there = await segmentsThere(read, accountId, named)
  const faultsOf = (key: string | null, value: unknown, root: string): StepFault[] =>
    placesOf(value, root).flatMap(([place, text]) => {
      const [, id = ''] = /^segment\.([^.]+)$/.exec(text) ?? []
      if (id === '' || there.has(id.toLowerCase())) return []
      return [coded(key, 'noSegment', `${place}: the account has no segment ${id}`)]
    })
  return [
    ...steps.flatMap(({ key, config }) => faultsOf(key, config, '')),
    ...faultsOf(null, settings, 'settings'),
  ]
}

/** The texts in a value that may name a field, each with its path. */
function placesOf(value: unknown, place: string): [place: string, text: string][] {
  if (typeof value === 'string') return [[place, value]]
  if (typeof value !== 'object' || value === null) return []
  const inner = Array.isArray(value) ? value.entries() : Object.entries(value)
  return [...inner].flatMap(([name, one]) =>
    placesOf(one, place === '' ? String(name) : `${place}.${name}`),
  )
}
