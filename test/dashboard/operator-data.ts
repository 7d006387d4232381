import { pauseMarketing } from '../../src/billing/index.js'
import { dayMs } from '../../src/clock/index.js'
import { parkReport } from '../../src/inbound/parked.js'
import { queueClass, type Tx } from '../../src/store/index.js'
import { suppress } from '../../src/suppression/index.js'
import type { Posthorn } from '../support/posthorn.js'

/** What customers, strangers and their servers may write. */
export const hostile = '<script>alert(1)</script><img src=x onerror=alert(2)>\'"'

/** A waiting delivery, due in a year, so that nothing tries it; returns its number. */
export async function addWaiting(
  { store, accountId }: Pick<Posthorn, 'store' | 'accountId'>,
  more: { lane?: string; held?: string; attempts?: number; reply?: string; class?: 0 | 1 | 2 } = {},
): Promise<number> {
  const { lane = 'slow.test', held, attempts = 1, reply = null } = more
  const now = Date.now()
  const id = store.ids.serial()
  const dueAt = now + 365 * dayMs
  await store.write((tx) =>
    tx
      .insertInto('queue')
      .values({
        id,
        email_id: store.ids.uuid(),
        account_id: accountId,
        lane,
        attempts,
        lease: null,
        recipient: `someone@${lane}`,
        class: more.class ?? queueClass.transactional,
        due_at: held === undefined ? dueAt : Date.UTC(9999, 0, 1),
        expires_at: dueAt,
        last_attempt_at: now,
        last_reply: reply,
        last_transcript: reply,
        ...(held !== undefined && { held_at: now, held_reason: held, held_due_at: dueAt }),
      })
      .execute(),
  )
  return id
}

/** Something on every page of the operator, hostile wherever others write. */
export async function fillForOperator(posthorn: Posthorn) {
  const { store } = posthorn
  const { accountId } = await posthorn.addAccount(hostile)
  const now = Date.now()
  const deliveryId = await addWaiting({ store, accountId }, { reply: `450 4.2.1 ${hostile}` })
  await addWaiting({ store, accountId }, { held: hostile, class: queueClass.campaign })
  const mailId = store.ids.serial()
  const reportId = store.ids.serial()
  await store.write(async (tx) => {
    await pauseMarketing(tx, accountId, 'complaint')
    await suppress(
      tx,
      accountId,
      { email: 'angry@x.test', reason: 'complaint', detail: hostile },
      now,
    )
    await addRates(tx, accountId, now)
    const text = { recipient: hostile, mail_from: hostile, header_from: hostile, subject: hostile }
    const row = { ...text, id: mailId, received_at: now, remote_address: '192.0.2.1' }
    await tx
      .insertInto('operator_mails')
      .values({ ...row, size_bytes: 9, to_forward: 0 })
      .execute()
    const raw = Buffer.from(`Subject: x\r\nContent-Type: text/plain\r\n\r\n${hostile}`)
    await tx.insertInto('operator_mail_sources').values({ id: mailId, raw }).execute()
    const report = { id: reportId, received_at: now, recipients: hostile, raw, due_at: 0, tries: 0 }
    const from = { remote_address: '192.0.2.1', mail_from: '', helo: '' }
    await tx
      .insertInto('inbound_spool')
      .values({ ...report, ...from })
      .execute()
    await parkReport(tx, reportId, { fault: hostile, now })
    const brake = { began_at: now, since: now, until: now + dayMs, step_ms: dayMs, wait_ms: dayMs }
    await tx
      .insertInto('site_brakes')
      .values({
        site: hostile,
        source: 'bulk',
        percent: 10,
        waits: 0,
        per_minute: 100,
        cause: 'blocked',
        why: `40 of 50 attempts were refused ${hostile}`,
        ...brake,
      })
      .execute()
    await tx
      .insertInto('egress')
      .values({
        scope: 'slow.test',
        node: 1,
        orders: 'auto',
        way: 'failover',
        since: now,
        until: 0,
        passed: 0,
        why: hostile,
        cause: 'refused',
        relapses: 0,
      })
      .execute()
    await tx
      .insertInto('doctor_findings')
      .values({
        at: now,
        check: 'spf',
        subject: hostile,
        state: 'fail',
        found: hostile,
        fix: hostile,
      })
      .execute()
  })
  return { accountId, deliveryId, mailId, reportId }
}

/** Ten hours of mail of which a tenth bounced. */
async function addRates(tx: Tx, accountId: string, now: number): Promise<void> {
  const hour = Math.floor(now / 3_600_000)
  for (let ago = 0; ago < 10; ago++) {
    await tx
      .insertInto('protection_hours')
      .values({
        account_id: accountId,
        hour: hour - ago,
        recipients: 1_000,
        bounces: 100,
        complaints: 1,
        unproved: 2,
        marketing_recipients: 0,
        marketing_bounces: 0,
        marketing_complaints: 0,
      })
      .execute()
  }
  await tx
    .insertInto('protection_providers')
    .values({
      account_id: accountId,
      day: Math.floor(now / dayMs),
      provider: hostile,
      recipients: 10_000,
      bounces: 1_000,
      complaints: 10,
    })
    .execute()
}
