import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startPosthorn } from '../support/posthorn.js'

const mail = { from: 'a@sender.test', to: 'b@one.test', subject: 'Hi', html: '<p>Hi</p>' }

t.test('mail that is accepted before its thread is there leaves as soon as it is', async (t) => {
  const posthorn = await startPosthorn(t, { isLate: true })
  const { appliance } = posthorn
  t.ok(appliance.sandboxSmtpPort, 'the inbox is there from the first')
  t.equal(appliance.inboundSmtpPort, undefined, 'the listener for bounces is not')
  const { status, json } = await posthorn.send(mail)
  t.equal(status, 200)
  t.match(await posthorn.email(json.id), { status: 'queued' }, 'nobody is there to send it')
  const document = await posthorn.call('GET', '/v1/openapi.json')
  t.ok(document.json.paths['/v1/emails/send'], 'the description is made when it is asked for')
  const template = {
    name: 'Late',
    slug: 'late',
    subject: 'Hi {{ name }}',
    html: '<p>{{ name }}</p>',
  }
  t.equal((await posthorn.call('POST', '/v1/templates', { body: template })).status, 201)

  // Among the threads' first looks too: none falls between them and the doorbell.
  const working = appliance.complete()
  const sent = [json.id]
  let isWorking = false
  void working.finally(() => {
    isWorking = true
  })
  while (!isWorking && sent.length < 50) sent.push((await posthorn.send(mail)).json.id)
  await working
  const isDelivered = ({ status }: { status: string }) => status === 'delivered'
  await Promise.all(sent.map((id) => posthorn.until(id, isDelivered, 60_000)))
  t.ok(sent.length > 1)
})

t.test('files that have become bad since the start end no thread', async (t) => {
  const { appliance, dataDir, send, until } = await startPosthorn(t, { isLate: true })
  for (const name of ['shaping.toml', 'bounce-rules.toml', 'feedback-loops.toml']) {
    writeFileSync(join(dataDir, name), '[default]\nconnections = "half wri')
  }
  await appliance.complete()
  appliance.reload()
  const { json } = await send(mail)
  await until(json.id, ({ status }) => status === 'delivered', 60_000)
})

t.test('it may be closed before its threads start, and while they do', async (t) => {
  await (await startPosthorn(t, { isLate: true })).appliance.close()
  const { appliance } = await startPosthorn(t, { isLate: true })
  const working = appliance.complete()
  await appliance.close()
  await working
  t.pass('nothing is left that would keep this test alive')
})

t.test('a thread that cannot start later is told of', async (t) => {
  const posthorn = await startPosthorn(t, {
    isLate: true,
    env: { POSTHORN_INBOUND_HOST: '192.0.2.1' },
  })
  await t.rejects(posthorn.appliance.complete(), /192\.0\.2\.1/)
})
