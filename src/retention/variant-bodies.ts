import { addStoredBytes } from '../contents/index.js'
import { type BroadcastRow, idsIn, prepared, type Store, type Tx } from '../store/index.js'
import { dropBodies } from './uses.js'

/** The content of a campaign's version that no mail uses any more. */
interface VariantBody {
  campaign: string
  accountId: string
  id: number
  attachments: string | null
  bytes: number
}

const atOnce = 100

/**
 * Deletes contents of the versions of campaigns that ended before `until` if no mail has them any more. Resolves with
 * how many.
 */
export async function forgetVariantBodies(
  { read, write }: Pick<Store, 'read' | 'write'>,
  { until, signal }: { until: number; signal: AbortSignal },
): Promise<number> {
  let gone = 0
  for (let found = atOnce; found === atOnce && !signal.aborted; ) {
    const rows = await unusedOfVariants(read, { until, limit: atOnce })
    await write((tx) => drop(tx, rows))
    found = rows.length
    gone += found
  }
  return gone
}

/**
 * Deletes the records of who was in the tests of finished campaigns, some at a time. Resolves with how
 * many.
 */
export async function forgetTested(
  { read, write }: Pick<Store, 'read' | 'write'>,
  signal: AbortSignal,
): Promise<number> {
  let gone = 0
  // Moves from campaign to campaign by the key, as a running campaign may have a million rows.
  let [campaign] = await nextTested(read, { after: '' })
  while (campaign !== undefined && !signal.aborted) {
    const { id, status } = campaign
    const rows = endings.includes(status) ? await testedOf(read, { id, limit: testedAtOnce }) : []
    const contactIds = rows.map(({ contact_id }) => contact_id)
    if (rows.length > 0) {
      await write((tx) =>
        tx
          .deleteFrom('broadcast_tested')
          .where('broadcast_id', '=', id)
          .where('contact_id', 'in', idsIn(contactIds, 'text'))
          .execute(),
      )
    }
    gone += rows.length
    if (rows.length < testedAtOnce) [campaign] = await nextTested(read, { after: id })
  }
  return gone
}

const testedAtOnce = 500
const endings: readonly BroadcastRow['status'][] = ['sent', 'cancelled', 'failed']

/** The next campaign that has rows of a test. */
const nextTested = prepared<{ after: string }, { id: string; status: BroadcastRow['status'] }>(
  (db, { after }) =>
    db
      .selectFrom('broadcast_tested')
      .innerJoin('broadcasts', 'broadcasts.id', 'broadcast_id')
      .select(['broadcast_id as id', 'status'])
      .where('broadcast_id', '>', after)
      .orderBy('broadcast_id')
      .limit(1),
)

const testedOf = prepared<{ id: string; limit: number }, { contact_id: string }>(
  (db, { id, limit }) =>
    db
      .selectFrom('broadcast_tested')
      .select('contact_id')
      .where('broadcast_id', '=', id)
      .limit(limit),
)

async function drop(tx: Tx, rows: readonly VariantBody[]): Promise<void> {
  for (const { id, accountId, bytes } of rows) {
    await tx
      .updateTable('broadcast_variants')
      .set({ body_id: null })
      .where('body_id', '=', id)
      .execute()
    await addStoredBytes(tx, accountId, 'campaigns', -bytes)
  }
  await dropBodies(tx, rows)
}

/** Versions are few, so all with a content of their own are read. A content without a count never had a mail. */
const unusedOfVariants = prepared<{ until: number; limit: number }, VariantBody>(
  (db, { until, limit }) =>
    db
      .selectFrom('broadcast_variants')
      .innerJoin('broadcasts', 'broadcasts.id', 'broadcast_variants.broadcast_id')
      .innerJoin('bodies', 'bodies.id', 'broadcast_variants.body_id')
      .leftJoin('body_uses', 'body_uses.body_id', 'bodies.id')
      .select([
        'broadcasts.id as campaign',
        'broadcasts.account_id as accountId',
        'bodies.id',
        'attachments',
      ])
      .select(({ fn }) => fn<number>('octet_length', ['bodies.html']).as('bytes'))
      .where('broadcast_variants.body_id', 'is not', null)
      .where('ended_at', '<', until)
      .where('broadcasts.archive', '=', 0)
      .where(({ or, and, eb }) =>
        or([
          eb('uses', '<=', 0),
          and([eb('uses', 'is', null), eb('broadcast_variants.recipients', '=', 0)]),
        ]),
      )
      .limit(limit),
)
