import { addStoredBytes } from '../contents/index.js'
import { idsIn, prepared, type Store, type Tx } from '../store/index.js'
import { dropBodies } from './uses.js'

/** The content of a campaign's version, which no mail uses any more. */
interface VariantBody {
  campaign: string
  accountId: string
  id: number
  attachments: string | null
  bytes: number
}

const atOnce = 100

/**
 * Deletes the contents of versions of campaigns that ended before `until` and of which no mail has it any more. Resolves with
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

/** Forgets who was in the tests of campaigns that have ended, some at a time. Resolves with how many. */
export async function forgetTested(
  { read, write }: Pick<Store, 'read' | 'write'>,
  signal: AbortSignal,
): Promise<number> {
  let gone = 0
  for (let found = testedAtOnce; found === testedAtOnce && !signal.aborted; ) {
    const rows = await read
      .selectFrom('broadcast_tested')
      .innerJoin('broadcasts', 'broadcasts.id', 'broadcast_id')
      .select(['broadcast_id', 'contact_id'])
      .where('status', 'in', ['sent', 'cancelled', 'failed'])
      .limit(testedAtOnce)
      .execute()
    const byCampaign = new Map<string, string[]>()
    for (const { broadcast_id: id, contact_id } of rows) {
      byCampaign.set(id, [...(byCampaign.get(id) ?? []), contact_id])
    }
    for (const [id, contactIds] of byCampaign) {
      await write((tx) =>
        tx
          .deleteFrom('broadcast_tested')
          .where('broadcast_id', '=', id)
          .where('contact_id', 'in', idsIn(contactIds, 'text'))
          .execute(),
      )
    }
    found = rows.length
    gone += found
  }
  return gone
}

const testedAtOnce = 500

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

/** Versions are few: all that have a content of their own are looked at. One without a count never had a mail. */
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
