import { htmlParser } from '../../mime/index.js'
import { checkHtml } from '../sandbox/html-check.js'

/*
 * What of written HTML mail clients take out, or show otherwise than it was meant. Of blocks none of it is made, but what
 * somebody has put into a card of HTML.
 */

// A page tells of a few.
const mostNamed = 3

/** What clients do to this HTML, each in a sentence with what to do instead. */
export function punishedIn(html: string): string[] {
  return [...removedIn(html), ...unclosedIn(html), ...missingIn(html)]
}

/** Tags that no client leaves in a mail. */
function removedIn(html: string): string[] {
  const found = new Set<string>()
  let stylesheets = 0
  const parser = new (htmlParser().Parser)({
    onopentag(tag, { rel = '', href }) {
      if (removed[tag] !== undefined) found.add(removed[tag])
      if (tag === 'link' && /stylesheet/i.test(rel) && href !== undefined) stylesheets++
    },
  })
  parser.end(html)
  const isImporting = /@import\b/i.test(html)
  return [
    ...[...found].map(
      (what) =>
        `Mail programs take ${what} out, and filters take it for an attack: remove it, or lead to a page that has it.`,
    ),
    ...(stylesheets > 0 || isImporting
      ? [
          'A style sheet is fetched from elsewhere, which hardly any mail program does: write the styles into the tags, as style="…".',
        ]
      : []),
  ]
}

const removed: Readonly<Record<string, string>> = {
  script: 'a <script>',
  form: 'a <form>',
  input: 'a <form>',
  textarea: 'a <form>',
  select: 'a <form>',
  iframe: 'an <iframe>',
  frame: 'an <iframe>',
  object: 'an <object>',
  embed: 'an <object>',
  applet: 'an <object>',
}

// HTML §13.1.2: these end by themselves, or may be left open.
const endless = new Set(
  'area base br col embed hr img input link meta param source track wbr p li dt dd tr td th thead tbody tfoot option html head body colgroup caption'.split(
    ' ',
  ),
)

/** Elements that begin and never end, or end where another one is to: a mail program guesses where. */
function unclosedIn(html: string): string[] {
  const open: { tag: string; line: number }[] = []
  const faults: string[] = []
  const lineAt = lineCounter(html)
  const parser = new (htmlParser().Parser)({
    onopentag(tag) {
      if (!endless.has(tag)) open.push({ tag, line: lineAt(parser.startIndex) })
    },
    onclosetag(tag, isImplied) {
      if (endless.has(tag)) return
      const last = open.pop()
      if (isImplied && last !== undefined) faults.push(`<${tag}> of line ${last.line}`)
    },
  })
  parser.end(html)
  const named = [...new Set(faults)]
  if (named.length === 0) return []
  const more = named.length > mostNamed ? ` and ${named.length - mostNamed} more` : ''
  return [
    `These tags are opened and not closed where they should be, so each mail program ends them elsewhere: ${named.slice(0, mostNamed).join(', ')}${more}. Write their end, such as </div>.`,
  ]
}

/** Tells the line of a place, asked for in rising order. */
function lineCounter(text: string): (at: number) => number {
  let line = 1
  let from = 0
  return (at) => {
    for (let next = text.indexOf('\n', from); next !== -1 && next < at; ) {
      line++
      from = next + 1
      next = text.indexOf('\n', from)
    }
    return line
  }
}

// What marks the difference between a mail that looks a little plainer and one that falls apart.
const breaking: Readonly<Record<string, string>> = {
  'css-position': 'use tables in place of position',
  'css-left-right-top-bottom': '',
  'css-background-image': 'choose a colour behind words too, as a picture may not be there',
  'html-background': 'choose a colour behind words too, as a picture may not be there',
  'css-display-flex': 'use tables in place of flex',
  'css-display-grid': 'use tables in place of grid',
  'css-grid-template': '',
  'css-float': 'use tables in place of float',
  'css-variables': 'write each colour out',
  'css-unit-calc': 'write the number out',
  'html-video': 'use a picture that leads to the video',
  'html-audio': 'use a link that leads to it',
  'html-svg': 'use a PNG picture',
  'image-svg': 'use a PNG picture',
  'image-base64': 'upload the picture, and use its address',
  'css-negative-margin': 'use a smaller space',
  'css-object-fit': 'make the picture the size that it is shown in',
}

/** What some large clients do not show, by the table of the sandbox. */
function missingIn(html: string): string[] {
  const seen = new Set<string>()
  return checkHtml(html).features.flatMap(({ title, url, missing }) => {
    const slug = url.split('/').at(-2) ?? ''
    const instead = breaking[slug]
    if (!instead || missing.length === 0 || seen.has(instead)) return []
    seen.add(instead)
    const who =
      missing.length > mostNamed
        ? `${missing.slice(0, mostNamed).join(', ')} and ${missing.length - mostNamed} more`
        : missing.join(', ')
    return [`${who} do${missing.length === 1 ? 'es' : ''} not show ${title}: ${instead}.`]
  })
}
