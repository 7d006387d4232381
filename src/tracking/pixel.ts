import { textOfHtml } from '../mime/index.js'

// SpamAssassin's HTML_IMAGE_ONLY_04 to _28 count a picture beside so few characters of text, with up to 2.8 points.
const lightChars = 2_800
const picture = /<img[\s/]/i
// The targets of links in the text, which readers of the HTML do not see.
const target = /\[[^\]\s]+\]/g

/**
 * Whether the pixel does not make the mail one of a picture with few words: it has another picture, or many words.
 */
export function outweighsPixel(html: string): boolean {
  if (picture.test(html)) return true
  return html.length > lightChars && charsOf(html) > lightChars
}

const charsOf = (html: string) => textOfHtml(html).text.replace(target, '').length

/** How many characters of text a mail has, and how many it needs for the pixel. */
export const weightOf = (html: string): { has: number; wants: number } => ({
  has: charsOf(html),
  wants: lightChars + 1,
})
