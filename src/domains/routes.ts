import type { Principal } from '../accounts/index.js'
import type { Plans } from '../billing/index.js'
import { nextTurn, type SharedCounts } from '../bounded/index.js'
import type { ApplianceKey } from '../config/index.js'
import { serve } from '../contract/index.js'
import type { Resolver } from '../dns/index.js'
import { type Api, makeRateLimiter, refuseExcess, reply } from '../http/index.js'
import type { Read } from '../store/index.js'
import { deletedDomain, type SetByDomain, shownCheck, shownDomain, toPublish } from './answers.js'
import * as operations from './contract.js'
import { deleteDomain } from './delete.js'
import { addDomain, type Domain, type DomainDeps, domainById, listDomains } from './domain.js'
import { setReceivingHost } from './receiving-host.js'
import type { RecordSettings } from './records.js'
import { rotateDomain } from './rotate.js'
import { flagOf } from './switch.js'
import { setTrackingHost } from './tracking-host.js'
import { verifyDomain } from './verify.js'

/** What the routes need. Automations and tracking are passed as functions, as both stand above this folder. */
export interface DomainRouteDeps extends DomainDeps {
  plans: Plans
  key: ApplianceKey
  settings: RecordSettings
  /** A new resolver for each look, which remembers no answer of a moment ago. */
  openResolver: () => Resolver
  /** The automations that send from a domain. */
  automationsFrom: (accountId: string, name: string) => Promise<{ id: string; name: string }[]>
  /** What `tracking` knows of a domain. */
  switchesOf: (read: Read, domainId: string) => Promise<SetByDomain>
  setSwitches: (domainId: string, changes: Partial<SetByDomain>) => Promise<void>
  /** What other nodes count too; undefined where there are no other nodes. */
  counts?: Pick<SharedCounts, 'of'> | undefined
}

// How many domains are looked up before others have their turn.
const perTurn = 50
// A verification asks the DNS some ten questions.
const looks = { requests: 10, windowMs: 60_000 }

/** Sending domains by the API: the records to publish, and the look for them. */
export function domainRoutes(api: Api<Principal>, deps: DomainRouteDeps): void {
  const { store, settings } = deps
  const { read } = store
  const looking = makeRateLimiter(looks, deps.clock, { together: deps.counts?.of('domain looks') })
  const shown = async (domain: Domain) =>
    shownDomain(domain, await deps.switchesOf(read, domain.id))
  const detail = async (domain: Domain) => ({
    ...(await shown(domain)),
    ...toPublish(domain, settings, deps.clock.now()),
  })

  serve(api, operations.listDomains, async ({ account }) => {
    const domains: Awaited<ReturnType<typeof shown>>[] = []
    for (const domain of await listDomains(read, account.accountId)) {
      domains.push(await shown(domain))
      // There may be thousands, and others wait for this thread.
      if (domains.length % perTurn === 0) await nextTurn()
    }
    return { domains }
  })

  serve(api, operations.addDomain, async ({ account, body, remember }) => {
    const answer = (domain: Domain) => ({
      ...shownDomain(domain),
      ...toPublish(domain, settings, deps.clock.now()),
    })
    const added = await addDomain(deps, account.accountId, body.name, {
      plans: deps.plans,
      alongside: (tx, domain) => remember(tx, answer(domain), 201),
    })
    return reply(201, answer(added))
  })

  serve(api, operations.getDomain, async ({ account, params }) =>
    detail(await domainById(read, account.accountId, params.id)),
  )

  serve(api, operations.updateDomain, async (request) => {
    const { accountId } = request.account
    const { trackOpens, trackClicks, trackingHost: host, receivingHost } = request.body
    const { id, name } = await domainById(read, accountId, request.params.id)
    if (host !== undefined) await setTrackingHost(deps, accountId, name, host || null)
    if (receivingHost !== undefined) {
      await setReceivingHost(deps, accountId, name, receivingHost || null)
    }
    await deps.setSwitches(id, {
      ...(trackOpens !== undefined && { opens: flagOf(trackOpens) }),
      ...(trackClicks !== undefined && { clicks: flagOf(trackClicks) }),
    })
    return await detail(await domainById(read, accountId, id))
  })

  serve(api, operations.verifyDomain, async ({ account: { accountId }, params }) => {
    const { name } = await domainById(read, accountId, params.id)
    refuseExcess(looking.take(accountId))
    const resolver = deps.openResolver()
    const { domain, records } = await verifyDomain({ ...deps, resolver }, accountId, name)
    return { ...(await shown(domain)), records: records.map(shownCheck) }
  })

  serve(
    api,
    operations.rotateDomain,
    async ({ account: { accountId }, params, body, remember }) => {
      const { id, name } = await domainById(read, accountId, params.id)
      const switches = await deps.switchesOf(read, id)
      const answer = (domain: Domain) => ({
        ...shownDomain(domain, switches),
        ...toPublish(domain, settings, deps.clock.now()),
      })
      const rotated = await rotateDomain(deps, accountId, name, {
        atOnce: body.atOnce === true,
        alongside: (tx, domain) => remember(tx, answer(domain)),
      })
      return answer(rotated)
    },
  )

  serve(api, operations.deleteDomain, async ({ account: { accountId }, params: { id }, note }) => {
    const { name } = await domainById(read, accountId, id)
    await deleteDomain(deps, accountId, name)
    note({ target: name })
    return deletedDomain(id, await deps.automationsFrom(accountId, name))
  })
}
