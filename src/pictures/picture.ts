import { randomBytes } from 'node:crypto'
import {
  checkOpen,
  type Plans,
  readBilling,
  refuseBeyondCeiling,
  refuseBeyondStorage,
} from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import { bytesToStore, makeContent, putContents, releaseContents } from '../contents/index.js'
import { ApiError } from '../errors/index.js'
import {
  cursorOf,
  idInCursor,
  idsIn,
  type PictureRow,
  pageOf,
  type Read,
  type Store,
  type Tx,
} from '../store/index.js'
import type { CleanPicture } from './clean.js'
import { publicWithPicture, usesOfPicture } from './uses.js'

export interface PictureDeps {
  store: Store
  clock: Clock
  plans: Plans
}

/** A picture of an account. */
export interface KeptPicture {
  id: string
  /** In its address, which nobody can guess. */
  publicId: string
  name: string
  /** What the picture shows, for people who do not see it. */
  alt: string
  contentType: string
  width: number
  height: number
  sizeBytes: number
  /** The id of its content. */
  content: number
  createdAt: number
}

const endings: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
}

/** Where the public listener serves it; the ending is for programs that rely on it. */
export const picturePath = ({
  publicId,
  contentType,
}: Pick<KeptPicture, 'publicId' | 'contentType'>) =>
  `/pictures/${publicId}.${endings[contentType] ?? 'bin'}`

/** Stores a picture at an address of its own. Throws a 403 beyond what the account may have. */
export async function addPicture(
  { store, clock, plans }: PictureDeps,
  accountId: string,
  { picture, name, alt = '' }: { picture: CleanPicture; name: string; alt?: string | undefined },
  alongside: (tx: Tx, made: KeptPicture) => Promise<void> = async () => {},
): Promise<KeptPicture> {
  const billing = await readBilling(store.read, plans, accountId)
  checkOpen(billing)
  const content = makeContent([picture.bytes])
  const more = await bytesToStore(store.read, accountId, [content])
  await refuseBeyondStorage(store.read, billing, more)
  const id = store.ids.uuid()
  return await store.write(async (tx) => {
    await refuseBeyondCeiling(tx, plans, accountId, 'pictures')
    const [contentId = 0] = await putContents(tx, store, accountId, [content])
    const row: PictureRow = {
      id,
      account_id: accountId,
      public_id: randomBytes(16).toString('base64url'),
      name: name.trim(),
      alt: alt.trim(),
      content_type: picture.contentType,
      width: picture.width,
      height: picture.height,
      size_bytes: picture.bytes.length,
      content_id: contentId,
      created_at: clock.now(),
    }
    await tx.insertInto('pictures').values(row).execute()
    const made = toPicture(row)
    await alongside(tx, made)
    return made
  })
}

/** A page of the account's pictures, the newest first. Throws a 400 for a cursor of another list. */
export async function listPictures(
  read: Read,
  accountId: string,
  { cursor, limit }: { cursor?: string | undefined; limit: number },
) {
  const scope = `pictures ${accountId}`
  const before = cursor === undefined ? undefined : idInCursor(cursor, scope)
  const rows = await read
    .selectFrom('pictures')
    .selectAll()
    .where('account_id', '=', accountId)
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  return pageOf(rows.map(toPicture), limit, ({ id }) => cursorOf(id, scope))
}

/** Throws a 404 unless the account has it. */
export async function requirePicture(
  read: Read,
  accountId: string,
  id: string,
): Promise<KeptPicture> {
  const row = await read
    .selectFrom('pictures')
    .selectAll()
    .where('id', '=', id.toLowerCase())
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  if (row === undefined) throw new ApiError('not_found', 'The account has no picture with this id')
  return toPicture(row)
}

/** The picture at an address; undefined: there is none. */
export async function pictureAt(read: Read, publicId: string): Promise<KeptPicture | undefined> {
  const row = await read
    .selectFrom('pictures')
    .selectAll()
    .where('public_id', '=', publicId)
    .executeTakeFirst()
  return row && toPicture(row)
}

/** The account's pictures at some addresses, by address. */
export async function picturesAt(
  read: Read,
  { accountId, publicUrl }: { accountId: string; publicUrl: string },
  urls: readonly string[],
): Promise<Map<string, KeptPicture>> {
  const path = `${publicUrl}/pictures/`
  const ours = urls.filter((url) => url.startsWith(path))
  const found = await picturesNamed(read, accountId, ours)
  return new Map([...found.values()].map((one) => [`${publicUrl}${picturePath(one)}`, one]))
}

/** The account's pictures whose names the addresses have, whatever host is before them, by the address. */
export async function picturesNamed(
  read: Read,
  accountId: string,
  urls: readonly string[],
): Promise<Map<string, KeptPicture>> {
  const named = urls.flatMap((url) => {
    const [, id] = /\/pictures\/([\w-]{22})(?:\.\w*)?$/.exec(url) ?? []
    return id === undefined ? [] : [{ url, id }]
  })
  if (named.length === 0) return new Map()
  const rows = await read
    .selectFrom('pictures')
    .selectAll()
    .where(
      'public_id',
      'in',
      idsIn(
        named.map(({ id }) => id),
        'text',
      ),
    )
    .where('account_id', '=', accountId)
    .execute()
  const known = new Map(rows.map((row) => [row.public_id, toPicture(row)]))
  return new Map(
    named.flatMap(({ url, id }) => {
      const picture = known.get(id)
      return picture === undefined ? [] : [[url, picture] as const]
    }),
  )
}

/** Changes those of its words that are given. Throws a 404. */
export async function changePicture(
  { store }: Pick<PictureDeps, 'store'>,
  accountId: string,
  id: string,
  { name, alt }: { name?: string | undefined; alt?: string | undefined },
): Promise<KeptPicture> {
  return await store.write(async (tx) => {
    const known = await requirePicture(tx, accountId, id)
    const changed = { name: name?.trim() ?? known.name, alt: alt?.trim() ?? known.alt }
    await tx.updateTable('pictures').set(changed).where('id', '=', known.id).execute()
    return { ...known, ...changed }
  })
}

/**
 * Deletes a picture for good, also from mails that were sent. Throws a 404, or a 409 that names what shows it and can
 * still send, or is public.
 */
export async function deletePicture(
  { store }: Pick<PictureDeps, 'store'>,
  accountId: string,
  id: string,
): Promise<KeptPicture> {
  await requireUnused(store.read, accountId, id)
  return await store.write(async (tx) => {
    // Checked once more: meanwhile something may have begun to show it.
    const picture = await requireUnused(tx, accountId, id)
    await tx.deleteFrom('pictures').where('id', '=', picture.id).execute()
    await releaseContents(tx, [picture.content])
    return picture
  })
}

async function requireUnused(read: Read, accountId: string, id: string): Promise<KeptPicture> {
  const known = await requirePicture(read, accountId, id)
  const [use] = await usesOfPicture(read, accountId, known.publicId)
  if (use === undefined) {
    await refuseOnPublicPage(read, accountId, known)
    return known
  }
  throw new ApiError(
    'conflict',
    `The ${use.kind} "${use.name}" shows the picture "${known.name}": take it out there first`,
  )
}

/** A public page keeps its pictures. */
async function refuseOnPublicPage(
  read: Read,
  accountId: string,
  { publicId, name }: KeptPicture,
): Promise<void> {
  const sent = await publicWithPicture(read, accountId, publicId)
  if (sent === undefined) return
  throw new ApiError(
    'conflict',
    `The campaign "${sent.name}" shows the picture "${name}" on your public page of past campaigns: remove the campaign from that page first`,
  )
}

const toPicture = (row: PictureRow): KeptPicture => ({
  id: row.id,
  publicId: row.public_id,
  name: row.name,
  alt: row.alt,
  contentType: row.content_type,
  width: row.width,
  height: row.height,
  sizeBytes: row.size_bytes,
  content: row.content_id,
  createdAt: row.created_at,
})
