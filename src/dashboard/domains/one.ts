import { type Domain, readRecords, verifyDomain, zoneFile } from '../../domains/index.js'
import { makeRateLimiter, refuseExcess } from '../../http/index.js'
import { domainSwitches } from '../../tracking/index.js'
import { type Moment, moment } from '../format.js'
import { type Answer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { DomainPageDeps } from './deps.js'
import { domainOf } from './domain-of.js'
import { type PolicyView, policyOf } from './policy.js'
import { type RecordView, recordView } from './record-view.js'
import { type StateView, stateOf } from './state.js'
import { switchPages, type TrackingView, trackingView } from './tracking.js'

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
  policy: PolicyView
  tracking: TrackingView
  /** Where a mail is sent from it to whoever looks; undefined: not by this role, or not yet. */
  testUrl: string | undefined
  faults: Faults
}

// As for the API: a look asks the DNS some ten questions.
const looks = { requests: 10, windowMs: 60_000 }

/** A domain: its records as they are wanted and as they were found, and what depends on them. */
export function oneDomainPages(pages: AccountPages, deps: DomainPageDeps): void {
  const looking = makeRateLimiter(looks, deps.clock)
  const show = async (visit: Visit, faults: Faults): Promise<Answer> => {
    const domain = await domainOf(deps, visit)
    const view = await oneDomainView(deps, visit, domain, faults)
    return page('domains/one', view, { title: domain.name })
  }
  pages.get('/domains/:name', 'domains.read', (visit) => show(visit, noFaults))

  const checking = { action: 'domains.write', again: show } as const
  pages.post('/domains/:name/check', checking, async (visit) => {
    const { account, base } = visit
    const { name, status } = await domainOf(deps, visit)
    refuseExcess(looking.take(account.id))
    const asked = { ...deps, settings: deps.records, resolver: deps.openResolver() }
    const { domain, records } = await verifyDomain(asked, account.id, name)
    const good = records.filter(({ state }) => state === 'ok').length
    const became = domain.status !== status ? `; ${name} is now ${stateOf(domain).text}` : ''
    const flash = `${good} of ${records.length} records are as they should be${became}`
    const audit = { action: 'domain.check', target: name, detail: { status: domain.status } }
    return redirect(`${base}/domains/${name}`, { flash, audit })
  })
  switchPages(pages, deps, show)
}

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
  const mayTest = visit.may('emails.send') && domain.status === 'verified'
  return {
    ...{ base, url: `${base}/domains/${domain.name}`, accountId: account.id, faults },
    ...{ id: domain.id, name: domain.name },
    mayWrite: visit.may('domains.write'),
    state: stateOf(domain),
    looked: at === null ? undefined : moment(at, now),
    records: records.map((record) => recordView(domain, record)),
    zone: zoneFile(records),
    policy: policyOf(dmarc?.seen, settings.reportsTo),
    tracking: trackingView(domain, await domainSwitches(read, domain.id)),
    testUrl: mayTest ? `${base}/emails/new?${test}` : undefined,
  }
}
