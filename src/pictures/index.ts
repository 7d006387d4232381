/**
 * An account's pictures, for its mails: stored as contents, served by the public listener under a random name. What
 * must hold: every served file is a PNG, JPEG, GIF or WebP by its bytes, and does not say where or by what it was
 * taken; a picture is not deleted while something that can still send shows it. See README.md.
 */
export { type CleanPicture, maxPictureBytes, readPicture } from './clean.js'
export { maxPixels } from './limits.js'
export {
  addPicture,
  changePicture,
  deletePicture,
  type KeptPicture,
  listPictures,
  type PictureDeps,
  picturePath,
  picturesAt,
  picturesNamed,
  requirePicture,
} from './picture.js'
export { shownPicture } from './shown.js'
export { type PictureUse, type SentWithPicture, sentWithPicture, usesOfPicture } from './uses.js'
export { wholePicture } from './whole.js'
