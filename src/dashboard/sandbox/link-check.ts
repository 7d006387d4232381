import { htmlParser } from '../../mime/index.js'
import { linksInText } from '../../sandbox/index.js'

/** An address in a mail, with what is wrong with it. */
export interface CheckedLink {
  url: string
  /** What a reader sees of it: the text of the link, or the `alt` of a picture. */
  shown: string
  where: 'HTML' | 'text' | 'picture'
  /** Sentences; none: nothing is wrong that can be seen without asking for the address. */
  faults: string[]
}

/** The addresses of a mail for which a page has room. */
export interface LinkCheck {
  links: CheckedLink[]
  /** How many there are; `links` has the first `maxLinks`. */
  total: number
}

const maxLinks = 100
const maxShown = 200

/** Every link and picture of a mail, each address once. Nothing is asked over the network. */
export function checkLinks(html: string, text: string): LinkCheck {
  const found = new Map<string, CheckedLink>()
  const add = (
    where: CheckedLink['where'],
    address: string,
    shown: string,
    more: string[] = [],
  ) => {
    const url = address.trim()
    // A picture and a link may have the same address, and different faults.
    const key = `${where === 'picture'} ${url}`
    const known = found.get(key)
    if (known === undefined) {
      const faults = [...addressFaults(url, where), ...more]
      found.set(key, { url, shown: shown.trim().slice(0, maxShown), where, faults })
    } else {
      known.faults = [...new Set([...known.faults, ...more])]
    }
  }
  let open: { href: string; shown: string } | undefined
  const close = () => {
    if (open === undefined) return
    add('HTML', open.href, open.shown, otherHost(open.href, open.shown))
    open = undefined
  }
  const parser = new (htmlParser().Parser)({
    onopentag(tag, { href, src, alt }) {
      if ((tag === 'a' || tag === 'area') && href !== undefined) {
        // HTML §4.5.1: links do not nest. A new link ends the one before it, also where that has no
        // end tag.
        close()
        open = { href, shown: '' }
      }
      if (tag === 'img' && src !== undefined) {
        if (open !== undefined) open.shown += ` ${alt ?? ''}`
        const none = 'It has no alt text, which is what a reader sees while pictures are blocked.'
        if (!/^\s*data:/i.test(src)) add('picture', src, alt ?? '', alt === undefined ? [none] : [])
      }
    },
    ontext(piece) {
      if (open !== undefined && open.shown.length < maxShown) open.shown += piece
    },
    onclosetag(tag) {
      if (tag === 'a' || tag === 'area') close()
    },
    onend: close,
  })
  parser.end(html)
  // An address that is also in the HTML is judged there.
  for (const url of linksInText(text)) {
    if (!found.has(`false ${url}`)) add('text', url, '')
  }
  return { links: [...found.values()].slice(0, maxLinks), total: found.size }
}

// Old mail clients and some gateways cut addresses at about this length.
const maxUrlChars = 2_000
const shorteners =
  /(^|\.)(bit\.ly|tinyurl\.com|t\.co|goo\.gl|ow\.ly|is\.gd|buff\.ly|rebrand\.ly|cutt\.ly)$/
// RFC 2606 §2, §3 and RFC 6761: names that nobody can register.
const placeholderHost = /(^|\.)(example\.(com|net|org)|example|test|invalid|localhost)$/

/**
 * What is wrong with an address by itself. Placeholders of the usual template languages come first,
 * as they are no URLs at all.
 */
function addressFaults(url: string, where: CheckedLink['where']): string[] {
  const thing = where === 'picture' ? 'picture' : 'link'
  if (url === '') return [`The ${thing} has no address.`]
  if (url === '#') return ['“#” leads nowhere: it is a placeholder.']
  if (/\{\{|\{%|%%|\[\[|\*\|/.test(url) || /%7B%7B/i.test(url)) {
    return ['A variable in it was not filled in.']
  }
  if (url.startsWith('#')) return []
  const [, scheme = ''] = /^([a-z][a-z0-9+.-]*):/i.exec(url) ?? []
  if (scheme === '') {
    return [
      `The address is relative: a mail has no page that it could begin at. Expected https://…`,
    ]
  }
  switch (scheme.toLowerCase()) {
    case 'https':
    case 'http':
      return webFaults(url, thing)
    case 'mailto':
      return /^mailto:[^@\s]+@[^@\s?]+/i.test(url) ? [] : ['It does not name a mail address.']
    case 'tel':
    case 'sms':
      return []
    case 'cid':
      return where === 'picture' ? [] : ['“cid:” is for pictures; a link to it leads nowhere.']
    case 'javascript':
    case 'data':
    case 'vbscript':
      return [`Mail clients remove “${scheme}:” addresses, and filters take them for an attack.`]
    default:
      return [`Many mail clients open nothing for “${scheme.slice(0, 20)}:”.`]
  }
}

/** What filters and clients dislike about a web address. */
function webFaults(url: string, thing: string): string[] {
  const parsed = URL.parse(url)
  if (parsed === null) return ['This is not a URL that a client can read.']
  const host = parsed.hostname
  const bare = host.replace(/^\[|\]$/g, '')
  return [
    ...(parsed.protocol === 'http:'
      ? [
          `http:// is not encrypted; ${thing === 'picture' ? 'several clients show no such picture' : 'browsers warn of it'}. Expected https://`,
        ]
      : []),
    ...(/\s/.test(url) ? ['There is a space in it, where many clients end the link.'] : []),
    ...(url.length > maxUrlChars
      ? [`It has over ${maxUrlChars} characters; some clients cut it.`]
      : []),
    ...(parsed.username !== ''
      ? ['A user name stands before the host, as in addresses of phishers.']
      : []),
    ...(/^[\d.]+$|:/.test(bare)
      ? ['It leads to an IP address; filters count that against a mail.']
      : placeholderHost.test(host)
        ? [`${host} is a name for examples, where no recipient finds anything.`]
        : host.includes('.')
          ? []
          : [`${host} is a name of your own network, which no recipient reaches.`]),
    ...(shorteners.test(host)
      ? ['Filters distrust link shorteners; link to your own domain.']
      : []),
  ]
}

/** As in phishing: the text names one site and the link leads to another. */
function otherHost(href: string, shown: string): string[] {
  const said =
    /^\s*(?:https?:\/\/)?((?:[a-z0-9-]{1,63}\.){1,9}[a-z]{2,24})(?:[/?#:]\S*)?\s*$/i.exec(shown)
  const host = URL.parse(href.trim())?.hostname
  if (said === null || !host) return []
  // `www.` in front makes no other site, and the link may lead to a subdomain of the shown domain.
  const name = (text: string) => text.toLowerCase().replace(/^www\./, '')
  const wanted = name(said[1] ?? '')
  if (name(host) === wanted || name(host).endsWith(`.${wanted}`)) return []
  return [`It reads as ${wanted} and leads to ${name(host)}; filters take that for phishing.`]
}
