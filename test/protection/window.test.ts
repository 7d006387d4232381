// The sliding counts against a model that keeps every event and adds all of them up each time.
import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { loadConfig } from '../../src/config/index.js'
import { type MailEvent, makeLandEvents } from '../../src/events/index.js'
import {
  type AuditAction,
  alarmOf,
  makeProtection,
  readAudit,
  readStanding,
  type Totals,
  unpause,
} from '../../src/protection/index.js'
import { seeded } from '../shaping/seeded.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

const hourMs = 3_600_000
const { protection: settings } = loadConfig({ env: {} })
const reasons = ['bounce', 'complaint'] as const
const ends = ['delivered', 'relayed', 'bounced']

/** What README.md says, in the plainest way. */
function makeModel() {
  let counted: { hour: number; adds: Partial<Totals> }[] = []
  const told = new Set<string>()
  const actions: string[] = []
  let paused = false
  let marketingPaused = false
  let warnedAt: Record<string, number> = {}
  const seenAt = new Map<string, number>()
  /** An address, and what it did: once in the window. */
  const firstOf = (fact: string, hour: number) => {
    if ((seenAt.get(fact) ?? Number.NEGATIVE_INFINITY) > hour - 7 * 24) return false
    seenAt.set(fact, hour)
    return true
  }
  const first = (fact: string) => !told.has(fact) && told.add(fact) !== undefined

  const totals = (now: number): Totals => {
    const sum = (counter: keyof Totals) =>
      counted
        .filter(({ hour }) => hour > Math.floor(now / hourMs) - 7 * 24)
        .reduce((total, { adds }) => total + (adds[counter] ?? 0), 0)
    return {
      recipients: sum('recipients'),
      bounces: sum('bounces'),
      complaints: sum('complaints'),
      marketing_recipients: sum('marketing_recipients'),
      marketing_bounces: sum('marketing_bounces'),
      marketing_complaints: sum('marketing_complaints'),
      unproved: 0,
    }
  }
  const count = ({ type, deliveryId, detail, at, ...event }: MailEvent) => {
    const isEnd = ends.includes(type)
    const recipients = isEnd && first(`end of ${deliveryId}`) ? 1 : 0
    const isHard = type === 'bounced' && detail?.bounceType === 'Permanent'
    const hour = Math.floor(at / hourMs)
    const bounces = isHard && firstOf(`bounce of ${event.recipient}`, hour) ? 1 : 0
    const complaints =
      type === 'complained' && firstOf(`complaint of ${event.recipient}`, hour) ? 1 : 0
    if (recipients + bounces + complaints === 0) return false
    const adds: Partial<Totals> = { recipients, bounces, complaints }
    if (event.class > 0) {
      adds.marketing_recipients = recipients
      adds.marketing_bounces = bounces
      adds.marketing_complaints = complaints
    }
    counted.push({ hour: Math.floor(at / hourMs), adds })
    return true
  }
  const act = (reason: (typeof reasons)[number], at: number): AuditAction | undefined => {
    const alarm = alarmOf(totals(at), reason, settings)
    if (paused || alarm === undefined) return undefined
    if (alarm === 'pause') {
      paused = true
      return 'paused'
    }
    const isNews = at - (warnedAt[reason] ?? Number.NEGATIVE_INFINITY) >= settings.window
    const pauses = alarm === 'pause marketing' && !marketingPaused
    if (!isNews && !pauses) return undefined
    warnedAt[reason] = at
    marketingPaused ||= pauses
    return pauses ? 'marketing_paused' : 'warned'
  }
  return {
    totals,
    actions,
    isPaused: () => paused || marketingPaused,
    land(event: MailEvent) {
      if (!count(event)) return
      for (const reason of reasons) {
        const action = act(reason, event.at)
        if (action !== undefined) actions.push(`${action} ${reason}`)
      }
    },
    clear() {
      counted = []
      seenAt.clear()
      warnedAt = {}
      paused = false
      marketingPaused = false
    },
  }
}

t.test('weeks of mail are counted as if each event were looked at again', async (t) => {
  const seen = new Set<string>()
  for (const seed of [1, 2, 3]) {
    const random = seeded(seed)
    const below = (limit: number) => Math.floor(random() * limit)
    const clock = new FakeClock()
    const store = await openTestStore(t, { clock })
    const { id: accountId } = await createAccount({ store, clock }, 'Library')
    const land = makeLandEvents([makeProtection(settings)])
    const model = makeModel()
    let deliveries = 0
    const ended = new Set<number | null>()
    let badness = 0
    const someEvent = (): MailEvent => {
      const isLate = random() < 0.1 && deliveries > 0
      const deliveryId = isLate ? deliveries - below(Math.min(200, deliveries)) : ++deliveries
      const isBad = random() < badness
      const complains = isLate && random() < 0.1
      const type = complains ? 'complained' : isBad || isLate ? 'bounced' : 'delivered'
      const bounceType = random() < 0.1 ? 'Transient' : 'Permanent'
      return {
        accountId,
        emailId: `email-${deliveryId}`,
        deliveryId,
        reply: null,
        type,
        // Some have several mails.
        class: deliveryId % 2 === 0 ? 2 : 0,
        at: clock.now(),
        recipient: `a${deliveryId % 3 === 0 ? deliveryId % 50 : deliveryId}@one.test`,
        detail: type === 'bounced' ? { bounceType } : complains ? { evidence: 'a loop' } : null,
      }
    }
    for (let step = 0; step < 80; step++) {
      if (step % 20 === 0) badness = [0, 0.02, 0.05, 0.1][below(4)] ?? 0
      await clock.advance(random() < 0.5 ? below(20 * 60_000) : below(20 * hourMs))
      // No delivery twice in a transaction: each report is one of its own.
      const batch = Array.from({ length: 1 + below(40) }, someEvent)
      const distinct = [...new Map(batch.map((event) => [event.deliveryId, event])).values()].map(
        (event): MailEvent => {
          if (!ends.includes(event.type)) return event
          const isAgain = ended.has(event.deliveryId)
          ended.add(event.deliveryId)
          return isAgain ? { ...event, before: 'delivered' } : event
        },
      )
      await store.write((tx) => land(tx, distinct))
      for (const event of distinct) model.land(event)
      const now = clock.now()
      const standing = await readStanding(store.read, accountId, { now, settings })
      t.same(standing.totals, model.totals(now), `seed ${seed}, step ${step}`)
      if (!model.isPaused() || random() < 0.7) continue
      await store.write((tx) => unpause(tx, { accountId, who: 'ada', note: null, now, settings }))
      model.clear()
    }
    const audit = (await readAudit(store.read, { accountId, limit: 1_000 })).reverse()
    const actions = audit
      .filter(({ action }) => action !== 'cleared')
      .map(({ action, reason }) => `${action} ${reason}`)
    t.same(actions, model.actions, `seed ${seed}`)
    for (const { action } of audit) seen.add(action)
  }
  t.same(
    [...seen].sort(),
    ['cleared', 'marketing_paused', 'paused', 'warned'],
    'all of it occurred',
  )
})
