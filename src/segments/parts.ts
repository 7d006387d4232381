import { listContactFields } from '../contact-fields/index.js'
import { ApiError } from '../errors/index.js'
import { comparisonsOf, type FieldKind, type Rule, senseless } from '../rules/index.js'
import { idsIn, type Read } from '../store/index.js'
import { namedIn, ruleLimits } from './fields.js'

/** A part of a rule that names something that the account does not have, or no longer has. */
export interface BrokenPart {
  /** Such as `list.UUID`. */
  path: string
  thing: 'list' | 'topic' | 'segment' | 'campaign'
}

/** The missing things that a rule names: such a rule matches nobody. */
export async function brokenParts(
  read: Read,
  accountId: string,
  rule: Rule,
): Promise<BrokenPart[]> {
  return brokenAmong(await knownParts(read, accountId, [rule]), rule)
}

/** A broken part as the API says it. */
export const brokenText = ({ path, thing }: BrokenPart): string =>
  `${path}: the account has no such ${thing}`

/** The ids of all existing things that these rules name. */
export async function knownParts(
  read: Read,
  accountId: string,
  rules: readonly Rule[],
): Promise<ReadonlySet<string>> {
  const named = rules.map(namedIn)
  const idsOf = (root: string) => [...new Set(named.flatMap((one) => [...(one.get(root) ?? [])]))]
  const lists = idsOf('list')
  const known = new Set<string>()
  const keep = (rows: readonly { id: string }[]) => {
    for (const { id } of rows) known.add(id)
  }
  if (lists.length > 0) {
    const rows = read.selectFrom('contact_lists').select('id').where('deleted_at', 'is', null)
    keep(
      await rows
        .where('id', 'in', idsIn(lists, 'text'))
        .where('account_id', '=', accountId)
        .execute(),
    )
  }
  const topics = idsOf('topic')
  if (topics.length > 0) {
    const rows = read.selectFrom('topics').select('id').where('account_id', '=', accountId)
    keep(await rows.where('id', 'in', idsIn(topics, 'text')).execute())
  }
  const campaigns = idsOf('broadcast')
  if (campaigns.length > 0) {
    const rows = read.selectFrom('broadcasts').select('id').where('account_id', '=', accountId)
    keep(await rows.where('id', 'in', idsIn(campaigns, 'text')).execute())
  }
  const segments = idsOf('segment')
  if (segments.length > 0) {
    for (const id of await segmentsThere(read, accountId, segments)) known.add(id)
  }
  return known
}

/** Those of some ids, in lower case, that are segments of the account. */
export async function segmentsThere(
  read: Read,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await read
    .selectFrom('segments')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', 'in', idsIn(ids, 'text'))
    .where('state', '<>', 'deleted')
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** The parts of a rule that are not among what is known (`knownParts`). */
export function brokenAmong(known: ReadonlySet<string>, rule: Rule): BrokenPart[] {
  const named = namedIn(rule)
  const words = { list: 'list', topic: 'topic', segment: 'segment', broadcast: 'campaign' } as const
  return Object.entries(words).flatMap(([root, thing]) =>
    [...(named.get(root) ?? [])]
      .filter((id) => !known.has(id))
      .map((id) => ({ path: `${root}.${id}`, thing })),
  )
}

/**
 * Throws a 400 that says which part of the rule names nothing, has too much in it, or can decide nothing because the
 * account's own field holds something else.
 */
export async function refuseUnknown(read: Read, accountId: string, rule: Rule): Promise<void> {
  if (comparisonsOf(rule).length > ruleLimits.conditions) {
    const message = `rule: Expected at most ${ruleLimits.conditions} conditions`
    throw new ApiError('validation_error', message)
  }
  const [broken] = await brokenParts(read, accountId, rule)
  const fault =
    broken === undefined ? await describedFault(read, accountId, rule) : brokenText(broken)
  if (fault !== undefined) throw new ApiError('validation_error', `rule: ${fault}`)
}

const ownFields = 'contact.metadata.'

/** What an account's own field holds, by its description; other fields may hold anything that came with a contact. */
const describedKinds: Readonly<Record<string, FieldKind>> = { number: 'number', date: 'day' }

async function describedFault(
  read: Read,
  accountId: string,
  rule: Rule,
): Promise<string | undefined> {
  const own = comparisonsOf(rule).filter(({ field }) => field.startsWith(ownFields))
  if (own.length === 0) return undefined
  const fields = await listContactFields(read, accountId)
  const types = new Map(fields.map(({ name, type }) => [`${ownFields}${name}`, type]))
  for (const { field, operator, value } of own) {
    const fault = senseless(describedKinds[types.get(field) ?? ''], operator, value)
    if (fault !== undefined) return `${field}: ${fault.message}`
  }
  return undefined
}
