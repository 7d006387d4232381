import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { deleteEndpoint, findEndpoint } from '../../src/webhooks/index.js'
import { contractOf } from '../support/contract.js'
import { startPosthorn } from '../support/posthorn.js'
import { cliEntry, initSandbox, serve } from '../support/process.js'
import { openReceiver } from '../support/receiver.js'
import { databaseIn, makeTempDir } from '../support/store.js'

t.setTimeout(300_000)

const posthorn = (dataDir: string, ...args: string[]) => {
  const all = [cliEntry, ...args, '--json', '--data', dataDir]
  const done = spawnSync(process.execPath, all, {
    encoding: 'utf8',
    env: { ...process.env, POSTHORN_WEBHOOKS_ALLOW: '127.0.0.1' },
  })
  if (done.status !== 0) throw new Error(done.stderr)
  return JSON.parse(done.stdout)
}

t.test('a sent mail is told by webhook and in its timeline', async (t) => {
  const env = { POSTHORN_WEBHOOKS_ALLOW: '127.0.0.1' }
  const appliance = await startPosthorn(t, { env })
  const receiver = await openReceiver(t)
  const { id: endpoint } = posthorn(appliance.dataDir, 'webhook', 'add', receiver.url)
  const body = { from: 'a@sender.test', to: 'b@x.test', subject: 'Hi', html: '<p>Hi</p>' }
  const { json } = await appliance.send(body)
  await receiver.until((received) => received.length === 2)
  t.match(
    receiver.received.map((got) => got.json),
    [
      { event: 'email.sent', emailId: json.id, to: ['b@x.test'], subject: 'Hi' },
      { event: 'email.delivered', emailId: json.id, domain: 'sender.test' },
    ],
  )
  const email = posthorn(appliance.dataDir, 'email', 'show', json.id)
  t.match(email, {
    email: { status: 'delivered' },
    events: [{ type: 'sent' }, { type: 'delivered' }],
  })
  const shown = spawnSync(
    process.execPath,
    [cliEntry, 'email', 'show', json.id, '--data', appliance.dataDir],
    { encoding: 'utf8' },
  )
  t.match(shown.stdout, /^Status +delivered$/m)
  t.match(shown.stdout, /^WHEN .*\n\d{4}-\S+Z +accepted +-/m)
  t.match(shown.stdout, /^\d{4}-\S+Z +delivered +b@x\.test +250 /m)
  await t.resolves(findEndpoint(appliance.store.read, appliance.accountId, endpoint))
  await deleteEndpoint(
    { store: appliance.store, clock: systemClock },
    appliance.accountId,
    endpoint,
  )
})

t.test('webhooks tell copies and tags of the mails that have them', async (t) => {
  const env = { POSTHORN_WEBHOOKS_ALLOW: '127.0.0.1' }
  const appliance = await startPosthorn(t, { env })
  const receiver = await openReceiver(t)
  posthorn(appliance.dataDir, 'webhook', 'add', receiver.url)
  const tags = [{ name: 'kind', value: 'receipt' }]
  const copies = { cc: ['Cy <c@x.test>'], bcc: 'd@X.test' }
  const body = { from: 'a@sender.test', to: 'b@x.test', subject: 'Hi', html: '<p>Hi</p>' }
  const { json } = await appliance.send({ ...body, ...copies, tags })
  await receiver.until((received) => received.length === 4)
  const common = { emailId: json.id, cc: ['c@x.test'], bcc: ['d@x.test'], tags }
  const got = receiver.received.map((one) => one.json)
  t.match(got[0], { event: 'email.sent', to: ['b@x.test'], ...common })
  t.same(got.flatMap(({ event, to }) => (event === 'email.sent' ? [] : to)).sort(), [
    'b@x.test',
    'c@x.test',
    'd@x.test',
  ])
  const { fault } = await contractOf(appliance.url)
  for (const one of got) {
    t.match(one, common)
    t.equal(fault('#/components/schemas/WebhookPayload', one), undefined)
  }
  const shown = spawnSync(
    process.execPath,
    [cliEntry, 'email', 'show', json.id, '--data', appliance.dataDir],
    { encoding: 'utf8' },
  )
  t.match(shown.stdout, /^Cc +Cy <c@x\.test>$/m)
  t.match(shown.stdout, /^Bcc +d@X\.test$/m)
  t.match(shown.stdout, /^Tags +kind:receipt$/m)
})

t.test('a kill -9 while thousands of webhooks are due loses none of them', async (t) => {
  const dataDir = join(makeTempDir(t), 'data')
  const { accountId } = initSandbox(dataDir)
  const seen = new Set<string>()
  const receiver = await openReceiver(t, {
    script: async (got, _response, count) => {
      seen.add(got.json.emailId)
      // Some are under way at any moment, and some fail.
      await new Promise((resolve) => setTimeout(resolve, 2))
      return count % 50 === 0 ? 500 : 200
    },
  })
  const { id: endpoint } = posthorn(dataDir, 'webhook', 'add', receiver.url)
  const store = await openStore({
    ...(await databaseIn(dataDir)),
    clock: systemClock,
    turns: makeTurns(),
    slot: 15,
  })
  t.teardown(() => store.close())
  const ids = Array.from({ length: 3_000 }, () => store.ids.uuid())
  await store.write(async (tx) => {
    for (const id of ids) {
      const at = systemClock.now()
      await tx
        .insertInto('webhook_jobs')
        .values({
          endpoint_id: endpoint,
          account_id: accountId,
          email_id: id,
          event: 'email.sent',
          body: JSON.stringify({ emailId: id }),
          attempts: 0,
          due_at: at,
          created_at: at,
        })
        .execute()
    }
  })
  const env = {
    POSTHORN_WEBHOOKS_ALLOW: '127.0.0.1',
    POSTHORN_INBOUND_ENABLED: 'false',
    POSTHORN_OUTBOUND_THREADS: '1',
  }
  for (const part of [300, 600]) {
    const running = await serve(t, dataDir, env)
    await receiver.until(() => seen.size >= part)
    await running.kill('SIGKILL')
  }
  t.ok(seen.size < ids.length, `${seen.size} had come before the last kill`)
  await serve(t, dataDir, env)
  await receiver.until(() => seen.size === ids.length)
  t.same([...seen].sort(), ids.sort(), 'each came at least once')
})
