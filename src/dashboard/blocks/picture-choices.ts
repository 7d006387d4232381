import { listPictures, picturePath } from '../../pictures/index.js'
import type { Read } from '../../store/index.js'

/** A picture that a card offers. */
export interface PictureChoice {
  url: string
  /** Where the dashboard shows it from. */
  file: string
  /** What it shows, and its file: several may show the same. */
  name: string
  alt: string
}

// The newest: more would make the page large, and each has its address on its own page.
const mostChoices = 50

/** The account's newest pictures. */
export async function pictureChoices(
  read: Read,
  accountId: string,
  publicUrl: string,
): Promise<PictureChoice[]> {
  const { page } = await listPictures(read, accountId, { limit: mostChoices })
  return page.map((one) => ({
    url: `${publicUrl}${picturePath(one)}`,
    file: `/a/${accountId}/pictures/${one.id}/file`,
    name: one.alt === '' ? one.name : `${one.alt} (${one.name})`,
    alt: one.alt,
  }))
}
