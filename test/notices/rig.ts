import type { Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { addDomain } from '../../src/domains/index.js'
import { insertNotice } from '../../src/emails/index.js'
import { silentLog } from '../../src/log/index.js'
import { notice, type Raised, settled, type TellDeps } from '../../src/notices/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

export const minuteMs = 60_000
export const hourMs = 3_600_000

/** An appliance's notebook and queue, with mail that goes to ops@example.org. */
export async function openRig(
  t: Test,
  own: Partial<TellDeps['settings']> & { start?: string; dataDir?: string } = {},
) {
  const { start = '2026-11-21T12:00:00Z', dataDir, ...settings } = own
  const clock = new FakeClock(Date.parse(start))
  const store = await openTestStore(t, { clock, ...(dataDir === undefined ? {} : { dataDir }) })
  const { id: accountId } = await createAccount({ store, clock }, 'Library')
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  await addDomain({ store, clock, key }, accountId, 'sender.test', { trust: true })
  const wait = { schedule: [minuteMs], maxAge: 5 * 24 * hourMs }
  const retry = { transactional: wait, automation: wait, campaign: wait }
  const deps: TellDeps = {
    store,
    clock,
    log: silentLog,
    host: 'mail.example.net',
    settings: {
      silence: [],
      againAfterMs: 6 * hourMs,
      burningPerDay: 6,
      zone: 'UTC',
      ...settings,
    },
    post: async (tx, mail) => {
      const to = { from: '', to: 'ops@example.org', now: clock.now() }
      return (await insertNotice({ store, retry }, tx, { ...mail, ...to }))?.id
    },
  }
  const usual = { kind: 'disk', key: 'data', severity: 'burning', fix: 'df -h' } as const
  return {
    deps,
    clock,
    store,
    accountId,
    key,
    raise: (raised: Partial<Raised> = {}) =>
      store.write((tx) =>
        notice(tx, { ...usual, text: 'The disk fills', ...raised, now: clock.now() }),
      ),
    settle: (kind: Raised['kind'] = 'disk', about = 'data') =>
      store.write((tx) => settled(tx, { kind, key: about, now: clock.now() })),
    /** What stands in the queue, the oldest first. */
    mails: () =>
      store.read
        .selectFrom('emails')
        .innerJoin('bodies', 'bodies.id', 'emails.body_id')
        .innerJoin('queue', 'queue.email_id', 'emails.id')
        .select(['emails.id', 'subject', 'text', 'html', 'recipient', 'created_at', 'extras'])
        .orderBy('queue.id')
        .execute(),
  }
}
