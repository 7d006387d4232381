import { spawnSync } from 'node:child_process'
import Database from 'better-sqlite3'
import { databaseFile } from '../../src/store/sqlite/files.js'

const rowsPerCommit = 10_000

/** SQL by which the mails that are there count as counted, for figures and for retention. */
export const allCounted = ['figure_cursors', 'retention_state']
  .map(
    (table) => `update ${table} set (mail_number, mail_id) =
      (select rowid, id from emails order by rowid desc limit 1)`,
  )
  .join(';')

/**
 * Writes `mails` delivered mails straight into the log of an initialised data directory, as they
 * would be after months of sending; they share a body. Returns how many seconds it took.
 */
export function fillLog(dataDir: string, mails: number): number {
  const began = performance.now()
  const db = new Database(databaseFile(dataDir))
  db.pragma('synchronous = off')
  const account = db.prepare('select id from accounts limit 1').pluck().get() as string
  const domain = db.prepare('select id from domains limit 1').pluck().get() as string
  const email = db.prepare(
    `insert into emails (id, account_id, domain_id, body_id, from_header, to_list, subject, type, status,
      message_id, provider, waiting, delivered, bounced, failed, sent_at, created_at)
     values (?, ?, ?, 1, 'Bench <bench@example.test>', ?, 'An old mail', 'transactional', 'delivered',
      ?, 'primary', 0, 1, 0, 0, ?, ?)`,
  )
  const delivery = db.prepare(
    `insert into deliveries (id, email_id, recipient, status, attempts, reply, remote, tls, transcript, ended_at)
     values (?, ?, ?, 'delivered', 1, '250 2.0.0 Ok', 'mx.test [192.0.2.1]', null, '', ?)`,
  )
  // Older than all that the appliance writes now, as ids and times go.
  const firstMs = Date.UTC(2025, 0, 1)
  const some = db.transaction((from: number, to: number) => {
    for (let i = from; i < to; i++) {
      const at = firstMs + i
      const time = at.toString(16).padStart(12, '0')
      const id = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${i.toString(16).padStart(12, '0')}`
      const to = `r${i}@d${i % 20}.test`
      email.run(id, account, domain, JSON.stringify([to]), `<${id}@example.test>`, at, at)
      delivery.run(i + 1, id, to, at)
    }
  })
  for (let from = 0; from < mails; from += rowsPerCommit) {
    some(from, Math.min(mails, from + rowsPerCommit))
  }
  // It is entered and counted, as in an appliance that wrote all of it itself: that would go on beside what is measured.
  db.exec(`update recipient_index set through = (select max(id) from emails); ${allCounted}`)
  db.close()
  // The kernel would otherwise write gigabytes while the next run waits for its own syncs.
  spawnSync('sync')
  return Math.round((performance.now() - began) / 1_000)
}
