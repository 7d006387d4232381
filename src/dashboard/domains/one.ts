import { auditOf } from '../../contract/index.js'
import * as operations from '../../domains/contract.js'
import {
  type Domain,
  type RecordCheck,
  readRecords,
  verifyDomain,
  zoneFile,
} from '../../domains/index.js'
import { makeRateLimiter, refuseExcess } from '../../http/index.js'
import { domainSwitches } from '../../tracking/index.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import type { DomainPageDeps } from './deps.js'
import { domainOf } from './domain-of.js'
import { receivingHostPages } from './receiving.js'
import { type RecordView, recordView } from './record-view.js'
import { type RotationView, rotatePages, rotationView } from './rotation.js'
import { type StateView, stateOf } from './state.js'
import { switchPages, type TrackingView, trackingView } from './tracking.js'

/** A domain's page, as plain values. */
interface OneDomainView {
  base: string
  url: string
  accountId: string
  id: string
  name: string
  mayWrite: boolean
  state: StateView
  looked: Moment | undefined
  records: RecordView[]
  zone: string
  rotation: RotationView
  policy: PolicyView
  tracking: TrackingView
  receivingHost: string
  /** Where the person who looks can send themselves a test mail; undefined: their role may not, or not yet. */
  testUrl: string | undefined
  faults: Faults
}

// As in the API: a look asks the DNS about ten questions.
const looks = { requests: 10, windowMs: 60_000 }

/** A domain: its wanted records and those that were found, and what depends on them. */
export function oneDomainPages(pages: AccountPages, deps: DomainPageDeps): void {
  const looking = makeRateLimiter(looks, deps.clock, { together: deps.counts?.of('domain looks') })
  const show = async (visit: Visit, faults: Faults): Promise<PageAnswer> => {
    const domain = await domainOf(deps, visit)
    const view = await oneDomainView(deps, visit, domain, faults)
    return page('domains/one', view, { title: domain.name })
  }
  pages.get('/domains/:name', 'domains.read', (visit) => show(visit, noFaults))

  const checking = { action: 'domains.write', again: show } as const
  pages.post('/domains/:name/check', checking, async (visit) => {
    const { account, base } = visit
    const { name, status } = await domainOf(deps, visit)
    // Counted for each account, as in the API: all of its people share the limit.
    refuseExcess(looking.take(account.id))
    const asked = { ...deps, settings: deps.records, resolver: deps.openResolver() }
    const { domain, records } = await verifyDomain(asked, account.id, name)
    const good = records.filter(({ state }) => state === 'ok').length
    const became = domain.status !== status ? `; ${name} is now ${stateOf(domain).text}` : ''
    const flash = `${good} of ${records.length} records are as they should be${became}`
    const audit = auditOf(operations.verifyDomain, {
      target: name,
      detail: { status: domain.status },
    })
    return redirect(`${base}/domains/${name}`, { flash, audit })
  })
  rotatePages(pages, deps, show)
  switchPages(pages, deps, show)
  receivingHostPages(pages, deps, show)
}

/** The page's values. `zone` has all records as a zone file, ready to paste. */
async function oneDomainView(
  { store: { read }, records: settings }: DomainPageDeps,
  visit: Visit,
  domain: Domain,
  faults: Faults,
): Promise<OneDomainView> {
  const { account, base, now, person } = visit
  const { at, records } = await readRecords(read, domain, settings)
  const test = new URLSearchParams({
    from: `hello@${domain.name}`,
    to: person.email,
    subject: `A test from ${domain.name}`,
  })
  const dmarc = records.find(({ purpose }) => purpose === 'dmarc')
  // The test goes to the person who looks, whose address is known; to anybody else it would be an ordinary mail.
  const mayTest = visit.may('emails.send') && domain.status === 'verified'
  return {
    base,
    url: `${base}/domains/${domain.name}`,
    accountId: account.id,
    faults,
    id: domain.id,
    name: domain.name,
    mayWrite: visit.may('domains.write'),
    state: stateOf(domain),
    looked: at === null ? undefined : moment(at, now),
    records: records.map((record) => recordView(domain, record)),
    zone: zoneFile(records),
    rotation: rotationView(domain, now),
    policy: policyOf(dmarc?.seen, settings.reportsTo),
    tracking: trackingView(domain, await domainSwitches(read, domain.id)),
    receivingHost: domain.receivingHost ?? '',
    testUrl: mayTest ? `${base}/emails/new?${test}` : undefined,
  }
}

/** What the DMARC record of a domain asks of receivers, in words. */
interface PolicyView {
  text: string
  tone: Tone
  sentence: string
  /** What to do next; empty where there is nothing to do. */
  next: string
}

// RFC 9989 §4.7: the three things that a policy can ask for.
const meanings: Record<string, Omit<PolicyView, 'next'> & { next: string }> = {
  none: {
    text: 'p=none',
    tone: 'doubt',
    sentence:
      'Receivers take mail in the name of this domain whoever sends it, and only report what they see.',
    next: 'Watch the reports for some weeks. When all of your own mail passes, publish p=quarantine, and then p=reject.',
  },
  quarantine: {
    text: 'p=quarantine',
    tone: 'good',
    sentence: 'Receivers put mail that only pretends to be from this domain into the spam folder.',
    next: 'When the reports show that nothing of yours fails, p=reject protects the name fully.',
  },
  reject: {
    text: 'p=reject',
    tone: 'good',
    sentence: 'Receivers refuse mail that only pretends to be from this domain.',
    next: '',
  },
}

/** Judged by what the last look found. `reportsTo`: where this appliance takes reports; undefined: it takes none. */
function policyOf(seen: RecordCheck | undefined, reportsTo: string | undefined): PolicyView {
  const none = { text: 'unknown', tone: 'none', next: '' } as const
  if (seen === undefined) return { ...none, sentence: 'Not checked yet.' }
  if (seen.state === 'unknown') return { ...none, sentence: 'The DNS gave no answer.' }
  const [found = '', ...more] = seen.found
  if (more.length > 0) {
    const sentence = 'There are several DMARC records, and receivers then use none of them.'
    return { text: 'several', tone: 'bad', sentence, next: 'Keep one.' }
  }
  const [, wanted = ''] = /;\s*p\s*=\s*(\w+)/i.exec(found) ?? []
  const meaning = meanings[wanted.toLowerCase()]
  if (meaning === undefined) {
    const sentence = 'Without a policy, large receivers refuse or junk bulk mail of the domain.'
    return { text: 'none', tone: 'bad', sentence, next: 'Publish the DMARC record above.' }
  }
  if (reportsTo === undefined || found.toLowerCase().includes(reportsTo.toLowerCase())) {
    return meaning
  }
  const reports = `Add rua=mailto:${reportsTo} to the record, so that the reports come here.`
  return { ...meaning, next: [meaning.next, reports].filter(Boolean).join(' ') }
}
