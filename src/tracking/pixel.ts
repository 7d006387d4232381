import { textOfHtml } from '../mime/index.js'

// SpamAssassin's HTML_IMAGE_ONLY_04 to _28 count a picture beside so few characters of text, with up to 2.8 points.
const lightChars = 2_800
const picture = /<img[\s/]/i
// What the text says of where links lead, which is no text to who looks at the HTML.
const target = /\[[^\]\s]+\]/g

/** Whether a mail is none that the pixel would make one of a picture with few words: it has another, or many words. */
export function outweighsPixel(html: string): boolean {
  if (picture.test(html)) return true
  if (html.length <= lightChars) return false
  return textOfHtml(html).text.replace(target, '').length > lightChars
}
