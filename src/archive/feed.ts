/** A past campaign in a feed. */
interface FeedItem {
  title: string
  url: string
  /** Its preview text; undefined: it has none. */
  description?: string | undefined
  sentAt: number
}

/**
 * RSS 2.0 (https://www.rssboard.org/rss-specification), with the link to itself that validators want. A subject
 * rendered for nobody may be empty; an item always has a title.
 */
export function feedOf({
  title,
  url,
  language,
  items,
}: {
  title: string
  /** The address of the page whose feed this is. */
  url: string
  language: string
  items: readonly FeedItem[]
}): string {
  const newest = items[0]?.sentAt
  // Readers take a description for HTML, so that what is text is escaped once more.
  const lines = items.map(
    (item) => `<item>
<title>${xml(item.title).trim() || xml(title)}</title>
<link>${xml(item.url)}</link>
<guid isPermaLink="true">${xml(item.url)}</guid>
${item.description ? `<description>${xml(xml(item.description))}</description>\n` : ''}<pubDate>${feedTime(item.sentAt)}</pubDate>
</item>
`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>${xml(title)}</title>
<link>${xml(url)}</link>
<description>${xml(title)}</description>
<language>${language}</language>
<atom:link href="${xml(`${url}/feed.xml`)}" rel="self" type="application/rss+xml"/>
${newest === undefined ? '' : `<lastBuildDate>${feedTime(newest)}</lastBuildDate>\n`}${lines.join('')}</channel>
</rss>
`
}

/** RFC 822 §5.1 with the year of RFC 1123 §5.2.14. This is also HTTP's own form (RFC 9110 §5.6.7). */
export const feedTime = (ms: number): string => new Date(ms).toUTCString()

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** XML 1.0 §2.2: no document may have most control characters, not even as references. */
const xml = (text: string) =>
  text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replace(/[&<>"']/g, (char) => entities[char] ?? char)
