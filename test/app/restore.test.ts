import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startAppliance } from '../../src/app/index.js'
import { loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { systemClock } from '../../src/clock/index.js'
import { loadConfig, packageFile } from '../../src/config/index.js'
import { changeFitting, release } from '../../src/deliveries/index.js'
import { type Log, silentLog } from '../../src/log/index.js'
import { databaseSettings } from '../support/postgres.js'
import { startPosthorn } from '../support/posthorn.js'

const hourMs = 3_600_000

/** Starts an appliance on a directory that another one has served. */
async function startAgain(t: Test, dataDir: string, log: Log) {
  const env = {
    ...databaseSettings(dataDir),
    POSTHORN_HTTP_PRIVATE_PORT: '0',
    POSTHORN_HTTP_PUBLIC_PORT: '0',
    POSTHORN_HTTP_PUBLIC_HOST: '127.0.0.1',
    POSTHORN_SANDBOX_SMTP_PORT: '0',
    POSTHORN_INBOUND_HOST: '127.0.0.1',
    POSTHORN_INBOUND_PORT: '0',
    POSTHORN_OUTBOUND_ROUTE: 'sandbox',
    POSTHORN_OUTBOUND_THREADS: '1',
    // The threads' own logs go to stderr.
    POSTHORN_LOG_LEVEL: 'error',
  }
  const config = loadConfig({ file: join(dataDir, 'posthorn.toml'), env })
  const appliance = await startAppliance({ config, dataDir, log })
  t.teardown(() => appliance.close())
  return appliance
}

t.test('an appliance that wakes up holds what it should have sent long ago', async (t) => {
  const posthorn = await startPosthorn(t)
  const { store, dataDir } = posthorn
  const body = { from: 'Shop <shop@sender.test>', subject: 'Sale!', html: '<p>Today only</p>' }
  const scheduledAt = new Date(Date.now() + hourMs).toISOString()
  const old = (await posthorn.send({ ...body, to: 'a@one.test', scheduledAt })).json.id
  const recent = (await posthorn.send({ ...body, to: 'b@one.test', scheduledAt })).json.id
  const [plan = null] = loadPlans(packageFile('config/plans.toml')).marketing
  await store.write((tx) => setMarketingPlan(tx, posthorn.accountId, plan))
  const post = async (path: string, body: object) =>
    (await posthorn.call('POST', path, { body })).json
  const { id: listId } = await post('/v1/contacts/lists', { name: 'Readers' })
  await post(`/v1/contacts/${listId}`, { email: 'd@one.test' })
  const campaign = await post('/v1/broadcasts', { ...body, listId, scheduledAt })
  await posthorn.appliance.close()

  // As if it had slept: one should have left three hours ago, the other a minute ago.
  for (const [id, at] of [
    [old, Date.now() - 3 * hourMs],
    [recent, Date.now() - 60_000],
  ]) {
    await store.write(async (tx) => {
      await tx.updateTable('emails').set({ scheduled_at: at }).where('id', '=', id).execute()
      await tx.updateTable('queue').set({ due_at: at }).where('email_id', '=', id).execute()
    })
  }
  await store.write((tx) =>
    tx
      .updateTable('broadcasts')
      .set({ scheduled_at: Date.now() - 3 * hourMs })
      .execute(),
  )
  const warnings: string[] = []
  const log: Log = {
    ...silentLog,
    warn: (fields, message) => {
      // The tests' PostgreSQL keeps nothing, of which it is warned too.
      if (!/ fsync is off/.test(message)) warnings.push(`${message} ${JSON.stringify(fields)}`)
    },
    child: () => silentLog,
  }
  const appliance = await startAgain(t, dataDir, log)

  const status = async (id: string) => {
    const { status } = await store.read
      .selectFrom('emails')
      .select('status')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    return status
  }
  const until = async (id: string, wanted: string) => {
    for (let waitedMs = 0; (await status(id)) !== wanted && waitedMs < 15_000; waitedMs += 50) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    t.equal(await status(id), wanted)
  }
  await until(recent, 'delivered')
  t.equal(await status(old), 'scheduled', 'it did not leave')
  const paused = await store.read.selectFrom('broadcasts').select(['id', 'status']).execute()
  t.same(paused, [{ id: campaign.id, status: 'paused' }])
  t.match(warnings, [
    new RegExp(`^Campaigns are overdue .+'broadcast resume'.+${campaign.id}`),
    /^Scheduled mail is overdue .+'posthorn queue held'.+"deliveries":1,"since":"20/,
  ])
  const page = await (await fetch(appliance.privateUrl)).text()
  t.match(page, /Held back: 1 mail/)

  // The operator says yes; the next ring for the domain, or a scan, finds it.
  await changeFitting({ store, clock: systemClock }, { emailId: old }, (tx, ids, now) =>
    release(tx, ids, { now }),
  )
  const response = await fetch(`${appliance.privateUrl}/v1/emails/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${posthorn.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, to: 'c@one.test' }),
  })
  t.equal(response.status, 200)
  await until(old, 'delivered')
})

for (const [how, aliveMs] of [
  ['stopped', 10_000],
  ['killed at once', -24 * hourMs],
] as const) {
  t.test(
    `a clock that was set back while the appliance was down keeps no mail that long, ${how}`,
    async (t) => {
      const { store, dataDir, send, appliance } = await startPosthorn(t)
      const scheduledAt = new Date(Date.now() + hourMs).toISOString()
      const mail = { from: 'Shop <shop@sender.test>', subject: 'Hi', html: '<p>Hi</p>' }
      const { id } = (await send({ ...mail, to: 'a@one.test', scheduledAt })).json
      await appliance.close()
      // As a clock that was a day ahead has left it: deferred, and the appliance alive a moment later.
      const ahead = Date.now() + 24 * hourMs
      await store.write(async (tx) => {
        await tx.updateTable('emails').set({ scheduled_at: null }).where('id', '=', id).execute()
        await tx
          .updateTable('queue')
          .set({ attempts: 1, last_attempt_at: ahead, due_at: ahead + 300_000 })
          .where('email_id', '=', id)
          .execute()
        await tx
          .updateTable('appliance')
          .set({ alive_at: ahead + aliveMs })
          .execute()
      })
      await startAgain(t, dataDir, silentLog)
      const status = async () =>
        (
          await store.read
            .selectFrom('emails')
            .select('status')
            .where('id', '=', id)
            .executeTakeFirst()
        )?.status
      for (
        let waitedMs = 0;
        (await status()) !== 'delivered' && waitedMs < 60_000;
        waitedMs += 100
      ) {
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      t.equal(await status(), 'delivered')
    },
  )
}
