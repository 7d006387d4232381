import { shownBytes } from '../../amounts/index.js'
import type { Plans } from '../../billing/index.js'
import type { Clock } from '../../clock/index.js'
import { type KeptPicture, listPictures, picturePath } from '../../pictures/index.js'
import type { Store } from '../../store/index.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import { type BesidePages, listOf } from '../shell/listing.js'
import type { Visit } from '../shell/visit.js'
import { reachOf } from './reach.js'

/** What the pages about pictures need. */
export interface PicturePageDeps {
  store: Store
  clock: Clock
  plans: Plans
  publicUrl: string
}

/** A picture as pages show it. */
export interface ShownPicture {
  page: string
  /** Where the dashboard shows it from. */
  file: string
  /** Where mails show it from. */
  url: string
  name: string
  alt: string
  width: number
  height: number
  size: string
  added: Moment
}

interface PicturesView extends BesidePages {
  base: string
  accountId: string
  mayWrite: boolean
  warning: string | undefined
  mostFiles: number
  pictures: ShownPicture[]
  faults: Faults
}

// Each of them is a request of its own for the browser.
const pageSize = 24

/** How many files one form takes: together they have to fit into memory. */
export const mostFiles = 5

export const shownOnPage = (
  picture: KeptPicture,
  { base, now }: Pick<Visit, 'base' | 'now'>,
  publicUrl: string,
): ShownPicture => ({
  page: `${base}/pictures/${picture.id}`,
  file: `${base}/pictures/${picture.id}/file`,
  url: `${publicUrl}${picturePath(picture)}`,
  name: picture.name,
  alt: picture.alt,
  width: picture.width,
  height: picture.height,
  size: shownBytes(picture.sizeBytes),
  added: moment(picture.createdAt, now),
})

/** The pictures, the newest first, and the form by which they come. */
export async function showPictures(
  { store: { read }, publicUrl }: PicturePageDeps,
  visit: Visit,
  faults: Faults = noFaults,
): Promise<PageAnswer> {
  const { account, base, query } = visit
  const { rows, newer, older } = await listOf({ path: `${base}/pictures`, query }, (cursor) =>
    listPictures(read, account.id, { cursor, limit: pageSize }),
  )
  const view: PicturesView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('campaigns.write'),
    warning: reachOf(publicUrl),
    mostFiles,
    pictures: rows.map((one) => shownOnPage(one, visit, publicUrl)),
    newer,
    older,
    faults,
  }
  return page('pictures/list', view, { title: 'Pictures' })
}
