import { spawnSync } from 'node:child_process'
import Database from 'better-sqlite3'
import { databaseFile } from '../../src/store/dialect.js'

export interface Filling {
  deliveries: number
  /** `d0.test` and so on, in turn. */
  domains: number
  class: 0 | 1 | 2
  /** The account of which it is; default: the only one. */
  accountId?: string
  /** The mails' subject and the recipients' local parts begin with it. */
  name?: string
}

/**
 * Writes a campaign's mails straight into the queue of an initialised data directory, all of them due
 * and with one 10 KB body. Returns how many seconds it took.
 */
export function fillQueue(dataDir: string, filling: Filling): number {
  const { deliveries, domains, name = 'queued' } = filling
  const began = performance.now()
  const db = new Database(databaseFile(dataDir))
  db.pragma('synchronous = off')
  const account =
    filling.accountId ?? (db.prepare('select id from accounts limit 1').pluck().get() as string)
  const domain = db.prepare('select id from domains limit 1').pluck().get() as string
  const html = `<p>${'word '.repeat(1_020)}</p>`
  const text = 'word '.repeat(1_020)
  const body = db
    .prepare('insert into bodies (html, text) values (?, ?)')
    .run(html, text).lastInsertRowid
  const type = filling.class === 0 ? 'transactional' : 'marketing'
  const email = db.prepare(
    `insert into emails (id, account_id, domain_id, body_id, from_header, to_list, subject, type, status,
      message_id, provider, waiting, delivered, bounced, failed, created_at)
     values (?, ?, ?, ?, 'Bench <bench@example.test>', ?, ?, ?, 'queued', ?, 'primary', 1, 0, 0, 0, ?)`,
  )
  const queue = db.prepare(
    `insert into queue (id, email_id, account_id, recipient, lane, class, due_at, attempts, expires_at)
     values (?, ?, ?, ?, ?, ?, ?, 0, ?)`,
  )
  const now = Date.now()
  const first = Number(db.prepare('select coalesce(max(id), 0) from queue').pluck().get()) + 1
  const some = db.transaction((from: number, to: number) => {
    for (let i = from; i < to; i++) {
      const number = (first + i).toString(16).padStart(12, '0')
      const id = `01900000-0000-7000-8000-${number}`
      const lane = `d${i % domains}.test`
      const to = `${name}${i}@${lane}`
      const messageId = `<${id}@example.test>`
      email.run(id, account, domain, body, JSON.stringify([to]), name, type, messageId, now)
      queue.run(first + i, id, account, to, lane, filling.class, now, now + 3 * 86_400_000)
    }
  })
  for (let from = 0; from < deliveries; from += 10_000) {
    some(from, Math.min(deliveries, from + 10_000))
  }
  db.close()
  // The kernel would otherwise write gigabytes while the appliance waits for its own syncs.
  spawnSync('sync')
  return Math.round((performance.now() - began) / 1_000)
}
