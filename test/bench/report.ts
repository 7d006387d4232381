import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { broadcastReport, pageOfPeople, whoNames } from '../../src/broadcasts/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { newUuid } from '../../src/store/index.js'
import { databaseFile } from '../../src/store/sqlite/files.js'
import { insertCampaignRows } from '../support/campaign-rows.js'
import { initSandbox } from '../support/process.js'
import { fillList, openBeside } from './fill-list.js'
import { rsaSignatures } from './rig.js'

/*
 * The report of a campaign as a million recipients leave it, and a page of the people behind each number, with what
 * the machine can do at that moment. Rows are written directly.
 *     node dist/test/bench/report.js --contacts 1000000 --questions 200
 */
const { values } = parseArgs({
  options: {
    contacts: { type: 'string', default: '1000000' },
    questions: { type: 'string', default: '200' },
  },
})
const contacts = Number(values.contacts)
const questions = Number(values.questions)
const root = mkdtempSync(join(tmpdir(), 'posthorn-bench-'))
const dataDir = join(root, 'data')
const many = (count: number, of: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => of(n))

try {
  const { accountId } = initSandbox(dataDir)
  await fillList(dataDir, accountId, contacts)
  const store = openBeside(dataDir)
  const now = clock.now()
  const weekMs = 7 * 86_400_000
  // As many rows as the bounds allow, and ten campaigns before it.
  const ids = Array.from({ length: 11 }, (_, week) => newUuid(now - week * weekMs))
  for (const [week, id] of ids.entries()) {
    const sentAt = now - week * weekMs
    await insertCampaignRows(store, {
      id,
      accountId,
      subject: `Week ${week}`,
      sentAt,
      mails: contacts,
      hours: 560,
      links: many(200, (n) => `https://shop.test/${week}/${n}`),
      providers: many(60, (n) => `provider-${n}.test`),
      words: many(100, (n) => `550 5.1.1 no such user ${n}`),
    })
  }
  await store.close()
  const [id = ''] = ids
  fillPeople(id)

  const again = openBeside(dataDir)
  console.log(`${rsaSignatures()} RSA signatures/s`)
  await measure('report', () => broadcastReport(again.read, accountId, id))
  for (const who of whoNames) {
    await measure(`people: ${who}`, () => pageOfPeople(again.read, id, { who, limit: 50 }))
  }
  console.log(`${rsaSignatures()} RSA signatures/s`)
  await again.close()
} finally {
  rmSync(root, { recursive: true, force: true })
}

async function measure(name: string, ask: () => Promise<unknown>): Promise<void> {
  const tookMs: number[] = []
  const before = process.cpuUsage()
  for (let n = 0; n < questions; n++) {
    const asked = performance.now()
    await ask()
    tookMs.push(performance.now() - asked)
  }
  // Beside others the slowest hundredth tells of them: what it takes of a processor does not.
  const { user, system } = process.cpuUsage(before)
  const cpuMs = ((user + system) / 1_000 / questions).toFixed(2)
  tookMs.sort((a, b) => a - b)
  const at = (share: number) => tookMs[Math.floor(share * (tookMs.length - 1))]?.toFixed(1)
  console.log(`${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${cpuMs} ms of a processor`)
}

/** Everybody has a mail; three in ten opened, one in ten of these clicked, one in a hundred was not reached. */
function fillPeople(id: string): void {
  const db = new Database(databaseFile(dataDir))
  db.pragma('synchronous = off')
  db.exec(`
    insert into emails (id, account_id, domain_id, from_header, to_list, subject, type, status, message_id, provider,
      waiting, delivered, bounced, failed, created_at, broadcast_id)
    select id, account_id, '', 'a@b.test', json_array(email), 's', 'marketing',
      case when rowid % 100 = 0 then 'bounced' else 'delivered' end, id, 'primary', 0, 1, 0, 0, created_at, '${id}'
    from contacts;
    insert into broadcast_people (contact_id, broadcast_id, email_id, opened_at, clicked_at, left_at, unreached_at, bounce)
    select id, '${id}', id, case when rowid % 10 < 3 and rowid % 100 > 0 then created_at end,
      case when rowid % 100 = 1 then created_at end, case when rowid % 1000 = 1 then created_at end,
      case when rowid % 100 = 0 then created_at end, case when rowid % 100 = 0 then 1 end
    from contacts where rowid % 10 < 3;
  `)
  db.close()
}
