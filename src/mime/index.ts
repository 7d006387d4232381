/**
 * Addresses and the composer: what goes into a message, byte for byte; and the parsers, for people
 * to read mail. Pure: no clock, no randomness; the same input gives the same bytes. Every message
 * has CRLF line ends, no line over 998 octets and, except for SMTPUTF8 local parts, only ASCII, so
 * that no relay has a reason to change what DKIM signed. No CR, LF or NUL reaches a header.
 */

export { type AttachedBody, type AttachedPart, invitationMethod, mediaTypeOf } from './attached.js'
export { type BodyParts, composeParts } from './body.js'
export { type LineCheck, makeLineCheck } from './check-lines.js'
export {
  type ComposedMessage,
  composeAttached,
  composeMessage,
  encloseMessage,
  type MessageInput,
} from './compose.js'
export {
  glimpseHeader,
  type MessageContent,
  readAttachment,
  readMessageContent,
  readPictures,
} from './content.js'
export { escapeHtml } from './escape-html.js'
export { frameDocument, frameHeaders, hasRemotePictures } from './frame.js'
export {
  dateField,
  isHeaderName,
  longestWord,
  mailboxField,
  structuredField,
  textField,
} from './header.js'
export { htmlParser } from './html-parser.js'
export { isTextCut, neverCutChars, type PlainText, textOfHtml } from './html-text/convert.js'
export {
  contentStart,
  type HtmlPlaces,
  type Hyperlink,
  hrefsIn,
  hyperlinksIn,
  placesIn,
} from './html-text/places.js'
export {
  addressKey,
  canonicalLocal,
  hasSoundALabels,
  type Mailbox,
  maxNameLength,
  parseMailbox,
  quote,
} from './mailbox.js'
export { type OwnWords, ownWords } from './own-words.js'
export { partWithText, textOfPart } from './part-text.js'
export { type MessagePart, type MessageParts, readParts } from './parts.js'
export { postalMime } from './postal-mime.js'
export { type HeaderField, onlyOnce, readableValue, readHeader } from './read-header.js'
export { base64Size, encodeBase64 } from './transfer-encoding.js'
export { decodeUnlabelled } from './unlabelled.js'
