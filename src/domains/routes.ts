import { enums, optional, type } from 'superstruct'
import type { Principal } from '../accounts/index.js'
import type { Plans } from '../billing/index.js'
import { nextTurn } from '../bounded/index.js'
import { isoTime } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import type { Resolver } from '../dns/index.js'
import { atLeastOne, described, rule, Uuid } from '../fields/index.js'
import { type Api, makeRateLimiter, refuseExcess, reply } from '../http/index.js'
import type { Read } from '../store/index.js'
import { deleteDomain } from './delete.js'
import { addDomain, type Domain, type DomainDeps, domainById, listDomains } from './domain.js'
import {
  type DnsRecord,
  domainRecords,
  type RecordCheck,
  type RecordSettings,
  zoneFile,
} from './records.js'
import { setTrackingHost } from './tracking-host.js'
import { verifyDomain } from './verify.js'

/** As a domain has them set; null: whatever stands above it says. */
interface OwnSwitches {
  opens: boolean | null
  clicks: boolean | null
}

/**
 * What the routes need. Automations and tracking are handed over as functions: both stand above
 * this folder.
 */
export interface DomainRouteDeps extends DomainDeps {
  plans: Plans
  key: ApplianceKey
  settings: RecordSettings
  /** A new one for each look, which remembers no answer of a moment ago. */
  openResolver: () => Resolver
  /** The automations that send from a domain. */
  automationsFrom: (accountId: string, name: string) => Promise<{ id: string; name: string }[]>
  /** What `tracking` knows of a domain. */
  switchesOf: (read: Read, domainId: string) => Promise<OwnSwitches>
  setSwitches: (domainId: string, changes: Partial<OwnSwitches>) => Promise<void>
}

// Domains that are looked up before others have their turn.
const perTurn = 50
// A verification asks the DNS some ten questions.
const looks = { requests: 10, windowMs: 60_000 }

const DomainParams = {
  params: type({ id: Uuid }),
  notFound: 'The account has no sending domain with this id',
}
const Text = rule<string>('a string', (value) => typeof value === 'string')
const DomainBody = type({ name: Text })
const Choice = described(enums(['on', 'off', 'default']), 'on, off or default')
const ChangesBody = atLeastOne(
  type({
    trackOpens: optional(Choice),
    trackClicks: optional(Choice),
    trackingHost: optional(Text),
  }),
)

/** Sending domains by the API: the records to publish, and the look for them. */
export function domainRoutes(api: Api<Principal>, deps: DomainRouteDeps): void {
  const { store, settings } = deps
  const { read } = store
  const looking = makeRateLimiter(looks, deps.clock)
  const shown = async (domain: Domain) =>
    shownDomain(domain, await deps.switchesOf(read, domain.id))
  const detail = async (domain: Domain) => ({ ...(await shown(domain)), ...toPublish(domain) })
  const toPublish = (domain: Domain) => {
    const records = domainRecords(domain, settings)
    return { records: records.map(shownRecord), zone: zoneFile(records) }
  }

  api.get('/v1/domains', {}, async ({ account }) => {
    const domains: Awaited<ReturnType<typeof shown>>[] = []
    for (const domain of await listDomains(read, account.accountId)) {
      domains.push(await shown(domain))
      // There may be thousands, and others wait for this thread.
      if (domains.length % perTurn === 0) await nextTurn()
    }
    return { domains }
  })

  api.post('/v1/domains', { body: DomainBody }, async ({ account, body, remember }) => {
    const answer = (domain: Domain) => ({ ...shownDomain(domain, asAbove), ...toPublish(domain) })
    const added = await addDomain(deps, account.accountId, body.name, {
      plans: deps.plans,
      alongside: (tx, domain) => remember(tx, answer(domain), 201),
    })
    return reply(201, answer(added))
  })

  api.get('/v1/domains/:id', DomainParams, async ({ account, params }) =>
    detail(await domainById(read, account.accountId, params.id)),
  )

  api.patch('/v1/domains/:id', { ...DomainParams, body: ChangesBody }, async (request) => {
    const { accountId } = request.account
    const { trackOpens, trackClicks, trackingHost: host } = request.body
    const { id, name } = await domainById(read, accountId, request.params.id)
    if (host !== undefined) await setTrackingHost(deps, accountId, name, host || null)
    await deps.setSwitches(id, {
      ...(trackOpens !== undefined && { opens: flags[trackOpens] }),
      ...(trackClicks !== undefined && { clicks: flags[trackClicks] }),
    })
    return await detail(await domainById(read, accountId, id))
  })

  api.post('/v1/domains/:id/verify', DomainParams, async ({ account: { accountId }, params }) => {
    const { name } = await domainById(read, accountId, params.id)
    refuseExcess(looking.take(accountId))
    const resolver = deps.openResolver()
    const { domain, records } = await verifyDomain({ ...deps, resolver }, accountId, name)
    return { ...(await shown(domain)), records: records.map(shownCheck) }
  })

  api.delete(
    '/v1/domains/:id',
    DomainParams,
    async ({ account: { accountId }, params: { id } }) => {
      const { name } = await domainById(read, accountId, id)
      await deleteDomain(deps, accountId, name)
      const automations = await deps.automationsFrom(accountId, name)
      const deleted = 'Domain and its keys deleted'
      const message = automations.length === 0 ? deleted : `${deleted}; ${runsWait}`
      return { id, deleted: true, message, automations }
    },
  )
}

const runsWait = 'runs of automations that send from it wait until it is added and verified again'
/** A new domain has set nothing itself. */
const asAbove: OwnSwitches = { opens: null, clicks: null }
const flags = { on: true, off: false, default: null } as const
/** A switch as the API has it. */
const choiceOf = (flag: boolean | null) => (flag === null ? 'default' : flag ? 'on' : 'off')

/** A domain as the API shows it. */
const shownDomain = (domain: Domain, own: OwnSwitches) => ({
  id: domain.id,
  name: domain.name,
  status: domain.status,
  trusted: domain.trusted,
  returnPath: domain.returnPath,
  dkim: domain.keys.map(({ selector, algorithm, verified }) => ({ selector, algorithm, verified })),
  trackOpens: choiceOf(own.opens),
  trackClicks: choiceOf(own.clicks),
  trackingHost: domain.trackingHost,
  trackingHostReady: domain.trackingHostReady,
  createdAt: isoTime(domain.createdAt),
  verifiedAt: isoTime(domain.verifiedAt),
  checkedAt: isoTime(domain.checkedAt),
})

/** A record as the API shows it. */
const shownRecord = ({ purpose, type, host, value, required }: DnsRecord) => ({
  purpose,
  type,
  name: host,
  value,
  required,
})

/** A record with what was found. */
const shownCheck = ({ state, found, advice, ...record }: RecordCheck) => ({
  ...shownRecord(record),
  state,
  found,
  advice,
})
