import { addStoredBytes, attachmentsOf, releaseContents, reuseContents } from '../contents/index.js'
import { ApiError } from '../errors/index.js'
import { ShapeError } from '../fields/index.js'
import { parseMailbox } from '../mime/index.js'
import type { Read, Store, Tx } from '../store/index.js'
import type { Broadcast, BroadcastDeps } from './broadcast.js'
import { type BroadcastContent, checkContent, contentOf } from './content.js'
import { gathering } from './gathered.js'
import {
  usualTest,
  type Variant,
  type VariantInput,
  type VariantTest,
  variantsOf,
  variantTestOf,
} from './variant.js'

/** The versions of a campaign, ready to be written. */
export interface CheckedVariants {
  test: VariantTest | null
  rows: (Pick<Variant, 'key' | 'subject' | 'from_name' | 'preview_text' | 'blocks'> & {
    html: string | null
  })[]
}

/**
 * The versions of a request; undefined where it does not mention them. Throws a 400 for a single one, for keys that
 * occur twice and for what cannot go with versions, and for each as `checkContent` does.
 */
export async function variantsIn(
  deps: Pick<BroadcastDeps, 'store' | 'renderer'>,
  accountId: string,
  input: VariantsInput,
  content: BroadcastContent,
): Promise<CheckedVariants | undefined> {
  const { variants, variantTest } = input
  if (variants === undefined) {
    if (variantTest === undefined) return undefined
    const message = 'variantTest: Expected the variants beside it'
    throw new ApiError('validation_error', message, { fields: { field: 'variantTest' } })
  }
  if (variants.length === 0) return { test: null, rows: [] }
  if (variants.length === 1) throw bad('none, or 2 to 5 versions', ['variants'])
  const rows: CheckedVariants['rows'] = []
  const all = gathering()
  const keys = new Set<string>()
  for (const [i, given] of variants.entries()) {
    const key = given.key ?? (letters[i] as string)
    if (keys.has(key)) throw bad('another key than the others', ['variants', String(i), 'key'])
    keys.add(key)
    const own = Boolean(given.html || given.blocks)
    const at = { key, index: i }
    const made = own
      ? await all.of('variants', () =>
          ofVersion(at, () => contentOf(deps, accountId, contentGiven(given))),
        )
      : undefined
    if (own && made === undefined) continue
    const seen = {
      subject: given.subject || content.subject || '-',
      html: (made?.html ?? content.html) || '-',
      previewText: given.previewText || content.previewText,
      blocks: made === undefined ? content.blocks : made.blocks,
    }
    await all.of('variants', () =>
      ofVersion(at, () => checkContent(deps.renderer, accountId, seen)),
    )
    rows.push({
      key,
      subject: given.subject || null,
      from_name: given.fromName || null,
      preview_text: given.previewText || null,
      blocks: made?.blocks ? JSON.stringify(made.blocks) : null,
      html: made?.html ?? null,
    })
  }
  all.refuse()
  return { test: Object.assign({}, usualTest, variantTest), rows }
}

/** Makes the refusal of a version name it. */
async function ofVersion<T>(
  { key, index }: { key: string; index: number },
  check: () => Promise<T>,
): Promise<T> {
  try {
    return await check()
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 422) throw error
    const { code, status } = error
    const { field, ...fields } = error.fields
    // The version's own field, or that of the campaign's content if the version uses that.
    const placed = (one: string) => `variants.${index}.${one}`
    if (typeof field === 'string') fields.field = placed(field)
    const slips = error.slips.map((slip) => ({
      field: slip.field === '' ? '' : placed(slip.field),
      says: `Version ${key}: ${slip.says}`,
    }))
    throw new ApiError(code, `Version ${key}: ${error.message}`, { status, fields, slips })
  }
}

/** The part of a request that says how versions are tried. */
export interface VariantsInput {
  /** Versions, each tried on a part of the audience; none: the campaign has one content. */
  variants?: VariantInput[] | undefined
  variantTest?: Partial<VariantTest> | undefined
}

const letters = ['A', 'B', 'C', 'D', 'E']

const contentGiven = ({ html, blocks }: VariantInput) => (blocks ? { blocks } : { html })

function bad(expected: string, path: string[]): ShapeError {
  const message = `Expected ${expected}`
  return new ShapeError([{ code: 'invalid', expected, received: 'array', path, message }])
}

/** How many bytes their storage takes. */
export const bytesOfVariants = (given: CheckedVariants | undefined) =>
  (given?.rows ?? []).reduce((sum, { html }) => sum + Buffer.byteLength(html ?? ''), 0)

/** The unfinished blocks of versions, by their keys. */
export type UnfinishedVersions = ReadonlyMap<string, string | null>

/**
 * Writes the versions of a new campaign, or replaces those of a draft; each carries the campaign's files. If a
 * version's content stays, so do its unfinished blocks, unless `unfinished` has others.
 */
export async function putVariants(
  tx: Tx,
  { ids }: Pick<Store, 'ids'>,
  { id, accountId }: { id: string; accountId: string },
  given: CheckedVariants,
  unfinished: UnfinishedVersions = new Map(),
): Promise<void> {
  const before = await bodiesOf(tx, id)
  const rowsBefore = new Map((await variantsOf(tx, id)).map((row) => [row.key, row]))
  await releaseContents(tx, before.flatMap(filesIn))
  await tx.deleteFrom('broadcast_variants').where('broadcast_id', '=', id).execute()
  const bodyIds = before.map((one) => one.id)
  if (bodyIds.length > 0) await tx.deleteFrom('bodies').where('id', 'in', bodyIds).execute()
  const attachments = await filesOfCampaign(tx, id)
  for (const { html, ...row } of given.rows) {
    const bodyId = html === null ? null : ids.serial()
    if (bodyId !== null) {
      const body = { id: bodyId, html, text: null, attachments }
      await tx.insertInto('bodies').values(body).execute()
      await reuseContents(tx, filesIn(body))
    }
    await tx
      .insertInto('broadcast_variants')
      .values({
        ...row,
        broadcast_id: id,
        body_id: bodyId,
        unfinished: unfinished.has(row.key)
          ? unfinished.get(row.key)
          : staysUnfinished(rowsBefore.get(row.key), { blocks: row.blocks, isOwn: html !== null }),
      })
      .execute()
  }
  const freed = before.reduce((sum, { bytes }) => sum + bytes, 0)
  const grown = bytesOfVariants(given) - freed
  if (grown !== 0) await addStoredBytes(tx, accountId, 'campaigns', grown)
}

const staysUnfinished = (
  before: Variant | undefined,
  { blocks, isOwn }: { blocks: string | null; isOwn: boolean },
) =>
  before !== undefined && before.blocks === blocks && (before.body_id !== null) === isOwn
    ? before.unfinished
    : null

/**
 * Gives a draft's present files to its versions with a content of their own. Bodies are never changed, so new ones are
 * written.
 */
export async function putFilesOfVariants(
  tx: Tx,
  { ids }: Pick<Store, 'ids'>,
  broadcastId: string,
): Promise<void> {
  const attachments = await filesOfCampaign(tx, broadcastId)
  for (const before of await bodiesOf(tx, broadcastId)) {
    const { html, text } = await tx
      .selectFrom('bodies')
      .select(['html', 'text'])
      .where('id', '=', before.id)
      .executeTakeFirstOrThrow()
    const id = ids.serial()
    await tx.insertInto('bodies').values({ id, html, text, attachments }).execute()
    await tx
      .updateTable('broadcast_variants')
      .set({ body_id: id })
      .where('broadcast_id', '=', broadcastId)
      .where('body_id', '=', before.id)
      .execute()
    await tx.deleteFrom('bodies').where('id', '=', before.id).execute()
    await reuseContents(tx, filesIn({ attachments }))
    await releaseContents(tx, filesIn(before))
  }
}

/** The contents of a body's files. */
const filesIn = ({ attachments }: { attachments: string | null }) =>
  (attachmentsOf(attachments) ?? []).map(({ content }) => content)

async function filesOfCampaign(read: Read, broadcastId: string): Promise<string | null> {
  const { attachments } = await read
    .selectFrom('broadcasts')
    .innerJoin('bodies', 'bodies.id', 'broadcasts.body_id')
    .select('bodies.attachments')
    .where('broadcasts.id', '=', broadcastId)
    .executeTakeFirstOrThrow()
  return attachments
}

const bodiesOf = (read: Read, broadcastId: string) =>
  read
    .selectFrom('broadcast_variants')
    .innerJoin('bodies', 'bodies.id', 'broadcast_variants.body_id')
    .select(['bodies.id', 'bodies.attachments'])
    .select(({ fn }) => fn<number>('octet_length', ['html']).as('bytes'))
    .where('broadcast_id', '=', broadcastId)
    .execute()

/** The versions of a campaign in the form of a request, for a copy of it. */
export async function variantsGiven(
  read: Read,
  variants: readonly Variant[],
): Promise<VariantInput[]> {
  const given: VariantInput[] = []
  for (const { key, subject, from_name, preview_text, blocks, body_id } of variants) {
    const body =
      body_id === null
        ? undefined
        : await read
            .selectFrom('bodies')
            .select('html')
            .where('id', '=', body_id)
            .executeTakeFirst()
    given.push({
      key,
      subject: subject ?? undefined,
      fromName: from_name ?? undefined,
      previewText: preview_text ?? undefined,
      ...(blocks === null ? { html: body?.html ?? undefined } : { blocks: JSON.parse(blocks) }),
    })
  }
  return given
}

/** The unfinished blocks of a draft's versions, by their keys. */
export async function unfinishedVersionsOf(
  read: Read,
  { id, variant_test }: Pick<Broadcast, 'id' | 'variant_test'>,
): Promise<UnfinishedVersions> {
  const rows = variant_test === null ? [] : await variantsOf(read, id)
  return new Map(rows.map(({ key, unfinished }) => [key, unfinished]))
}

/** The versions of a draft in the form of a request, and how they are tried. */
export async function draftVersions(
  read: Read,
  draft: Broadcast,
): Promise<{ variants: VariantInput[]; test: VariantTest }> {
  const test = variantTestOf(draft)
  if (test === undefined) return { variants: [], test: usualTest }
  return { variants: await variantsGiven(read, await variantsOf(read, draft.id)), test }
}

/** The keys of versions with the same content. */
export function alikeVersions(
  draft: Pick<Broadcast, 'subject' | 'from_header' | 'preview_text'>,
  variants: readonly VariantInput[],
): string[][] {
  const usualName = parseMailbox(draft.from_header)?.name
  const said = new Map<string, string[]>()
  for (const [i, one] of variants.entries()) {
    const { subject = draft.subject, fromName = usualName, html, blocks } = one
    const previewText = one.previewText ?? draft.preview_text
    const place = JSON.stringify([subject, fromName, previewText, html, blocks])
    said.set(place, [...(said.get(place) ?? []), one.key ?? (letters[i] as string)])
  }
  return [...said.values()].filter(({ length }) => length > 1)
}

/** What is said about versions with the same content. */
export const alikeWords = (keys: readonly string[]): string =>
  `Versions ${keys.join(' and ')} are alike: nothing is learned from them`
