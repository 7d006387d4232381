import { spawnSync } from 'node:child_process'
import { applianceKeyFile } from '../../src/app/index.js'
import { findPlan, loadPlans, setMarketingPlan, setPlan } from '../../src/billing/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { loadConfig, openApplianceKey, packageFile } from '../../src/config/index.js'
import { joinBacklog, makeBacklogMemory } from '../../src/deliveries/index.js'
import { addDomain, findSenderDomain } from '../../src/domains/index.js'
import { acceptBatch } from '../../src/emails/accept.js'
import { maxBatch } from '../../src/emails/send-body.js'
import { silentLog } from '../../src/log/index.js'
import { makeTurns, openStore, type Store } from '../../src/store/index.js'
import { attachmentRules } from '../support/attachment-rules.js'
import { benchContent } from './content.js'

export interface Filling {
  deliveries: number
  /** `d0.test` and so on, in turn. */
  domains: number
  /** 2: a campaign's. */
  class: 0 | 2
  /** The account of which it is; default: the only one. */
  accountId?: string
  /** The mails' subject and the recipients' local parts begin with it. */
  name?: string
  /** Of one mail; many make the filling quicker. Default: 1. */
  recipients?: number
}

/**
 * Takes mails in as the API does, without HTTP between, into an initialised data directory that no
 * appliance works on. The account gets what it needs for that. Returns how many seconds it took.
 */
export async function fillQueue(dataDir: string, filling: Filling): Promise<number> {
  const { deliveries, domains, name = 'queued', recipients = 1 } = filling
  const began = performance.now()
  // The last write slot: no thread of an appliance has it.
  const store = await openStore({ dataDir, clock, turns: makeTurns(), slot: 15 })
  const accountId = filling.accountId ?? (await onlyAccount(store))
  await letSend(store, dataDir, accountId)
  const { outbound, contacts } = loadConfig({ env: {} })
  const deps = {
    store,
    clock,
    log: silentLog,
    plans: loadPlans(packageFile('config/plans.toml')),
    attachments: attachmentRules,
    defaultCountry: contacts.defaultCountry,
    renderer: {
      render: async () => ({ kind: 'unavailable' as const, cause: 'not here' }),
      close: async () => {},
    },
    backlog: joinBacklog(makeBacklogMemory()),
    maxQueued: Number.POSITIVE_INFINITY,
    surges: { minimum: 0, times: 10 },
    ring: () => {},
    retry: outbound.retry,
  }
  const type = filling.class === 0 ? ('transactional' as const) : ('marketing' as const)
  const { html, text } = benchContent()
  const mail = { from: 'Bench <bench@example.test>', subject: name, type, html, text }
  for (let i = 0; i < deliveries; ) {
    const mails = []
    while (mails.length < maxBatch && i < deliveries) {
      const to: string[] = []
      for (; to.length < recipients && i < deliveries; i++)
        to.push(`${name}${i}@d${i % domains}.test`)
      mails.push({ ...mail, to })
    }
    await acceptBatch(deps, accountId, { items: mails })
  }
  await store.close()
  // The kernel would otherwise write gigabytes while the appliance waits for its own syncs.
  spawnSync('sync')
  return Math.round((performance.now() - began) / 1_000)
}

async function onlyAccount(store: Store): Promise<string> {
  const account = store.read.selectFrom('accounts').select('id').limit(1)
  return (await account.executeTakeFirstOrThrow()).id
}

/** Plans without limits, and the domain example.test. */
async function letSend(store: Store, dataDir: string, accountId: string): Promise<void> {
  const plans = loadPlans(packageFile('config/plans.toml'))
  await store.write(async (tx) => {
    await setPlan(tx, accountId, findPlan(plans.email, 'Unlimited'))
    await setMarketingPlan(tx, accountId, findPlan(plans.marketing, 'Marketing Pro'))
  })
  if ((await findSenderDomain(store.read, accountId, 'example.test')) !== undefined) return
  const key = openApplianceKey(applianceKeyFile(dataDir))
  await addDomain({ store, clock, key }, accountId, 'example.test', { trust: true })
}
