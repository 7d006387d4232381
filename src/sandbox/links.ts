import { htmlParser } from '../mime/index.js'

/** Every link of a mail once: where its HTML leads, in their order, and then those that the text alone has. */
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

/** Addresses that stand in a text, without the full stop behind them. */
export function linksInText(text: string): string[] {
  return [...text.matchAll(/https?:\/\/[^\s<>"')\]]+/g)].map(([link]) =>
    link.replace(/[.,;:!?]{1,9}$/, ''),
  )
}
