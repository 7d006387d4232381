import { comparisonsOf, type Rule } from '../../rules/index.js'
import { segmentsThere } from '../../segments/index.js'
import { idsIn, type Read } from '../../store/index.js'
import type { AutomationDefinition } from './definition.js'
import { coded, type StepFault } from './fault.js'

// The field by which the filter of such a trigger, or of such a wait, names its list or segment.
const named: Readonly<Record<string, { field: RegExp; what: 'list' | 'segment' }>> = {
  '$list.joined': { field: /^(event|trigger)\.listId$/, what: 'list' },
  '$segment.joined': { field: /^(event|trigger)\.segmentId$/, what: 'segment' },
  '$segment.left': { field: /^(event|trigger)\.segmentId$/, what: 'segment' },
}

/** The lists and segments that steps wait for people to join and that the account does not have: nobody joins them. */
export async function joinedFaults(
  read: Read,
  accountId: string,
  { steps }: AutomationDefinition,
): Promise<StepFault[]> {
  const asked = steps.flatMap(({ key, type, config }) =>
    type === 'trigger' || type === 'wait_for_event'
      ? idsOf(config).map((one) => ({ key, ...one }))
      : [],
  )
  const of = (what: string) => asked.flatMap((one) => (one.what === what ? [one.id] : []))
  const [lists, segments] = [of('list'), of('segment')]
  const there = new Set([
    ...(lists.length === 0 ? [] : await listsThere(read, accountId, lists)),
    ...(segments.length === 0 ? [] : await segmentsThere(read, accountId, segments)),
  ])
  return asked
    .filter(({ id }) => !there.has(id))
    .map(({ key, what, id }) =>
      coded(
        key,
        what === 'list' ? 'noList' : 'noSegment',
        `filter: the account has no ${what} ${id}`,
      ),
    )
}

function idsOf({ eventName, filter }: { eventName: string; filter?: Rule | undefined }) {
  const place = Object.hasOwn(named, eventName) ? named[eventName] : undefined
  if (place === undefined || filter === undefined) return []
  const { field, what } = place
  return comparisonsOf(filter)
    .filter((one) => field.test(one.field) && ['eq', 'in'].includes(one.operator))
    .flatMap(({ value }) => {
      const ids: readonly unknown[] = Array.isArray(value) ? value : [value]
      return ids.filter((id) => typeof id === 'string')
    })
    .map((id) => ({ what, id: id.toLowerCase() }))
}

async function listsThere(read: Read, accountId: string, ids: readonly string[]) {
  const rows = await read
    .selectFrom('contact_lists')
    .select('id')
    .where('id', 'in', idsIn(ids, 'text'))
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .execute()
  return rows.map(({ id }) => id)
}
