import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { dayMs, systemClock } from '../../src/clock/index.js'
import { packageFile } from '../../src/config/index.js'
import { enterNext } from '../../src/emails/recipient-index.js'
import { databaseFile, makeTurns, openStore } from '../../src/store/index.js'
import { allCounted } from './fill-log.js'

const keptDays = 30
const mailsABody = 4

/**
 * Writes `mails` delivered mails of one to two months ago into an initialised data directory, whose plan keeps
 * them for one: each with a delivery and an entry by recipient, four with one body of 4 KB, `mailsAnEvent` with one
 * event: events go first, so few of them let a short measure see mails go. Figures and bodies are counted, so that a run of retention deletes at once. Resolves with how many seconds it took.
 */
export async function fillOldMails(
  dataDir: string,
  mails: number,
  mailsAnEvent: number,
): Promise<number> {
  const began = performance.now()
  const plans = readFileSync(packageFile('config/plans.toml'), 'utf8')
  const shorter = plans.replace('retention_days = 90', `retention_days = ${keptDays}`)
  if (shorter === plans) throw new Error('config/plans.toml has no plan of 90 days any more')
  writeFileSync(join(dataDir, 'plans.toml'), shorter)
  insertOldMails(dataDir, mails, mailsAnEvent)
  const turns = makeTurns()
  const store = await openStore({ dataDir, clock: systemClock, turns, slot: 0 })
  while ((await enterNext({ store, clock: systemClock })) > 0) {}
  await store.close()
  // The kernel would otherwise write gigabytes while the next run waits for its own syncs.
  spawnSync('sync')
  return Math.round((performance.now() - began) / 1_000)
}

function insertOldMails(dataDir: string, mails: number, mailsAnEvent: number): void {
  const db = new Database(databaseFile(dataDir))
  db.pragma('synchronous = off')
  db.pragma('cache_size = -200000')
  const firstMs = Date.now() - 2 * keptDays * dayMs
  const stepMs = ((keptDays - 1) * dayMs) / mails
  db.exec(`create temp table old (n integer primary key, at integer, id text, recipient text);
    with recursive counted (n) as (select 1 union all select n + 1 from counted where n < ${mails}),
      timed (n, at) as (select n, cast(${firstMs} + n * ${stepMs} as integer) from counted)
    insert into old select n, at, printf('%08x-%04x-7000-8000-%012x', at >> 16, at & 65535, n),
      printf('r%d@d%d.test', n, n % 20) from timed`)
  db.transaction(() => {
    db.exec(`insert into bodies (id, html)
        select n / ${mailsABody}, printf('<p>%d %.*c</p>', n, 4000, 'w') from old where n % ${mailsABody} = 0;
      insert into body_uses (body_id, uses, hash) select id, ${mailsABody}, 'old ' || id from bodies;
      insert into emails (id, account_id, domain_id, body_id, from_header, to_list, subject, type, status,
          message_id, provider, waiting, delivered, bounced, failed, sent_at, created_at)
        select old.id, accounts.id, domains.id, (n + ${mailsABody - 1}) / ${mailsABody},
          'Bench <bench@example.test>', json_array(recipient), 'An old mail', 'transactional', 'delivered',
          '<' || old.id || '@example.test>', 'primary', 0, 1, 0, 0, at, at
        from old, (select id from accounts limit 1) as accounts, (select id from domains limit 1) as domains
        order by n;
      insert into deliveries (id, email_id, recipient, status, attempts, reply, remote, transcript, ended_at)
        select n, id, recipient, 'delivered', 1, '250 2.0.0 Ok', 'mx.test [192.0.2.1]',
          printf('%.*c', 400, 't'), at from old;
      insert into events (id, account_id, email_id, delivery_id, recipient, class, type, at, reply)
        select n, accounts.id, old.id, n, recipient, 0, 'delivered', at, '250 2.0.0 Ok'
        from old, (select id from accounts limit 1) as accounts where n % ${mailsAnEvent} = 0;
      update figure_cursors set event_id = ${mails};
      ${allCounted}`)
  })()
  db.close()
}
