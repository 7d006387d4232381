import { type Clock, isoTime } from '../clock/index.js'
import { keepName } from '../contacts/index.js'
import { ApiError } from '../errors/index.js'
import type { Rule } from '../rules/index.js'
import type { Read, SegmentRow, Store, Tx } from '../store/index.js'
import { namedIn } from './fields.js'
import { noteMailedOf } from './mailed.js'
import { refuseUnknown } from './parts.js'

/** What every change of a segment needs. */
export interface SegmentDeps {
  store: Store
  clock: Clock
}

/** A saved rule about people, with how many match it. */
export interface Segment {
  id: string
  name: string
  rule: Rule
  count: number
  mailable: number
  /** The members who are not mailed, by the strongest reason. */
  unsubscribed: number
  bounced: number
  complained: number
  suppressed: number
  state: Exclude<SegmentRow['state'], 'deleted'>
  asOf: number
  createdAt: number
}

/** How many segments an account may have. */
export const mostSegments = 100
// At most a segment of segments of segments.
const deepest = 2

/** The account's segments, newest first. */
export async function listSegments(read: Read, accountId: string): Promise<Segment[]> {
  return (await rowsOfAccount(read, accountId)).map(toSegment)
}

/** Throws a 404. */
export async function requireSegment(read: Read, accountId: string, id: string): Promise<Segment> {
  const row = await read
    .selectFrom('segments')
    .selectAll()
    .where('id', '=', id.toLowerCase())
    .where('account_id', '=', accountId)
    .where('state', '<>', 'deleted')
    .executeTakeFirst()
  if (row === undefined)
    throw new ApiError('not_found', 'The account has no segment with this id', { is: 'noSegment' })
  return toSegment(row)
}

/** Makes a segment and begins to look for its members. Throws a 400 for a rule that names something missing. */
export async function createSegment(
  { store, clock }: SegmentDeps,
  accountId: string,
  { name, rule }: { name: string; rule: Rule },
  alongside: (tx: Tx, segment: Segment) => Promise<void> = async () => {},
): Promise<Segment> {
  const id = store.ids.uuid()
  return await store.write(async (tx) => {
    const others = await rowsOfAccount(tx, accountId)
    if (others.length >= mostSegments) {
      throw new ApiError('conflict', `An account has at most ${mostSegments} segments`)
    }
    await refuseUnknown(tx, accountId, rule)
    await noteMailedOf(tx, rule)
    const now = clock.now()
    const row: SegmentRow = {
      id,
      account_id: accountId,
      name: name.trim(),
      rule: JSON.stringify(rule),
      count: 0,
      unsubscribed: 0,
      bounced: 0,
      complained: 0,
      suppressed: 0,
      state: 'filling',
      cursor: '',
      revision: 0,
      depth: depthsOf([...others.map(toNode), { id, rule }]).get(id) ?? 0,
      as_of: now,
      created_at: now,
    }
    await tx.insertInto('segments').values(row).execute()
    const made = toSegment(row)
    await alongside(tx, made)
    return made
  })
}

/**
 * Changes what is given; for a changed rule all contacts are looked at again. Throws a 404 or 400, and whatever `check`
 * throws about the stored segment.
 */
export async function changeSegment(
  { store }: Omit<SegmentDeps, 'clock'>,
  accountId: string,
  id: string,
  { name, rule }: { name?: string | undefined; rule?: Rule | undefined },
  check: (before: Segment) => void = () => {},
): Promise<Segment> {
  return await store.write(async (tx) => {
    const known = await requireSegment(tx, accountId, id)
    check(known)
    if (name !== undefined) {
      const given = { name: name.trim() }
      await tx.updateTable('segments').set(given).where('id', '=', known.id).execute()
    }
    if (rule !== undefined && JSON.stringify(rule) !== JSON.stringify(known.rule)) {
      await refuseUnknown(tx, accountId, rule)
      await noteMailedOf(tx, rule)
      const rows = await rowsOfAccount(tx, accountId)
      const nodes = rows.map((row) => (row.id === known.id ? { id: row.id, rule } : toNode(row)))
      for (const [one, depth] of depthsOf(nodes)) {
        await tx.updateTable('segments').set({ depth }).where('id', '=', one).execute()
      }
      await tx
        .updateTable('segments')
        .set(({ eb }) => ({
          rule: JSON.stringify(rule),
          state: 'filling',
          cursor: '',
          revision: eb('revision', '+', 1),
        }))
        .where('id', '=', known.id)
        .execute()
    }
    return await requireSegment(tx, accountId, known.id)
  })
}

/** What uses a segment, by name. */
export interface SegmentUse {
  kind: 'segment' | 'automation' | 'campaign'
  id: string
  name: string
}

/** Segments that ask for this one, or for a list. */
export async function segmentsAskingFor(
  read: Read,
  accountId: string,
  id: string,
  thing: 'segment' | 'list' = 'segment',
): Promise<SegmentUse[]> {
  const rows = await rowsOfAccount(read, accountId)
  return rows
    .filter((row) => namedIn(toNode(row).rule).get(thing)?.has(id) === true)
    .map((row) => ({ kind: 'segment', id: row.id, name: row.name }))
}

/**
 * Deletes a segment, but none of its people; its rows are deleted in slices (`takeDeleted`). Throws a 409 that names
 * what uses it.
 */
export async function deleteSegment(
  { store, usesOf }: { store: Store; usesOf?: UsesOfSegment | undefined },
  accountId: string,
  id: string,
): Promise<Segment> {
  return await store.write(async (tx) => {
    const segment = await requireSegment(tx, accountId, id)
    const uses = await usesOfSegment(tx, usesOf, accountId, segment.id)
    if (uses.length > 0) {
      const names = uses.map((use) => `${use.kind} "${use.name}"`).join(', ')
      throw new ApiError('conflict', `"${segment.name}" is used by ${names}; change that first`)
    }
    await tx
      .updateTable('segments')
      .set({ state: 'deleted' })
      .where('id', '=', segment.id)
      .execute()
    await keepName(tx, accountId, segment)
    return segment
  })
}

/** The automations and campaigns that ask for a segment; a function of the folders that know them. */
export type UsesOfSegment = (
  read: Read,
  accountId: string,
  id: string,
) => Promise<readonly { id: string; name: string; kind?: SegmentUse['kind'] }[]>

/** All that uses a segment. */
export async function usesOfSegment(
  read: Read,
  others: UsesOfSegment | undefined,
  accountId: string,
  id: string,
): Promise<SegmentUse[]> {
  const uses = (await others?.(read, accountId, id)) ?? []
  return [
    ...(await segmentsAskingFor(read, accountId, id)),
    ...uses.map(
      ({ kind = 'automation', ...one }): SegmentUse => ({ kind, id: one.id, name: one.name }),
    ),
  ]
}

/** The segments that a contact is in, by name. */
export async function segmentsOfContact(
  read: Read,
  accountId: string,
  contactId: string,
): Promise<{ id: string; name: string; since: number }[]> {
  const rows = await read
    .selectFrom('segments')
    .innerJoin('segment_members', 'segment_members.segment_id', 'segments.id')
    .select(['segments.id', 'segments.name', 'since'])
    .where('account_id', '=', accountId)
    .where('contact_id', '=', contactId)
    .where('state', '<>', 'deleted')
    .execute()
  return rows.sort((a, b) => a.name.localeCompare(b.name))
}

interface Node {
  id: string
  rule: Rule
}

/** How deep segments ask for others. Throws a 400 for a circle, and for more than three in a row. */
function depthsOf(nodes: readonly Node[]): Map<string, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const depths = new Map<string, number>()
  const depthOf = (id: string, path: readonly string[]): number => {
    const node = byId.get(id)
    if (node === undefined) return -1
    if (path.includes(id)) {
      throw new ApiError(
        'validation_error',
        'rule: segments may not ask for each other in a circle',
      )
    }
    const known = depths.get(id)
    if (known !== undefined) return known
    const inner = [...(namedIn(node.rule).get('segment') ?? [])]
    const depth = 1 + Math.max(-1, ...inner.map((one) => depthOf(one, [...path, id])))
    if (depth > deepest) {
      const message = `rule: segments may ask for others at most ${deepest + 1} deep`
      throw new ApiError('validation_error', message)
    }
    depths.set(id, depth)
    return depth
  }
  for (const { id } of nodes) depthOf(id, [])
  return depths
}

const rowsOfAccount = (read: Read, accountId: string) =>
  read
    .selectFrom('segments')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('state', '<>', 'deleted')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()

export const ruleOfRow = (row: { rule: string }): Rule => JSON.parse(row.rule) as Rule

const toNode = (row: SegmentRow): Node => ({ id: row.id, rule: ruleOfRow(row) })

const toSegment = (row: SegmentRow): Segment => {
  const { count, unsubscribed, bounced, complained, suppressed } = row
  return {
    id: row.id,
    name: row.name,
    rule: ruleOfRow(row),
    count,
    mailable: count - unsubscribed - bounced - complained - suppressed,
    unsubscribed,
    bounced,
    complained,
    suppressed,
    state: row.state === 'filling' ? 'filling' : 'current',
    asOf: row.as_of,
    createdAt: row.created_at,
  }
}

/** A segment as the API and commands show it. */
export const shownSegment = ({ state, asOf, createdAt, rule, id, name, ...numbers }: Segment) => ({
  id,
  name,
  rule,
  ...numbers,
  state,
  asOf: isoTime(asOf),
  createdAt: isoTime(createdAt),
})
