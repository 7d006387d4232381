import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFile } from '../../config/index.js'
import { usedFeatures } from './used-features.js'

/** Which mail clients do not support the features that a mail's HTML and CSS use. */
export interface HtmlCheck {
  /** The source of the facts, with its date. */
  source: string
  clients: { name: string; missing: number; partly: number }[]
  /** The features that some client lacks, the most widely lacking first; `uses` is how often the mail uses each. */
  features: { title: string; url: string; uses: number; missing: string[]; partly: string[] }[]
}

/** The file that `bin/client-support` makes from the data of caniemail.com. */
interface Table {
  source: string
  clients: string[]
  /** `support` has a letter for each client: y yes, a in part, n no, u not known. */
  features: Record<string, { title: string; support: string }>
}

// A mail made from templates uses the same few features again and again; nobody would read a list
// of hundreds.
const maxFeatures = 60
// Read when the first mail is checked, and kept: it never changes while the process runs.
let table: Table | undefined

/** Looks into a table of facts (`bin/client-support`), and asks nothing over the network. */
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
  // A client with partial support counts half as much as one without support.
  const weight = (one: HtmlCheck['features'][number]) => 2 * one.missing.length + one.partly.length
  found.sort((a, b) => weight(b) - weight(a) || a.title.localeCompare(b.title))
  return { source, clients: tally, features: found.slice(0, maxFeatures) }
}
