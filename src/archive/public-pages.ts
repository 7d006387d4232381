import { createHash } from 'node:crypto'
import {
  type AccountFace,
  accountFace,
  accountOfArchive,
  archivePath,
  type Brand,
  brandOf,
  languageOf,
} from '../accounts/index.js'
import { stoppedBy } from '../billing/index.js'
import { type ArchivedCampaign, archivedCampaigns } from '../broadcasts/index.js'
import { isoTime } from '../clock/index.js'
import { compiledView, type Page, type PageRequest, type Pages } from '../http/index.js'
import { frameDocument, frameHeaders } from '../mime/index.js'
import { coloursPath, filledForNobody } from '../preferences/index.js'
import type { Read } from '../store/index.js'
import { feedOf, feedTime } from './feed.js'
import type { Shelf } from './shelf.js'
import { archiveWords, noEmail } from './words.js'

export interface PublicPageDeps {
  read: Read
  shelf: Shelf
  /** Where people reach the public listener. */
  publicUrl: () => string
}

interface ListView {
  words: ReturnType<typeof archiveWords>
  title: string
  isListed: boolean
  logo: string | undefined
  colours: string | undefined
  path: string
  campaigns: { path: string; subject: string; iso: string | null; day: string }[]
  newest: string | undefined
  older: string | undefined
}

const perPage = 25
const inFeed = 20

/** An account's past campaigns, for everybody: a list, each of them, and a feed. */
export function publicPages(pages: Pages, deps: PublicPageDeps): void {
  const { read, shelf, publicUrl } = deps
  pages.get('/a/:public', async (request) => {
    const found = await archiveAt(read, request)
    return found === undefined ? gone(request) : await listPage(deps, found, request)
  })

  pages.get('/a/:public/feed.xml', async (request) => {
    const found = await archiveAt(read, request)
    return found === undefined ? gone(request) : await feed(deps, found, request)
  })

  pages.get('/a/:public/:campaign', async (request) => {
    const found = await archiveAt(read, request)
    const shown = found && (await shelf.campaign(found.accountId, request.params.campaign ?? ''))
    if (found === undefined || shown === undefined) return gone(request)
    const { path, brand, face } = found
    const url = `${publicUrl()}${path}/${request.params.campaign}`
    const { postalAddress } = brand
    const html = filledForNobody(shown.html, {
      publicUrl: publicUrl(),
      viewUrl: url,
      postalAddress,
    })
    return {
      html: frameDocument(html, { title: shown.subject, language: languageOf(face.language) }),
      headers: Object.assign(frameHeaders({ remotePictures: true }), robots(brand), {
        'Cache-Control': 'public, max-age=300',
      }),
    }
  })
}

interface FoundArchive {
  accountId: string
  path: string
  face: AccountFace
  brand: Brand
}

/** Undefined where there is no such archive, it is empty, or its account is paused or suspended. */
async function archiveAt(read: Read, { params }: PageRequest): Promise<FoundArchive | undefined> {
  const publicId = params.public ?? ''
  const accountId = await accountOfArchive(read, publicId)
  if (accountId === undefined) return undefined
  if ((await stoppedBy(read, accountId, 'transactional')) !== undefined) return undefined
  const face = await accountFace(read, accountId)
  const [newest] = await archivedCampaigns(read, accountId, { limit: 1 })
  if (face === undefined || newest === undefined) return undefined
  return { accountId, path: archivePath(publicId), face, brand: await brandOf(read, accountId) }
}

/** The same answer whatever is wrong with the address. */
const gone = ({ header }: PageRequest) => noEmail(404, 'notHere', header('accept-language'))

const robots = ({ archiveListed }: Brand): Record<string, string> =>
  archiveListed ? {} : { 'X-Robots-Tag': 'noindex' }

async function listPage(
  { read, shelf }: PublicPageDeps,
  { accountId, path, face, brand }: FoundArchive,
  { query }: PageRequest,
): Promise<Page> {
  const behind = behindIn(query.get('before') ?? '')
  const found = await archivedCampaigns(read, accountId, { limit: perPage + 1, behind })
  const some = found.slice(0, perPage)
  const words = archiveWords(face.language)
  const day = new Intl.DateTimeFormat(words.language, { dateStyle: 'long', timeZone: 'UTC' })
  const campaigns = []
  for (const one of some) {
    const subject = await shelf.subject(one)
    const iso = isoTime(one.sentAt)
    campaigns.push({ path: `${path}/${one.id}`, subject, iso, day: day.format(one.sentAt) })
  }
  const last = found.length > perPage ? some.at(-1) : undefined
  const html = renderList({
    words,
    title: words.title(face.name),
    isListed: brand.archiveListed,
    logo: face.logoId === null ? undefined : `/logo/${face.logoId}`,
    colours: coloursPath(brand.colours),
    path,
    campaigns,
    newest: behind === undefined ? undefined : path,
    older: last && `${path}?before=${last.sentAt}.${last.id}`,
  })
  return { html, headers: robots(brand) }
}

/** The place in the list that a link names. A text that no page of the list has made means the beginning. */
function behindIn(text: string): Pick<ArchivedCampaign, 'id' | 'sentAt'> | undefined {
  const [, at, id] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(text) ?? []
  return at === undefined || id === undefined ? undefined : { sentAt: Number(at), id }
}

async function feed(
  { read, shelf, publicUrl }: PublicPageDeps,
  { accountId, path, face, brand }: FoundArchive,
  { header }: PageRequest,
): Promise<Page> {
  const found = await archivedCampaigns(read, accountId, { limit: inFeed })
  const url = `${publicUrl()}${path}`
  const words = archiveWords(face.language)
  const items = []
  for (const one of found) {
    items.push({
      title: await shelf.subject(one),
      url: `${url}/${one.id}`,
      description: await shelf.preview(one),
      sentAt: one.sentAt,
    })
  }
  const text = feedOf({ title: words.title(face.name), url, language: words.language, items })
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
  const contentType = 'application/rss+xml; charset=utf-8'
  const headers = Object.assign({}, robots(brand), {
    ETag: tag,
    'Last-Modified': feedTime(found[0]?.sentAt ?? 0),
    'Cache-Control': 'public, max-age=300',
  })
  // RFC 9110 §13.2.2: only the tag counts, as taking a campaign out changes the list but makes none newer.
  const known = (header('if-none-match') ?? '').includes(tag)
  return known
    ? { status: 304, bytes: Buffer.alloc(0), contentType, headers }
    : { text, contentType, headers }
}

const renderList = compiledView<ListView>('archive/views/list')
