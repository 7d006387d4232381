import { readdirSync, readFileSync } from 'node:fs'
import type { Test } from 'tap'
import { createAccount } from '../../../src/accounts/index.js'
import { systemClock } from '../../../src/clock/index.js'
import { loadConfig, makeApplianceKey } from '../../../src/config/index.js'
import {
  type Claimed,
  claim,
  makeClaimFrom,
  type Settlement,
  settle,
} from '../../../src/deliveries/index.js'
import { addDomain } from '../../../src/domains/index.js'
import { acceptBatch, type EmailDeps } from '../../../src/emails/index.js'
import { makeLandEvents } from '../../../src/events/index.js'
import { makeProtection } from '../../../src/protection/index.js'
import type { Store } from '../../../src/store/index.js'
import { attachmentRules } from '../../support/attachment-rules.js'
import { openCampaigns, plans } from '../../support/campaigns.js'
import { rsaPair } from '../../support/template.js'
import { benchContent } from '../content.js'

const thread = 0
const { protection, outbound } = loadConfig({ env: {} })
const land = makeLandEvents([makeProtection(protection)])

/** The product's own functions over a store: mails of 10 KB from one account to `lanes` domains. */
export async function openMailRig(t: Test, store: Store, { lanes }: { lanes: number }) {
  const clock = systemClock
  const { id } = await createAccount({ store, clock }, 'City')
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  const rsa = { trust: true, rsaPair: await rsaPair() }
  await addDomain({ store, clock, key }, id, 'sender.test', rsa)
  const rig = await openCampaigns(t, { store, clock, accountId: id })
  const deps: EmailDeps = {
    ...rig,
    clock,
    plans,
    attachments: attachmentRules,
    defaultCountry: 'NG',
    retry: outbound.retry,
    maxQueued: outbound.maxQueued,
    surges: { minimum: 0, times: 10 },
    ring: () => {},
  }
  const { accountId } = rig
  const { html, text } = benchContent()
  const from = 'News <news@sender.test>'
  const streams = Array.from({ length: lanes }, (_, of) => ({
    lane: `d${of}.test`,
    class: 0 as const,
    accountId,
    limit: 5,
  }))
  const claimFrom = makeClaimFrom<object>()
  return {
    async accept(mails: number) {
      const batch = (of: number) =>
        Array.from({ length: 100 }, (_, i) => {
          const to = `r${of}-${i}@d${i % lanes}.test`
          return { from, to, subject: `Mail ${i}`, html: `${html}${of}-${i}`, text }
        })
      await fourAtOnce(mails / 100, (of) => acceptBatch(deps, accountId, { items: batch(of) }))
    },
    /** Up to `most` mails, five of each domain at a time. */
    async claimAll(most = Number.POSITIVE_INFINITY): Promise<Claimed[]> {
      const taken: Claimed[] = []
      while (taken.length < most) {
        const now = systemClock.now()
        const wants = streams.map((one) => ({ ...one, from: claimFrom.of(one, now) }))
        const claims = await store.byRow((tx) => claim(tx, wants, { now, node: 1, lease: thread }))
        for (const [i, one] of streams.entries()) {
          const found = claims[i]
          if (found) claimFrom.keep(one, wants[i]?.from, found, now)
        }
        const some = claims.flatMap((one) => one.taken)
        if (some.length === 0) break
        taken.push(...some)
      }
      return taken
    },
    async settleAll(all: readonly Claimed[]) {
      const now = systemClock.now()
      await fourAtOnce(Math.ceil(all.length / 64), (of) =>
        store.byRow((tx) =>
          settle(tx, all.slice(64 * of, 64 * (of + 1)).map(delivered), {
            lease: thread,
            now,
            land,
          }),
        ),
      )
    },
  }
}

function delivered(claimed: Claimed): Settlement {
  return {
    ...claimed,
    kind: 'delivered',
    startedAt: systemClock.now(),
    attempts: 1,
    reply: '250 2.0.0 Ok: queued as 4D1F2',
    remote: 'mx.one.test [192.0.2.1]',
    tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
    transcript: 'C: EHLO\n'.repeat(20),
  }
}

async function fourAtOnce(count: number, work: (of: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const run = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all([run(), run(), run(), run()])
}

/** Milliseconds of a processor that the server's processes have taken so far, those that ended as well. */
export function serverMs(postmaster: number | undefined): number {
  if (postmaster === undefined) return 0
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      const [user = 0, system = 0, ...ended] = fields.slice(11, 15).map(Number)
      if (Number(name) === postmaster) ticks += user + system + ended.reduce((a, b) => a + b, 0)
      else if (Number(fields[1]) === postmaster) ticks += user + system
    } catch {
      // It has ended meanwhile.
    }
  }
  return ticks * 10
}
