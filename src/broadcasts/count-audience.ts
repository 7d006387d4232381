import { sql } from 'kysely'
import { nextTurn } from '../bounded/index.js'
import { erasedContacts } from '../contacts/index.js'
import { countNameOf } from '../segments/index.js'
import { idsOf, prepared, type Read } from '../store/index.js'
import { strength } from '../suppression/index.js'
import { countFit } from './count-fit.js'
import { amongWhom } from './members.js'
import { type Audience, requireWhom } from './whom.js'

/**
 * How many people an audience has, how many of them can be mailed, and why the others cannot, each by the strongest
 * reason.
 */
export interface AudienceCount {
  fit: number
  reachable: number
  unsubscribed: number
  bounced: number
  complained: number
  suppressed: number
  leftTopic: number
  /** How many of those suppressed by hand were erased on request and added again, where that was found out. */
  erased?: number
}

// A page takes a few milliseconds of reading; between pages others have their turn.
const perPage = 1_000

/**
 * How many would be mailed now. Lists and segments have their sizes (`countFit`). The people who must not be mailed are
 * few, and are counted from their side. Throws a 404 for a list or segment that is not the account's.
 */
export async function countAudience(read: Read, audience: Audience): Promise<AudienceCount> {
  const count: AudienceCount = {
    fit: await fitOf(read, audience),
    reachable: 0,
    unsubscribed: 0,
    bounced: 0,
    complained: 0,
    suppressed: 0,
    leftTopic: 0,
  }
  const isNotice = audience.type === 'transactional'
  for (const table of ['suppressions', 'topic_opt_outs'] as const) {
    if (table === 'topic_opt_outs' && (audience.topicId === null || isNotice)) continue
    for (let after: string | undefined = ''; after !== undefined; ) {
      after = await countBlocked(read, audience, { table, after, count })
      // Clients of this thread wait meanwhile.
      await nextTurn()
    }
  }
  const { fit, unsubscribed, bounced, complained, suppressed, leftTopic } = count
  const blocked = unsubscribed + bounced + complained + suppressed + leftTopic
  const erased = suppressed === 0 ? 0 : await erasedAmongWhom(read, audience)
  const reachable = Math.max(0, fit - blocked)
  return { ...count, reachable, ...(erased !== undefined && { erased }) }
}

async function erasedAmongWhom(
  read: Read,
  { accountId, whom }: Audience,
): Promise<number | undefined> {
  const ids = await erasedContacts(read, accountId)
  return ids && (await amongWhom(read, whom, ids)).length
}

async function fitOf(read: Read, { accountId, whom }: Audience): Promise<number> {
  await requireWhom(read, accountId, whom, { mayBeEmpty: true })
  return await countFit(read, { accountId, whom })
}

/**
 * Counts a page of people who must not be mailed, each address once; resolves with the last, or undefined at the end.
 */
async function countBlocked(
  read: Read,
  { accountId, whom, topicId, type }: Audience,
  {
    table,
    after,
    count,
  }: { table: 'suppressions' | 'topic_opt_outs'; after: string; count: AudienceCount },
): Promise<string | undefined> {
  const given = { accountId, after, limit: perPage }
  const rows: { address: string; reasons?: string }[] =
    table === 'suppressions'
      ? await (type === 'transactional' ? suppressedFromAllAfter : suppressedAfter)(read, given)
      : await leftAfter(read, { ...given, topicId })
  const nameOf = new Map(rows.map(({ address, reasons }) => [address, whyNot(reasons)]))
  const json = JSON.stringify([...nameOf.keys()])
  const contacts = await contactsAt(read, { accountId, json })
  const addressOf = new Map(contacts.map(({ id, address }) => [id, address]))
  for (const id of await amongWhom(read, whom, [...addressOf.keys()])) {
    count[nameOf.get(addressOf.get(id) ?? '') ?? 'suppressed']++
  }
  return rows.length < perPage ? undefined : rows.at(-1)?.address
}

/** Somebody without a suppression has left the topic. */
function whyNot(reasons: string | undefined): keyof AudienceCount {
  if (reasons === undefined) return 'leftTopic'
  const known = reasons.split(',')
  const strongest = strength.find((reason) => known.includes(reason))
  return strongest === undefined ? 'suppressed' : countNameOf[strongest]
}

interface SuppressedAfter {
  accountId: string
  after: string
  limit: number
}

const suppressedAfter = prepared<SuppressedAfter, { address: string; reasons: string }>(
  (db, after) => suppressed(db, after),
)

/** The people who do not even get a notice. */
const suppressedFromAllAfter = prepared<SuppressedAfter, { address: string; reasons: string }>(
  (db, after) => suppressed(db, after).where('scope', '=', 'all'),
)

// One address may have several reasons.
const suppressed = (db: Read, { accountId, after, limit }: SuppressedAfter) =>
  db
    .selectFrom('suppressions')
    .select(({ fn }) => [
      'address',
      fn<string>('string_agg', ['reason', sql.lit(',')]).as('reasons'),
    ])
    .where('account_id', '=', accountId)
    .where('address', '>', after)
    .groupBy('address')
    .orderBy('address')
    .limit(limit)

// People who are also suppressed are counted there.
const leftAfter = prepared<
  { accountId: string; topicId: string | null; after: string; limit: number },
  { address: string }
>((db, { accountId, topicId, after, limit }) =>
  db
    .selectFrom('topic_opt_outs')
    .select('address')
    .where('account_id', '=', accountId)
    .where('topic_id', '=', topicId)
    .where('address', '>', after)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('suppressions')
            .select('suppressions.address')
            .whereRef('suppressions.account_id', '=', 'topic_opt_outs.account_id')
            .whereRef('suppressions.address', '=', 'topic_opt_outs.address'),
        ),
      ),
    )
    .orderBy('address')
    .limit(limit),
)

const contactsAt = prepared<{ accountId: string; json: string }, { id: string; address: string }>(
  (db, { accountId, json }) =>
    db
      .selectFrom('contacts')
      .select(['id', 'address'])
      .where('account_id', '=', accountId)
      .where('address', 'in', idsOf(json, 'text')),
)
