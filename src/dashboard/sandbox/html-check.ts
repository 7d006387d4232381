import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFile } from '../../config/index.js'
import { usedFeatures } from './used-features.js'

/** Which mail clients do not show what a mail's HTML and CSS ask for. */
export interface HtmlCheck {
  /** Where the facts come from, with their date. */
  source: string
  clients: { name: string; missing: number; partly: number }[]
  /** Those that some client lacks, the most widely lacking first; `uses` is how often the mail has it. */
  features: { title: string; url: string; uses: number; missing: string[]; partly: string[] }[]
}

/** The file that `bin/client-support` makes out of the data of caniemail.com. */
interface Table {
  source: string
  clients: string[]
  /** `support` has a letter for each client: y yes, a in part, n no, u not known. */
  features: Record<string, { title: string; support: string }>
}

// A mail that was made from templates uses the same few things again and again; a list of hundreds
// would help nobody.
const maxFeatures = 60
// Read when the first mail is checked, and kept: it never changes while the process runs.
let table: Table | undefined

/** Looks into a table of facts (`bin/client-support`); nothing is asked for over the network. */
export function checkHtml(html: string): HtmlCheck {
  table ??= JSON.parse(
    readFileSync(join(packageFile('src/dashboard/sandbox'), 'client-support.json'), 'utf8'),
  ) as Table
  const { source, clients, features } = table
  const tally = clients.map((name) => ({ name, missing: 0, partly: 0 }))
  const found: HtmlCheck['features'] = []
  for (const [slug, uses] of usedFeatures(html)) {
    const known = features[slug]
    if (known === undefined) continue
    const missing: string[] = []
    const partly: string[] = []
    for (const [index, client] of tally.entries()) {
      const support = known.support[index]
      if (support === 'n') missing.push(client.name)
      if (support === 'a') partly.push(client.name)
      client.missing += support === 'n' ? 1 : 0
      client.partly += support === 'a' ? 1 : 0
    }
    const url = `https://www.caniemail.com/features/${slug}/`
    found.push({ title: known.title, url, uses, missing, partly })
  }
  // A client that shows a thing in part counts half as much as one that does not show it.
  const weight = (one: HtmlCheck['features'][number]) => 2 * one.missing.length + one.partly.length
  found.sort((a, b) => weight(b) - weight(a) || a.title.localeCompare(b.title))
  return { source, clients: tally, features: found.slice(0, maxFeatures) }
}
