import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { dayMs } from '../../src/clock/index.js'
import { silentLog } from '../../src/log/index.js'
import { makeRefusedTally } from '../../src/receiving/refused.js'
import { announceRefused } from '../../src/receiving/tell-refused.js'
import { FakeClock } from '../support/clock.js'
import { logIn } from '../support/log-in.js'
import { addRule, giveMail, startReceiving, when, whenRead } from '../support/receiving.js'
import { makeTempDir, openTestStore } from '../support/store.js'

t.setTimeout(600_000)

const hello = 'From: Ann <ann@example.test>\nSubject: Hello\n\nHello\n'
const plan = `[[email]]
id = "019a9b10-0000-7000-8000-0000000000fe"
name = "Narrow"
monthly_mails = 3_000
daily_cap = false
received_per_day = 2
received_mib = 1
price_naira = 0
retention_days = 7
domains = 1
webhooks = true
features = []
`

t.test('what a plan has had refused is told: page, API and a mail to the owners', async (t) => {
  const dataDir = makeTempDir(t)
  writeFileSync(
    join(dataDir, 'plans.toml'),
    `${readFileSync('config/plans.toml', 'utf8')}\n${plan}`,
  )
  const leftMs = dayMs - (Date.now() % dayMs)
  if (leftMs < 60_000) await new Promise((resolve) => setTimeout(resolve, leftMs))
  const posthorn = await startReceiving(t, { dataDir })
  const { store, accountId } = posthorn
  const port = posthorn.appliance.inboundSmtpPort ?? 0
  await addRule(posthorn, { pattern: '*@in.sender.test', action: 'store' })
  await store.write((tx) =>
    tx
      .updateTable('subscriptions')
      .set({ plan_id: '019a9b10-0000-7000-8000-0000000000fe' })
      .where('account_id', '=', accountId)
      .execute(),
  )
  const owner = await logIn(posthorn, accountId, 'owner')
  const base = `/a/${accountId}`
  const give = (address: string, mail = hello) =>
    giveMail(t, port, 'a@in.sender.test', mail, { address })
  t.match(await give('127.0.0.1'), /^250 /)
  t.match(await give('127.0.0.1'), /^450 4\.7\.1/, 'half is for other networks')
  t.match(await give('127.0.1.1', `${hello}${'x'.repeat(78)}\n`.repeat(13_000)), /^552 5\.3\.4/)
  t.match(await give('127.0.2.1'), /^250 /)
  t.match(await give('127.0.3.1'), /^452 4\.2\.2 .*today/)
  t.match(await give('127.0.3.1'), /^452 4\.2\.2 .*today/)
  await whenRead(posthorn, 2)
  const usage = async () => (await posthorn.call('GET', '/v1/receiving/usage')).json
  const told = await when(usage, ({ refused }) => refused.length === 3)
  t.match(told, {
    day: { used: 2, limit: 2, left: 0 },
    hour: { used: 2, limit: null, left: null },
    largestMib: 1,
    keptDays: 7,
    refused: [
      { why: 'day', mails: 2 },
      { why: 'network', mails: 1 },
      { why: 'size', mails: 1, words: /larger/ },
    ],
  })
  const { text } = await owner.get(`${base}/plan`)
  t.match(text, '2 mails that came in today were refused, as the plan’s limit')
  t.match(text, /Mails that came in today.*2 of 2/s)
  t.match(text, 'None is left: mail that comes in is refused until')
  t.match(
    (await owner.get(base)).text,
    '1 mail that came in today was refused, as they were larger',
  )
  t.match((await owner.get(`${base}/received`)).text, '2 mails that came in today were refused')
  const mails = () =>
    store.read
      .selectFrom('emails')
      .innerJoin('bodies', 'bodies.id', 'emails.body_id')
      .select(['to_list', 'subject', 'text'])
      .where('subject', 'like', 'Mail that comes in for%')
      .execute()
  const sent = await when(mails, (found) => found.length > 0)
  t.match(sent, [
    { to_list: /owner-.*people\.test/, subject: /"Test" is refused/, text: /once a day/ },
  ])
})

t.test('the owners are told once a day, and what is over clears by itself', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const tally = makeRefusedTally({ store, clock, log: silentLog })
  const sent: string[] = []
  const look = () =>
    announceRefused(
      {
        store,
        clock,
        ownerAddresses: async () => ['owner@example.test'],
        mail: async (_, { text }) => void sent.push(text),
      },
      new AbortController().signal,
    )
  const refuse = async (times: number) => {
    for (let n = 0; n < times; n++) tally.note('account', 'day')
    await clock.advance(5_000)
    await when(
      () => store.read.selectFrom('refused_arrivals').selectAll().execute(),
      (rows) => rows.length > 0,
    )
    await tally.close()
  }
  await refuse(3)
  await look()
  await refuse(2)
  await look()
  t.match(sent, [/- 3 since .*within a day is reached/])
  const [row] = await store.read.selectFrom('refused_arrivals').selectAll().execute()
  t.match(row, { mails: 5 })
  await clock.advance(dayMs)
  await look()
  t.equal(sent.length, 1, 'nothing of today')
  await refuse(1)
  await look()
  t.match(sent[1], /- 1 since/, 'counted anew')
  await clock.advance(3 * dayMs)
  await look()
  t.same(await store.read.selectFrom('refused_arrivals').selectAll().execute(), [])
})
