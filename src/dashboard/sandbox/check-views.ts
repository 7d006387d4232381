import type { SandboxMessage } from '../../sandbox/index.js'
import type { Followed } from './follow-links.js'
import { checkHtml } from './html-check.js'
import { checkLinks } from './link-check.js'
import { checkMail } from './mail-check.js'
import { verdictWords } from './verdict-words.js'

// A page of a hundred addresses of two thousand characters would be slow.
const maxUrlChars = 300

/** The three views that judge a mail. */
export const checkViews = {
  checks: (message: SandboxMessage) => ({
    checking: message.verdicts === undefined,
    verdicts: verdictWords(message),
    findings: checkMail(message),
  }),

  clients: ({ content }: SandboxMessage) => {
    const { source, clients, features } = checkHtml(content.html ?? '')
    const whole = clients.filter(({ missing, partly }) => missing + partly === 0).length
    return {
      ...{ source, features, hasHtml: content.html !== undefined },
      clients: [...clients].sort((a, b) => b.missing - a.missing || b.partly - a.partly),
      summary: `${whole} of ${clients.length} mail clients show all that this mail uses.`,
    }
  },

  links: ({ content }: SandboxMessage, { followed }: { followed?: Followed[] }) => {
    const { links, total } = checkLinks(content.html ?? '', content.text ?? '')
    const answers = new Map(followed?.map((one) => [one.url, one]))
    return {
      asked: followed !== undefined,
      more: total - links.length,
      canAsk: links.some(({ url }) => /^https?:/i.test(url)),
      links: links.map((link) => ({
        ...link,
        url: link.url.slice(0, maxUrlChars),
        // RFC 3986 §3.1: a scheme that runs something is shown and never followed.
        href: /^https?:\/\//i.test(link.url) && URL.canParse(link.url) ? link.url : undefined,
        answer: answers.get(link.url),
      })),
    }
  },
}
