import { parseArgs } from 'node:util'
import { systemClock as clock } from '../../src/clock/index.js'
import { enterNext } from '../../src/emails/recipient-index.js'
import { rollUp } from '../../src/stats/index.js'
import { makeTurns, newUuid, openStore, type Store } from '../../src/store/index.js'
import { insertCampaignRows } from '../support/campaign-rows.js'
import { logIn } from '../support/log-in.js'
import { fillList } from './fill-list.js'
import { fillLog } from './fill-log.js'
import {
  type Appliance,
  cpuSeconds,
  initDataDir,
  quantile,
  report,
  rsaSignatures,
  serveAppliance,
} from './rig.js'

/*
 * How long the server takes for each page of the dashboard beside a long log and many contacts, and what the
 * API takes in while somebody browses: without. A page's time is that of the whole answer, over a connection
 * that stays open; one reader at a time.
 *     node dist/test/bench/dashboard.js --mails 1000000 --contacts 100000 --visits 200 --seconds 5
 *   --dir D: a data directory that is made there and stays
 */
const { values } = parseArgs({
  options: {
    mails: { type: 'string', default: '1000000' },
    contacts: { type: 'string', default: '100000' },
    visits: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '5' },
    dir: { type: 'string' },
  },
})
const mails = Number(values.mails)
const visits = Number(values.visits)
const seconds = Number(values.seconds)
// At the same time, as some programs do.
const sending = 40
const { dataDir, apiKey, accountId } = initDataDir(values.dir)
await fillList(dataDir, accountId, Number(values.contacts))
const filledIn = fillLog(dataDir, mails)
const store = await openStore({ dataDir, clock, turns: makeTurns(), slot: 15 })
await enterAll(store)
const cookies = {
  account: (await logIn({ url: '', dataDir, store }, accountId, 'owner')).cookie,
  operator: (await logIn({ url: '', dataDir, store }, accountId, 'operator')).cookie,
}
const some = await store.read
  .selectFrom('emails')
  .select(['id', 'to_list'])
  .orderBy('id')
  .offset(Math.floor(mails / 2))
  .limit(1)
  .executeTakeFirstOrThrow()
const past = Array.from({ length: 1_000 }, (_, n) => ({
  id: newUuid(clock.now() - n * 3_600_000),
  accountId,
  subject: `Campaign ${n}`,
  sentAt: clock.now() - n * 3_600_000,
  mails: 10_000,
  hours: 24,
}))
for (const one of past) await insertCampaignRows(store, one)
await store.close()
const [address] = JSON.parse(some.to_list) as string[]
const appliance = await serveAppliance({ dataDir, apiKey, sinkPort: 9, connections: 1 })
report([
  ['mails in the log, filled in', `${mails} in ${filledIn} s`],
  ['RSA-2048 signatures a second', String(Math.round(rsaSignatures()))],
])
try {
  await measurePages(appliance, await marketingPages(appliance))
  await measureAccept(appliance)
} finally {
  await appliance.stop()
}

/** Entered and counted, as they would be by and by. */
async function enterAll(store: Store): Promise<void> {
  while ((await enterNext({ store, clock })) > 0);
  while (await rollUp(store));
}

/** Those of marketers; the composer of a draft of 30 blocks, and of one in HTML. */
async function marketingPages({ url }: Appliance): Promise<string[]> {
  const base = `/a/${accountId}`
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const make = async (path: string, body: object) => {
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    const made = (await answer.json()) as { id: string }
    if (!answer.ok) throw new Error(`${path}: ${JSON.stringify(made)}`)
    return made.id
  }
  const { lists } = (await (await fetch(`${url}/v1/contacts/lists`, { headers })).json()) as {
    lists: { id: string }[]
  }
  const listId = lists[0]?.id ?? ''
  const text = { type: 'text', text: 'Some words, {{ firstName | default: "friend" }}. '.repeat(8) }
  const parts = [{ type: 'heading', text: 'News' }, text, { type: 'divider' }]
  const blocks = { version: 1, blocks: Array.from({ length: 30 }, (_, n) => parts[n % 3]) }
  const draft = { draft: true, listId, from: 'Bench <bench@example.test>', subject: 'News' }
  const ofBlocks = await make('/v1/broadcasts', { ...draft, blocks })
  const ofHtml = await make('/v1/broadcasts', {
    ...draft,
    html: `<p>${'words '.repeat(5_000)}</p>`,
  })
  const rule = { field: 'contact.metadata.town', operator: 'eq', value: 'Lagos' }
  const segment = await make('/v1/segments', { name: 'In Lagos', rule })
  const report = `campaigns/${past[0]?.id}`
  return `campaigns campaigns?show=sent campaigns/calendar campaigns/new
    campaigns/${ofBlocks} campaigns/${ofBlocks}/send campaigns/${ofHtml} campaigns/${ofHtml}/send
    ${report} ${report}/report ${report}/report/people?who=opened
    contacts contacts/new contacts/import lists lists/${listId} segments segments/${segment}
    segments/${segment}/edit topics forms brand pictures fields automations`
    .split(/\s+/)
    .map((path) => `${base}/${path}`)
}

async function measurePages({ url, pid }: Appliance, more: readonly string[]): Promise<void> {
  const base = `/a/${accountId}`
  const mail = `${base}/emails/${some.id}`
  const pages = [
    base,
    `${base}/emails`,
    `${base}/emails?before=${some.id}`,
    ...['bounced', 'scheduled', 'sent', 'queued,sending'].map(
      (status) => `${base}/emails?status=${status}`,
    ),
    `${base}/emails?q=${address}`,
    `${base}/emails?template=none`,
    mail,
    `${mail}/content`,
    `${mail}/headers`,
    `${mail}/api`,
    `${base}/emails/new`,
    ...['domains', 'keys', 'webhooks', 'suppression', 'templates'].map((one) => `${base}/${one}`),
    ...['team', 'plan', 'audit', 'settings'].map((one) => `${base}/${one}`),
    ...['', 'accounts', 'users', 'queue', 'sites', 'failover', 'inbound', 'doctor'].map((one) =>
      one === '' ? '/operator' : `/operator/${one}`,
    ),
    ...['backups', 'audit', 'settings'].map((one) => `/operator/${one}`),
    `/operator/accounts/${accountId}`,
    ...more,
  ]
  for (const path of pages) {
    const cookie = path.startsWith('/operator') ? cookies.operator : cookies.account
    const first = await timed(url, path, cookie)
    const name = path.replace(accountId, 'ID').replaceAll(some.id, 'MAIL')
    if (first.status !== 200) {
      report([[name, `status ${first.status}`]])
      continue
    }
    const tookMs: number[] = []
    const cpuBefore = cpuSeconds(pid)
    for (let n = 0; n < visits; n++) tookMs.push((await timed(url, path, cookie)).ms)
    const [p50, p99] = [quantile(tookMs, 0.5), quantile(tookMs, 0.99)].map((ms) => ms.toFixed(1))
    const size = `${(first.bytes / 1_000).toFixed(1)} kB`
    // All threads' work, which other work on the machine does not stretch.
    const cpu = (((cpuSeconds(pid) - cpuBefore) * 1_000) / visits).toFixed(1)
    report([[name, `p50 ${p50} ms, p99 ${p99} ms, CPU ${cpu} ms, ${size}`]])
  }
}

async function timed(url: string, path: string, cookie: string) {
  const began = performance.now()
  const response = await fetch(url + path, { headers: { cookie }, redirect: 'manual' })
  const { length: bytes } = await response.arrayBuffer().then((body) => Buffer.from(body))
  return { status: response.status, bytes, ms: performance.now() - began }
}

/** In turns, so that other work on the machine meets both. */
async function measureAccept(running: Appliance): Promise<void> {
  const rounds = 3
  const rates = { alone: [] as number[], browsed: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    rates.alone.push(await accept(running, undefined))
    rates.browsed.push(await accept(running, browse))
  }
  const [alone, browsed] = [quantile(rates.alone, 0.5), quantile(rates.browsed, 0.5)]
  report([
    ['accepted a second, nobody browses', alone.toFixed(0)],
    ['accepted a second, somebody browses (5 pages a second)', browsed.toFixed(0)],
    ['ratio', (browsed / alone).toFixed(3)],
  ])
}

async function accept(
  running: Appliance,
  beside: ((running: Appliance, stop: AbortSignal) => Promise<void>) | undefined,
): Promise<number> {
  const mail = {
    from: 'Bench <bench@example.test>',
    to: 'r@one.test',
    subject: 'A mail',
    html: '<p>x</p>',
    scheduledAt: new Date(Date.now() + 86_400_000).toISOString(),
  }
  const stop = new AbortController()
  const other = beside?.(running, stop.signal)
  const until = performance.now() + seconds * 1_000
  let accepted = 0
  await Promise.all(
    Array.from({ length: sending }, async () => {
      while (performance.now() < until) {
        await running.post('/v1/emails/send', mail)
        accepted++
      }
    }),
  )
  stop.abort()
  await other
  return accepted / seconds
}

async function browse({ url }: Appliance, stop: AbortSignal): Promise<void> {
  const paths = ['', '/emails', `/emails/${some.id}`, `/emails?q=${address}`]
  for (let n = 0; !stop.aborted; n++) {
    const path = `/a/${accountId}${paths[n % paths.length]}`
    const { ms } = await timed(url, path, cookies.account)
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, 200 - ms)))
  }
}
