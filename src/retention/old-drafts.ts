import { sql } from 'kysely'
import { addStoredBytes } from '../contents/index.js'
import { prepared, type Tx } from '../store/index.js'
import { inSlices, type RetentionDeps } from './slices.js'
import { dropUnused } from './uses.js'

/** What to delete: everything that was last changed before `until`. */
interface Old {
  until: number
  signal: AbortSignal
}

const atOnce = 200
// People go back only to one of the last few versions.
const newestVersions = 10

/**
 * Cancels drafts that nobody has changed for long; their content is then deleted like that of other
 * campaigns.
 */
export async function cancelOldDrafts(
  deps: RetentionDeps,
  { now, until, signal }: Old & { now: number },
): Promise<number> {
  let gone = 0
  for (let after = ''; !signal.aborted; ) {
    const rows = await draftsAfter(deps.store.read, { after, until, limit: atOnce })
    const last = rows.at(-1)
    if (last === undefined) break
    after = last.id
    const cancel = async (tx: Tx, id: string) => {
      // Checked again, as somebody may be changing or sending it.
      const { numUpdatedRows } = await tx
        .updateTable('broadcasts')
        .set({
          status: 'cancelled',
          reason: 'A draft that was not changed for long',
          ended_at: now,
        })
        .where('id', '=', id)
        .where('status', '=', 'draft')
        .where(sql<boolean>`coalesce(changed_at, created_at) < ${until}`)
        .executeTakeFirstOrThrow()
      gone += Number(numUpdatedRows)
    }
    const pieces = rows.map(({ id }) => ({ item: id, bytes: 0 }))
    await inSlices(deps, pieces, cancel, signal)
  }
  return gone
}

/** Campaigns are few, so all of them are read, by the primary key. */
const draftsAfter = prepared<{ after: string; until: number; limit: number }, { id: string }>(
  (db, { after, until, limit }) =>
    db
      .selectFrom('broadcasts')
      .select('id')
      .where('id', '>', after)
      .where('status', '=', 'draft')
      .where(sql<boolean>`coalesce(changed_at, created_at) < ${until}`)
      .orderBy('id')
      .limit(limit),
)

/** Deletes old versions of templates, except for the newest ones, with their contents. */
export async function forgetVersions(deps: RetentionDeps, { until, signal }: Old): Promise<number> {
  let gone = 0
  for (let after = ''; !signal.aborted; ) {
    const templates = await templatesAfter(deps.store.read, { after, limit: atOnce })
    const last = templates.at(-1)
    if (last === undefined) break
    after = last.id
    for (const { id, accountId, version } of templates) {
      const old = await versionsOf(deps.store.read, {
        id,
        below: version - newestVersions + 1,
        until,
      })
      const forget = async (tx: Tx, one: string) => {
        const row = await tx
          .deleteFrom('template_versions')
          .where('id', '=', one)
          .returning(['body_id', versionBytes.as('bytes')])
          .executeTakeFirst()
        if (row === undefined) return
        await addStoredBytes(tx, accountId, 'templates', -row.bytes)
        if (row.body_id !== null) await dropUnused(tx, row.body_id)
        gone++
      }
      const pieces = old.map(({ id: item, bytes }) => ({ item, bytes }))
      await inSlices(deps, pieces, forget, signal)
      if (signal.aborted) break
    }
  }
  return gone
}

const versionBytes = sql<number>`octet_length(subject) + octet_length(html) + coalesce(octet_length(text), 0)`

const templatesAfter = prepared<
  { after: string; limit: number },
  { id: string; accountId: string; version: number }
>((db, { after, limit }) =>
  db
    .selectFrom('templates')
    .select(['id', 'account_id as accountId', 'version'])
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit),
)

/** By the index of a template's versions. */
const versionsOf = prepared<
  { id: string; below: number; until: number },
  { id: string; bytes: number }
>((db, { id, below, until }) =>
  db
    .selectFrom('template_versions')
    .select(['id', versionBytes.as('bytes')])
    .where('template_id', '=', id)
    .where('version', '<', below)
    .where('created_at', '<', until)
    .orderBy('version'),
)
