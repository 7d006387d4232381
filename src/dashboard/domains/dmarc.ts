import {
  type DmarcSummary,
  makeNameSources,
  ownAddresses,
  readDmarc,
  type SourceKind,
  usualDays,
} from '../../dmarc/index.js'
import { plural } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { AccountPages } from '../shell/page.js'
import type { Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import type { DomainPageDeps } from './deps.js'
import { domainOf } from './domain-of.js'

/** What receivers report, as plain values. */
interface DmarcView {
  url: string
  accountId: string
  id: string
  name: string
  days: number
  ranges: { label: string; href: string; here: boolean }[]
  summary: { label: string; value: string }[]
  hasReports: boolean
  /** The address that reports come to; undefined: nobody listens. */
  reportsTo: string | undefined
  sources: SourceView[]
  /** How many more addresses there are, each with less mail. */
  left: number
}

/** An address that sends mail in the domain's name. */
interface SourceView {
  address: string
  name: string
  kind: { text: string; tone: Tone }
  messages: string
  passed: string
  dkim: string
  spf: string
  advice: string
}

const ranges = [7, 30, 90] as const
// As many as matter on a page; the API has up to 200.
const mostSources = 50

/** Who has the address, as far as known. */
const kinds: Readonly<Record<SourceKind, { text: string; tone: Tone }>> = {
  ours: { text: 'this appliance', tone: 'good' },
  forwarder: { text: 'forwards', tone: 'none' },
  service: { text: 'another service', tone: 'none' },
  other: { text: 'unknown', tone: 'doubt' },
}

/** What receivers report about mail in a domain's name, by where it came from. */
export function dmarcPages(pages: AccountPages, deps: DomainPageDeps): void {
  pages.get('/domains/:name/dmarc', 'domains.read', (visit) => dmarcPage(deps, visit))
}

/** The reports of some days, summed up by source. */
async function dmarcPage(deps: DomainPageDeps, visit: Visit): Promise<PageAnswer> {
  const { store, clock, outbound, records } = deps
  const { account, base, query } = visit
  const { id, name } = await domainOf(deps, visit)
  const days = ranges.find((one) => String(one) === query.get('days')) ?? usualDays
  const resolver = deps.openResolver()
  const summary = await readDmarc(
    { read: store.read, clock },
    {
      domain: { id, name },
      days,
      ownAddresses: await ownAddresses(outbound, resolver),
      nameSources: makeNameSources({ store, clock, resolver }),
    },
  )
  const url = `${base}/domains/${name}`
  const view: DmarcView = {
    url,
    accountId: account.id,
    id,
    name,
    days,
    reportsTo: records.reportsTo,
    ranges: ranges.map((one) => ({
      label: `${one} days`,
      href: `${url}/dmarc?days=${one}`,
      here: one === days,
    })),
    hasReports: summary.reports > 0 || summary.tls.reports > 0,
    summary: factsOf(summary),
    sources: summary.sources.slice(0, mostSources).map(sourceView),
    left: Math.max(0, summary.sources.length - mostSources),
  }
  return page('domains/dmarc', view, { title: `Reports about ${name}`, wide: true })
}

/**
 * The figures above the sources. A report without a good signature may come from anybody, and is
 * marked so.
 */
function factsOf({ policy, reports, messages, passed, reporters, tls }: DmarcSummary) {
  const names = reporters
    .slice(0, 10)
    .map(({ name, proof }) => (proof === '' ? `${name} (unsigned)` : name))
  const share = messages === 0 ? '' : ` (${((passed / messages) * 100).toFixed(1)} %)`
  return [
    { label: 'Policy', value: policy === '' ? 'no signed report has told it' : `p=${policy}` },
    { label: 'Reports', value: plural(reports, 'report') },
    { label: 'Reported by', value: names.join(', ') || 'nobody' },
    { label: 'Mail in its name', value: plural(messages, 'message') },
    { label: 'Passed', value: `${passed.toLocaleString('en-GB')}${share}` },
    ...(tls.reports === 0
      ? []
      : [
          {
            label: 'TLS to the return path',
            value: `${plural(tls.successes, 'session')} well, ${tls.failures} failed (${plural(tls.reports, 'report')})`,
          },
        ]),
  ]
}

/**
 * A source's row. The empty address stands for all sources with little mail, which are counted
 * together.
 */
function sourceView(source: DmarcSummary['sources'][number]): SourceView {
  const { address, name, kind, messages, passed, dkimPassed, spfPassed, advice } = source
  const [count, good, dkim, spf] = [messages, passed, dkimPassed, spfPassed].map((n) =>
    n.toLocaleString('en-GB'),
  )
  return {
    address: address || 'many others',
    name,
    kind: kinds[kind],
    advice,
    messages: count ?? '',
    passed: good ?? '',
    dkim: dkim ?? '',
    spf: spf ?? '',
  }
}
