import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verifyWebhook } from '../../src/index.js'
import { openReceiver } from '../support/receiver.js'
import { openPlace } from './place.js'

// On a machine that may have other work.
t.setTimeout(300_000)

t.test('a webhook is added, tried, rotated, switched off and deleted', async (t) => {
  const { data, run, json, refused, misused } = await openPlace(t)
  const receiver = await openReceiver(t)
  const url = receiver.url.replace('127.0.0.1', 'localhost')
  await json('account', 'create', 'Shop')
  t.match((await run('webhook', 'list')).stdout, 'No webhook yet')
  await refused(
    /localhost is not at a public address\. To allow it, the operator of this appliance sets webhooks\.allow = \["localhost"\] in posthorn\.toml/,
    ...['webhook', 'add', url],
  )
  appendFileSync(join(data, 'posthorn.toml'), '[webhooks]\nallow = ["localhost"]\n')
  await refused(/events\.0: Expected email\.sent, /, 'webhook', 'add', url, '--events', 'x')
  const made = await json<{ id: string; secret: string }>(
    ...['webhook', 'add', url, '--events', 'bounced,email.sent'],
  )
  t.match(made.secret, /^whsec_[\w-]{43}$/)
  const one = { id: made.id, url, events: ['email.sent', 'email.bounced'], enabled: true }
  t.match(await json('webhook', 'list'), { webhooks: [one] })
  const shown = (await run('webhook', 'show', made.id)).stdout
  t.match(shown, /^State +enabled$/m)
  t.notMatch(shown, 'whsec_')

  t.match((await run('webhook', 'test', made.id)).stdout, /^Taken: HTTP 200 after \d+ ms\nok\n$/)
  const [got] = receiver.received
  t.match(got?.json, { event: 'email.sent', subject: 'A test event of Posthorn' })
  t.ok(verifyWebhook(got?.body ?? '', String(got?.headers['svc-signature']), made.secret))
  receiver.script = () => 500
  const failed = await run('webhook', 'test', made.id)
  t.match(failed, { status: 1, stdout: 'Not taken: HTTP 500\nok\n' })

  const rotated = await run('webhook', 'rotate', made.id, '--overlap', '0s')
  t.match(rotated, { stdout: /^whsec_/, stderr: /The secret before it is void/ })
  t.match(await json('webhook', 'disable', made.id), {
    ...one,
    enabled: false,
    disabledBecause: 'by the operator',
  })
  await refused(/The webhook endpoint is disabled/, 'webhook', 'replay', made.id, '--failed')
  t.match((await run('webhook', 'enable', made.id)).stdout, /is enabled$/m)
  t.match((await run('webhook', 'deliveries', made.id)).stdout, 'Nothing went there yet')
  const none = { deliveries: [], hasMore: false, nextCursor: null }
  t.same(await json('webhook', 'deliveries', made.id), none)
  t.match((await run('webhook', 'replay', made.id, '--failed')).stdout, '0 webhooks are queued')
  await misused(/name one delivery, or choose --failed/, 'webhook', 'replay', made.id)
  t.match(await json('webhook', 'delete', made.id, '--yes'), { id: made.id, deleted: true })
  await refused(/The account has no webhook .*posthorn webhook list/, 'webhook', 'show', made.id)
})
