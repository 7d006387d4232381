import type { Principal } from '../accounts/index.js'
import { readContent } from '../contents/index.js'
import { serve, usualPage } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import { type Api, type Pages, reply } from '../http/index.js'
import type { Store } from '../store/index.js'
import * as operations from './contract.js'
import {
  addPicture,
  changePicture,
  deletePicture,
  listPictures,
  type PictureDeps,
  pictureAt,
  picturePath,
  requirePicture,
} from './picture.js'
import { shownPicture } from './shown.js'
import { wholePicture } from './whole.js'

/** `/v1/pictures`: upload, list, change the words, delete. */
export function pictureRoutes(
  api: Api<Principal>,
  deps: PictureDeps & { publicUrl: string },
): void {
  const { store, publicUrl } = deps

  serve(api, operations.listPictures, async ({ account: { accountId }, query }) => {
    const { limit = usualPage, cursor } = query
    const found = await listPictures(store.read, accountId, { cursor, limit })
    const { page, hasMore, nextCursor } = found
    return { pictures: page.map((one) => shownPicture(one, publicUrl)), hasMore, nextCursor }
  })

  serve(api, operations.addPicture, async ({ account: { accountId }, body, remember }) => {
    const { name, alt, content } = body
    const given = { picture: await wholePicture(Buffer.from(content, 'base64')), name, alt }
    const made = await addPicture(deps, accountId, given, (tx, picture) =>
      remember(tx, shownPicture(picture, publicUrl), 201),
    )
    return reply(201, shownPicture(made, publicUrl))
  })

  serve(api, operations.getPicture, async ({ account, params }) =>
    shownPicture(await requirePicture(store.read, account.accountId, params.id), publicUrl),
  )

  serve(api, operations.changePicture, async ({ account, params, body }) =>
    shownPicture(await changePicture(deps, account.accountId, params.id, body), publicUrl),
  )

  serve(api, operations.deletePicture, async ({ account, params, note }) => {
    const { name } = await deletePicture(deps, account.accountId, params.id)
    note({ detail: { name } })
    return { message: 'Picture deleted' }
  })
}

// The bytes are somebody else's, and must do nothing even when opened by themselves. Mail in browsers shows them from
// other origins.
const headers = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Cache-Control': 'public, max-age=31536000, immutable',
  'X-Robots-Tag': 'noindex',
}

/** Pictures for whoever reads the mails, at addresses that nobody can guess, whatever state the account is in. */
export function servedPictures(pages: Pages, { store: { read } }: { store: Store }): void {
  pages.get(
    '/pictures/:file',
    async ({ params: { file = '' }, header }) => {
      const picture = await pictureAt(read, file.replace(/\.[a-z]{3,4}$/, ''))
      if (picture === undefined || picturePath(picture) !== `/pictures/${file}`) {
        throw new ApiError('not_found', 'There is no picture here')
      }
      const { contentType, publicId, content: id, sizeBytes } = picture
      const named = `inline; filename="${file.slice(publicId.length).replace('.', 'picture.')}"`
      const own = { ...headers, ETag: `"${publicId}"`, 'Content-Disposition': named }
      if ((header('if-none-match') ?? '').includes(publicId)) {
        return { status: 304, bytes: Buffer.alloc(0), contentType, headers: own }
      }
      return { stream: readContent(read, { id, sizeBytes }), contentType, headers: own }
    },
    // The proxies of large providers fetch for thousands of readers from a few addresses.
    { unlimited: true, alsoPlain: true },
  )
}
