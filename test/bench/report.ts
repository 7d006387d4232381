import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { broadcastReport, pageOfPeople, whoNames } from '../../src/broadcasts/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { newUuid } from '../../src/store/index.js'
import { databaseFile } from '../../src/store/sqlite/files.js'
import { insertCampaignRows } from '../support/campaign-rows.js'
import { logIn } from '../support/log-in.js'
import { fillList, openBeside } from './fill-list.js'
import {
  type Appliance,
  cpuSeconds,
  initDataDir,
  loadAverage,
  rsaSignatures,
  serveAppliance,
} from './rig.js'

/*
 * The report of a campaign as a million recipients leave it, and a page of the people behind each number, with what
 * the machine can do at that moment: in this process, then by the page and the API of an appliance, over a connection that
 * stays open. Rows are written directly. To be held: p99 50 ms.
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
const { dataDir, apiKey, accountId } = initDataDir()
const many = (count: number, of: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => of(n))

async function main(): Promise<void> {
  await fillList(dataDir, accountId, contacts)
  const store = await openBeside(dataDir)
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

  const again = await openBeside(dataDir)
  console.log(`${rsaSignatures()} RSA signatures/s`)
  await measure('report', () =>
    broadcastReport({ store: again, tracking: undefined }, accountId, id),
  )
  for (const who of whoNames) {
    await measure(`people: ${who}`, () => pageOfPeople(again.read, id, { who, limit: 50 }))
  }
  const { cookie } = await logIn({ url: '', dataDir, store: again }, accountId, 'owner')
  await again.close()
  const appliance = await serveAppliance({ dataDir, apiKey, sinkPort: 9, connections: 1 })
  await measureServed(appliance, id, cookie)
  await appliance.stop()
  console.log(`${rsaSignatures()} RSA signatures/s, load ${loadAverage()}`)
}

async function measureServed({ url, pid }: Appliance, id: string, cookie: string): Promise<void> {
  const page = `/a/${accountId}/campaigns/${id}/report`
  const asked: Record<string, [path: string, headers: Record<string, string>]> = {
    // For comparison: what a request costs that has next to nothing to say.
    'API: a topic list': ['/v1/topics', { authorization: `Bearer ${apiKey}` }],
    'API: report': [`/v1/broadcasts/${id}/report`, { authorization: `Bearer ${apiKey}` }],
    'page: report': [page, { cookie }],
    'page: people who opened': [`${page}/people?who=opened`, { cookie }],
    'page: people to whom it was sent': [`${page}/people?who=sent`, { cookie }],
  }
  for (const [name, [path, headers]] of Object.entries(asked)) {
    const ask = async () => {
      const answer = await fetch(url + path, { headers })
      await answer.text()
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`)
    }
    for (let n = 0; n < 20; n++) await ask()
    const before = cpuSeconds(pid)
    await measure(name, ask)
    // Beside others this tells more than the time; the line above has what the asking itself took.
    const serverMs = ((cpuSeconds(pid) - before) * 1_000) / questions
    console.log(`    ${serverMs.toFixed(2)} ms of a processor in the appliance`)
  }
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
    -- All is counted and entered, as it would be by and by.
    update figure_cursors set mail_number = (select max(rowid) from emails), mail_id = (select id from emails order by rowid desc limit 1);
    update recipient_index set through = (select max(id) from emails);
  `)
  db.close()
}

await main()
