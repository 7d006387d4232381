import { sql } from 'kysely'
import {
  type Plans,
  readBilling,
  refuseBeyondCeiling,
  refuseBeyondStorage,
} from '../billing/index.js'
import type { BlockDocument } from '../blocks/index.js'
import type { Clock } from '../clock/index.js'
import { addStoredBytes } from '../contents/index.js'
import { ApiError } from '../errors/index.js'
import { type Read, type Store, storedJson, type Tx } from '../store/index.js'

/** One version of a template; the current one unless another was asked for. */
export interface Template {
  accountId: string
  slug: string
  version: number
  /** No other content ever gets this id, so that the parsed result can be kept under it. */
  versionId: string
  subject: string
  html: string
  textBody: string | null
  /** What the HTML was made from; null where somebody wrote the HTML. */
  blocks: BlockDocument | null
  /** When this version was saved. */
  savedAt: number
}

export interface TemplateSummary {
  slug: string
  version: number
  subject: string
  createdAt: number
  /** When the current version was saved. */
  savedAt: number
}

export interface TemplateVersion {
  version: number
  subject: string
  savedAt: number
}

/** What is saved; `checkDraft` (draft.ts) has let it through. */
export interface TemplateDraft {
  slug: string
  subject: string
  html: string
  textBody?: string | null | undefined
  /** What the HTML was made of. */
  blocks?: BlockDocument | null | undefined
}

/** What a save takes. */
export interface SaveDeps {
  store: Store
  clock: Clock
  /** If given, a 403 is thrown where the account has as many templates, or stores as much, as it may. */
  plans?: Plans
}

export interface SaveOptions {
  /** Throws a 409 where the account already has a template with the slug. */
  isNew?: boolean
  alongside?: (tx: Tx, saved: Template) => Promise<void>
}

/**
 * Saves the next version of a template, its first if the slug is new. `draftOf` makes the draft inside the write, so
 * it may use the version before.
 */
export async function saveNext(
  { store, clock, plans }: SaveDeps,
  accountId: string,
  draftOf: (tx: Tx) => Promise<TemplateDraft>,
  { isNew = false, alongside = async () => {} }: SaveOptions = {},
): Promise<Template> {
  const now = clock.now()
  const versionId = store.ids.uuid()
  const newId = store.ids.uuid()
  return await store.write(async (tx) => {
    const draft = await draftOf(tx)
    const { slug, subject, html, textBody, blocks = null } = draft
    const bytes = draftBytes(draft)
    if (plans !== undefined) {
      await refuseNew(tx, plans, accountId, slug)
      await refuseBeyondStorage(tx, await readBilling(tx, plans, accountId), bytes)
    }
    const text = textBody || null
    const { id, version } = await nextVersion(tx, accountId, slug, newId, now)
    if (isNew && version > 1) {
      throw new ApiError('conflict', `There is a template "${slug}" already`)
    }
    await tx
      .insertInto('template_versions')
      .values({
        id: versionId,
        template_id: id,
        version,
        subject,
        html,
        text,
        blocks: blocks && JSON.stringify(blocks),
        created_at: now,
      })
      .execute()
    const saved = { accountId, slug, version, versionId, subject, html, textBody: text, blocks }
    await addStoredBytes(tx, accountId, 'templates', bytes)
    await alongside(tx, { ...saved, savedAt: now })
    return { ...saved, savedAt: now }
  })
}

/** Part of a list: `limit` of what comes after the last one seen. */
interface Part<T> {
  after?: T | undefined
  limit?: number | undefined
}

/** An account's templates by slug. */
export async function listTemplates(
  read: Read,
  accountId: string,
  { after, limit }: Part<string> = {},
): Promise<TemplateSummary[]> {
  return read
    .selectFrom('templates as t')
    .innerJoin('template_versions as v', (join) =>
      join.onRef('v.template_id', '=', 't.id').onRef('v.version', '=', 't.version'),
    )
    .select([
      't.slug',
      't.version',
      'v.subject',
      't.created_at as createdAt',
      'v.created_at as savedAt',
    ])
    .where('t.account_id', '=', accountId)
    .$if(after !== undefined, (query) => query.where('t.slug', '>', after ?? ''))
    .orderBy('t.slug')
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .execute()
}

/** The slugs of an account's first `limit` templates that are put together of blocks. */
export async function templatesOfBlocks(
  read: Read,
  accountId: string,
  limit: number,
): Promise<string[]> {
  const rows = await read
    .selectFrom('templates as t')
    .innerJoin('template_versions as v', (join) =>
      join.onRef('v.template_id', '=', 't.id').onRef('v.version', '=', 't.version'),
    )
    .select('t.slug')
    .where('t.account_id', '=', accountId)
    .where('v.blocks', 'is not', null)
    .orderBy('t.slug')
    .limit(limit)
    .execute()
  return rows.map(({ slug }) => slug)
}

/**
 * The template that an account has under this slug, compared case-sensitively: the version in use,
 * or the one asked for. Throws `not_found`, naming the slug, when there is none.
 */
export async function findTemplate(
  read: Read,
  accountId: string,
  slug: string,
  version?: number,
): Promise<Template> {
  const row = await read
    .selectFrom('templates as t')
    .innerJoin('template_versions as v', 'v.template_id', 't.id')
    .select([
      't.slug',
      'v.version',
      'v.id as versionId',
      'v.subject',
      'v.html',
      'v.text as textBody',
      'v.blocks',
      'v.created_at as savedAt',
    ])
    .where('t.account_id', '=', accountId)
    .where('t.slug', '=', slug)
    .where((eb) => eb('v.version', '=', version === undefined ? eb.ref('t.version') : version))
    .executeTakeFirst()
  if (row === undefined) throw noSuchTemplate(slug, version)
  const blocks = storedJson(row.blocks) as BlockDocument | undefined
  return { accountId, ...row, blocks: blocks ?? null }
}

/** All versions of a template, the newest (the one in use) first. */
export async function listVersions(
  read: Read,
  accountId: string,
  slug: string,
  { after, limit }: Part<number> = {},
): Promise<TemplateVersion[]> {
  const versions = await read
    .selectFrom('templates as t')
    .innerJoin('template_versions as v', 'v.template_id', 't.id')
    .select(['v.version', 'v.subject', 'v.created_at as savedAt'])
    .where('t.account_id', '=', accountId)
    .where('t.slug', '=', slug)
    .$if(after !== undefined, (query) => query.where('v.version', '<', after ?? 0))
    .orderBy('v.version', 'desc')
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .execute()
  if (versions.length === 0) throw noSuchTemplate(slug)
  return versions
}

/** Deletes a template with all its versions. Accepted mail is already rendered and no longer needs it. */
export async function deleteTemplate(
  { store }: { store: Store },
  accountId: string,
  slug: string,
): Promise<void> {
  await store.write(async (tx) => {
    const { bytes } = await tx
      .selectFrom('template_versions as v')
      .innerJoin('templates as t', 't.id', 'v.template_id')
      .select((eb) => eb.fn.sum<number | null>(versionBytes).as('bytes'))
      .where('t.account_id', '=', accountId)
      .where('t.slug', '=', slug)
      .executeTakeFirstOrThrow()
    const { numDeletedRows } = await tx
      .deleteFrom('templates')
      .where('account_id', '=', accountId)
      .where('slug', '=', slug)
      .executeTakeFirstOrThrow()
    if (numDeletedRows === 0n) throw noSuchTemplate(slug)
    await addStoredBytes(tx, accountId, 'templates', -(bytes ?? 0))
  })
}

/** Gives a template another slug. Throws a 404, and a 409 where the account has one of that slug. */
export async function renameTemplate(
  { store }: { store: Store },
  accountId: string,
  slug: string,
  to: string,
): Promise<void> {
  await store.write(async (tx) => {
    const taken = tx.selectFrom('templates').select('id').where('account_id', '=', accountId)
    if ((await taken.where('slug', '=', to).executeTakeFirst()) !== undefined) {
      throw new ApiError('conflict', `There is a template "${to}" already`)
    }
    const { numUpdatedRows } = await tx
      .updateTable('templates')
      .set({ slug: to })
      .where('account_id', '=', accountId)
      .where('slug', '=', slug)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw noSuchTemplate(slug)
  })
}

/** How many bytes a version of the draft takes. */
const draftBytes = ({ subject, html, textBody, blocks }: TemplateDraft): number =>
  [subject, html, textBody ?? '', blocks ? JSON.stringify(blocks) : ''].reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    0,
  )

/** The same for a stored version (`template_versions as v`). */
const versionBytes = sql<number>`octet_length(v.subject) + octet_length(v.html) + coalesce(octet_length(v.text), 0) + coalesce(octet_length(v.blocks), 0)`

/** Throws a 403 for a new slug where the account has as many templates as it may. */
export async function refuseNew(
  read: Read,
  plans: Plans,
  accountId: string,
  slug: string,
): Promise<void> {
  const known = await read
    .selectFrom('templates')
    .select('id')
    .where('account_id', '=', accountId)
    .where('slug', '=', slug)
    .executeTakeFirst()
  if (known === undefined) await refuseBeyondCeiling(read, plans, accountId, 'templates')
}

// Counted inside the write, so that two simultaneous saves get two versions.
async function nextVersion(tx: Tx, accountId: string, slug: string, newId: string, now: number) {
  return tx
    .insertInto('templates')
    .values({
      id: newId,
      account_id: accountId,
      slug,
      version: 1,
      created_at: now,
      samples: null,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'slug'])
        .doUpdateSet((eb) => ({ version: eb('templates.version', '+', 1) })),
    )
    .returning(['id', 'version'])
    .executeTakeFirstOrThrow()
}

// The slug comes from a request, so it is named, but cut.
function noSuchTemplate(slug: string, version?: number): ApiError {
  const name = slug.length > 64 ? `${slug.slice(0, 64)}…` : slug
  const which = version === undefined ? '' : ` with a version ${version}`
  return new ApiError('not_found', `The account has no template "${name}"${which}`)
}
