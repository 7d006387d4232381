import { textOfHtml } from '../mime/index.js'
import type { Read } from '../store/index.js'
import { type Switches, trackingOf } from './switches.js'

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

/**
 * Whether the domain's marketing mail with this HTML has a pixel, by the switches as they stand now. `settings` undefined: nobody
 * out there could ask for one. Of a domain that is gone nothing is known, and it is said to have one.
 */
export async function hasPixel(
  read: Read,
  { domainId, html }: { domainId: string; html: string },
  settings: Switches | undefined,
): Promise<boolean> {
  if (settings === undefined) return false
  const tracking = await trackingOf(read, domainId, settings)
  return tracking?.opens !== false && outweighsPixel(html)
}
