// Thorough, turn 1: it begins and kills the appliance six times
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { importContacts } from '../../src/contacts/index.js'
import type { Store } from '../../src/store/index.js'
import { openCampaigns } from '../support/campaigns.js'
import { initSandbox, serve } from '../support/process.js'
import { makeTempDir, openTestStore } from '../support/store.js'
import { thoroughly } from '../support/thorough.js'

const contacts = thoroughly(1_600, 10_000)
// It begins the appliance six times.
t.setTimeout(thoroughly(120_000, 300_000))

t.test('kill -9 at each stage of a test: everybody one mail, one winner', async (t) => {
  const dataDir = makeTempDir(t)
  initSandbox(dataDir)
  writeFileSync(
    join(dataDir, 'posthorn.toml'),
    // Nothing leaves: the names do not exist.
    '[outbound]\nroute = "direct"\nthreads = 1\n[dns.static."mx.test"]\na = ["127.0.0.1"]\n' +
      '[http.private]\nport = 0\n[http.public]\nport = 0\nhost = "127.0.0.1"\n[inbound]\nport = 0\n',
  )
  await prepare(t, dataDir)
  const half = contacts / 2
  await killedOnce(t, dataDir, ({ recipients }) => recipients > Math.random() * (half - 300))
  const tested = await killedOnce(t, dataDir, ({ cursor }) => cursor === '~~')
  t.equal(tested.recipients, half, 'the test has as many as it is to have')
  await killedOnce(t, dataDir, ({ reason }) => /waits for the decision/.test(reason ?? ''))
  const store = await openTestStore(t, { dataDir })
  // The time is over, and nobody has clicked anything.
  const past = { decide_at: Date.now() - 1, next_at: Date.now() - 1 }
  await store.write((tx) => tx.updateTable('broadcasts').set(past).execute())
  await store.close()
  const chosen = await killedOnce(t, dataDir, ({ winner }) => winner !== null)
  t.match(chosen, { winner: 'A', decided_by: 'close' })
  const more = tested.recipients + Math.random() * 400
  await killedOnce(t, dataDir, ({ recipients }) => recipients > more)
  const ended = await killedOnce(t, dataDir, ({ expanded }) => expanded === 1)
  t.match(ended, { recipients: contacts, winner: 'A', decided_at: chosen.decided_at })
})

const campaignIn = ({ read }: Store) =>
  read.selectFrom('broadcasts').selectAll().executeTakeFirstOrThrow()
type Row = Awaited<ReturnType<typeof campaignIn>>

/** Runs the appliance until the campaign is so, and kills it; nobody has two mails then. */
async function killedOnce(
  t: Test,
  dataDir: string,
  isSo: (campaign: Row) => boolean,
): Promise<Row> {
  const posthorn = await serve(t, dataDir, {})
  const store = await openTestStore(t, { dataDir })
  while (!isSo(await campaignIn(store))) await new Promise((resolve) => setTimeout(resolve, 1))
  await posthorn.kill('SIGKILL')
  const campaign = await campaignIn(store)
  const mails = await store.read.selectFrom('emails').select(['to_list', 'variant']).execute()
  const versions = await store.read.selectFrom('broadcast_variants').selectAll().execute()
  await store.close()
  t.equal(new Set(mails.map(({ to_list }) => to_list)).size, mails.length, 'everybody one mail')
  t.equal(campaign.recipients, mails.length)
  for (const { key, recipients } of versions) {
    t.equal(recipients, mails.filter(({ variant }) => variant === key).length, `of ${key}`)
  }
  return campaign
}

/** A list and a campaign to it in two versions, which the next start finds. */
async function prepare(t: Test, dataDir: string): Promise<void> {
  const clock = systemClock
  const store = await openTestStore(t, { dataDir })
  const { id } = await store.read.selectFrom('accounts').select('id').executeTakeFirstOrThrow()
  const campaigns = await openCampaigns(t, { store, accountId: id, clock })
  const rows = Array.from({ length: contacts }, (_, n) => `p${n}@d${n % 50}.test\n`)
  const file = (async function* () {
    yield Buffer.from(`email\n${rows.join('')}`)
  })()
  const options = { listId: campaigns.listId, ceiling: null, file: 'x.csv', defaultCountry: 'NG' }
  await importContacts({ store, clock }, id, file, options)
  await campaigns.create({
    from: 'news@example.test',
    variants: [{}, { subject: 'Another' }],
    variantTest: { share: 50, decideAfter: 1 },
  })
  await store.close()
}
