import { htmlParser } from '../mime/index.js'

/** Every link of a mail once: those of its HTML in their order, and then those that only the text has. */
export function linksIn(html: string, text: string): string[] {
  const links = new Set<string>()
  const parser = new (htmlParser().Parser)({
    onopentag: (name, { href }) => {
      if ((name === 'a' || name === 'area') && href) links.add(href.trim())
    },
  })
  parser.end(html)
  for (const link of linksInText(text)) links.add(link)
  return [...links]
}

/** The addresses in a text, without a full stop after them. */
export function linksInText(text: string): string[] {
  return [...text.matchAll(/https?:\/\/[^\s<>"')\]]+/g)].map(([link]) =>
    link.replace(/[.,;:!?]{1,9}$/, ''),
  )
}
