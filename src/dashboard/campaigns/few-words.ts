import { counted } from '../../amounts/index.js'
import { htmlParser } from '../../mime/index.js'

// Spam filters compare pictures with words; a mail with so many words is none of pictures.
const enoughWords = 20

/**
 * Said of a mail whose message is in pictures; undefined for one with words, also a short one: a notice of a line has no
 * picture at all, or a logo alone.
 */
export function fewWordsIn(html: string, text: string): string | undefined {
  const pictures = picturesIn(html)
  if (pictures.length === 0) return undefined
  const words = wordsIn(text)
  // A logo above a few words says nothing that is to be read.
  const isLogo = pictures.length === 1 && (pictures[0]?.isSmall ?? false)
  if (words >= enoughWords || (isLogo && words > 0)) return undefined
  return `It has ${counted(pictures.length, 'picture')} and ${words === 0 ? 'no words' : `only ${counted(words, 'word')}`}: many programs show no pictures before they are asked, so that nothing is there to read, and filters take mail of pictures for spam. Write what the pictures say as text, at least ${enoughWords} words.`
}

/** But those that count opens. */
function picturesIn(html: string): { isSmall: boolean }[] {
  const found: { isSmall: boolean }[] = []
  const parser = new (htmlParser().Parser)({
    onopentag(tag, { width = '', height = '' }) {
      if (tag !== 'img' || width === '1' || height === '1') return
      const isSmall = /^\d+/.test(width) && Number.parseInt(width, 10) <= 200
      found.push({ isSmall })
    },
  })
  parser.end(html)
  return found
}

/** The words of the text part, without addresses and what each mail has at its end. */
function wordsIn(text: string): number {
  const plain = text.replace(/\{\{[^{}]{0,300}\}\}|https?:\/\/\S+|\[[^\]]{0,2000}\]/g, ' ')
  return plain.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’-]*/gu)?.length ?? 0
}
