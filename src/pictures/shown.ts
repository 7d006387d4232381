import { isoTime } from '../clock/index.js'
import { type KeptPicture, picturePath } from './picture.js'

/** A picture as the API and commands show it. */
export const shownPicture = (picture: KeptPicture, publicUrl: string) => ({
  id: picture.id,
  name: picture.name,
  alt: picture.alt,
  url: `${publicUrl}${picturePath(picture)}`,
  contentType: picture.contentType,
  width: picture.width,
  height: picture.height,
  size: picture.sizeBytes,
  createdAt: isoTime(picture.createdAt),
})
