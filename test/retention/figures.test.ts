import t from 'tap'
import { findPast } from '../../src/deliveries/index.js'
import { questionOf, readStats } from '../../src/stats/index.js'
import { day, type MailLog, openMailLog } from '../support/mail-log.js'
import { thoroughly } from '../support/thorough.js'

/** mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let x = Math.imul(state ^ (state >>> 15), 1 | state)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32
  }
}

const seed = Number(process.env.RETENTION_SEED ?? 17)
const histories = Number(process.env.RETENTION_HISTORIES ?? thoroughly(1, 6))

for (let n = 0; n < histories; n++) {
  t.test(
    `figures, rates and counters are the same before and after: history ${seed + n}`,
    async (t) => {
      const random = randomOf(seed + n)
      const log = await openMailLog(t, { plan: random() < 0.5 ? 'Free' : 'Starter' })
      const { clock, campaigns } = log
      await campaigns.addMany(12)
      const began = clock.now()
      for (let step = 0; step < 25; step++) {
        await happen(log, random, step)
        await clock.advance(Math.floor(random() * 3 * day))
        if (random() < 0.3) await log.rollUp()
        const before = await allFigures(log, began)
        const result = await log.run()
        t.same(await allFigures(log, began), before, `${result.summary}`)
      }
      for (let days = 0; days < 40; days += 4) {
        await clock.advance(4 * day)
        const before = await allFigures(log, began)
        await log.run()
        t.same(await allFigures(log, began), before)
      }
      const waiting = new Set(
        (await log.store.read.selectFrom('queue').select('email_id').execute()).map(
          (row) => row.email_id,
        ),
      )
      const left = await log.mails()
      t.ok(left.length <= waiting.size + 1, 'all is gone but what waits and the newest')
      for (const id of waiting) t.ok(left.includes(id))
    },
  )
}

/** One of the things that happen. */
async function happen(log: MailLog, random: () => number, step: number): Promise<void> {
  const { clock, store, land, campaigns } = log
  const kinds = ['delivered', 'delivered', 'bounced', 'failed', 'deferred', 'relayed'] as const
  const kindOf = () => kinds[Math.floor(random() * kinds.length)] ?? 'delivered'
  if (random() < 0.2) {
    await campaigns.create({ subject: `Campaign ${step}` })
    await campaigns.expand()
  }
  await log.accept(
    Array.from({ length: 1 + Math.floor(random() * 8) }, (_, i) => ({
      html: `body ${Math.floor(random() * 3)}`,
      to: [`r${Math.floor(random() * 20)}@d${i % 3}.test`],
      tags: random() < 0.5 ? [{ name: 'kind', value: `${i % 2}` }] : [],
      ...(random() < 0.1 ? { scheduledAt: clock.now() + Math.floor(random() * 30 * day) } : {}),
    })),
  )
  const settled = await log.deliver(kindOf)
  for (const { id, emailId, recipient, accountId, class: of } of settled) {
    if (random() > 0.4) continue
    const event = { accountId, emailId, deliveryId: id, recipient, class: of, reply: null }
    const at = clock.now()
    const past = await store.write((tx) => findPast(tx, id))
    await store.write(async (tx) => {
      if (random() < 0.5 && past?.status === 'delivered') {
        const detail = { first: true as const }
        await tx
          .updateTable('emails')
          .set({ opened_at: at, opens: 1 })
          .where('id', '=', emailId)
          .execute()
        await land(tx, [{ ...event, type: 'opened', at, detail }])
      } else {
        const detail = { feedbackType: 'abuse', evidence: 'dkim' }
        await land(tx, [{ ...event, type: 'complained', at, detail }])
      }
    })
  }
}

/** All that is told of the past when the mails themselves are gone. */
async function allFigures({ store, accountId, clock }: MailLog, from: number) {
  const { read } = store
  const iso = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const stats = []
  for (const groupBy of ['day', 'domain', 'type', 'tag', 'provider', 'broadcast']) {
    const input = { from: iso(from), to: iso(clock.now()), groupBy, limit: 100 }
    stats.push(await readStats(read, accountId, questionOf(input, clock.now())))
  }
  return {
    stats,
    campaigns: await read.selectFrom('broadcasts').selectAll().orderBy('id').execute(),
    usage: await read.selectFrom('usage').selectAll().execute(),
    protection: await read.selectFrom('protection').selectAll().execute(),
    providers: await read.selectFrom('protection_providers').selectAll().execute(),
    suppressions: await read.selectFrom('suppressions').selectAll().execute(),
  }
}
