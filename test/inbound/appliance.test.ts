import { once } from 'node:events'
import { createServer } from 'node:net'
import t from 'tap'
import { explain } from '../../src/cli/failure.js'
import { findMessage, listMessages } from '../../src/sandbox/index.js'
import { listSuppressions } from '../../src/suppression/index.js'
import { jsonOf, runCli } from '../cli/run.js'
import { Talk } from '../sandbox/talk.js'
import { startPosthorn } from '../support/posthorn.js'

// Each command is a process of its own, on a machine that may have other work.
t.setTimeout(300_000)

t.test('mail to postmaster@ is kept for the operator, who sees it and deletes it', async (t) => {
  const { appliance, dataDir } = await startPosthorn(t)
  const client = await Talk.open(t, appliance.inboundSmtpPort ?? 0)
  await client.upToData(['postmaster@localhost'], 'ada@example.test')
  client.write(
    'From: Ada <ada@example.test>\r\nSubject: Your\tbounces \x1b[2J\r\n\r\nThey are many.\x1b[0m',
  )
  t.match(await client.say('\r\n.'), /^250 /)

  const options = { env: { POSTHORN_DATA: dataDir } }
  const [mail] = await jsonOf<{ id: string }[]>(t, ['postmaster', 'list'], options)
  t.match(mail, {
    recipient: 'postmaster@localhost',
    mailFrom: 'ada@example.test',
    headerFrom: 'Ada <ada@example.test>',
    subject: 'Your bounces  [2J',
    remoteAddress: '127.0.0.1',
  })
  const { stdout } = await runCli(['postmaster', 'show', mail?.id ?? ''], options)
  t.match(stdout, /Subject +Your bounces {2}\[2J\n\nThey are many\./)
  t.notOk(stdout.includes('\x1b'), 'nothing of it reaches the terminal')
  t.match(await jsonOf(t, ['postmaster', 'delete', mail?.id ?? '', '--yes'], options), [
    { deleted: true },
  ])
  t.match(await runCli(['postmaster', 'show', mail?.id ?? ''], options), {
    status: 1,
    stderr: /^error: There is no mail \d+; 'posthorn postmaster list' shows them/,
  })
})

t.test('a bounce and a complaint come back through the whole appliance', async (t) => {
  const posthorn = await startPosthorn(t)
  const at = (local: string) => `${local}@simulator.posthorn.test`
  const send = async (local: string) => {
    const mail = { from: 'a@sender.test', to: at(local), subject: 'x', html: 'x' }
    return (await posthorn.send(mail)).json.id as string
  }
  const [late, annoyed] = [await send('late-bounce'), await send('complained')]
  const bounced = await posthorn.until(late, ({ status }) => status === 'bounced')
  t.match(bounced.recipients, [{ reply: /550 5\.1\.1 The mailbox is gone/ }])
  const suppressed = async () =>
    (await listSuppressions(posthorn.store.read, posthorn.accountId, { limit: 10 })).map(
      ({ email, reason }) => `${email} ${reason}`,
    )
  while ((await suppressed()).length < 2) await new Promise((resolve) => setTimeout(resolve, 10))
  t.same((await suppressed()).sort(), [
    `${at('complained')} complaint`,
    `${at('late-bounce')} bounce`,
  ])
  t.equal((await posthorn.email(annoyed)).status, 'delivered')
  t.equal((await posthorn.email(await send('complained'))).status, 'suppressed')
  const options = { env: { POSTHORN_DATA: posthorn.dataDir } }
  const { stdout } = await runCli(['email', 'show', annoyed], options)
  t.match(stdout, /complained +complained@simulator\.posthorn\.test +\[abuse, unproved\]/)
  const standing = await jsonOf(t, ['account', 'protection', posthorn.accountId], options)
  t.match(standing, { totals: { complaints: 0, unproved: 0 } }, 'the simulator never counts')
  t.same(await jsonOf(t, ['postmaster', 'list'], options), [], 'nor does it bother the operator')
})

t.test('mail to abuse@ is sent on, but not what would go in circles', async (t) => {
  const { appliance, store } = await startPosthorn(t, {
    env: { POSTHORN_INBOUND_FORWARD_TO: 'ops@elsewhere.test' },
  })
  const give = async (subject: string, from: string) => {
    const client = await Talk.open(t, appliance.inboundSmtpPort ?? 0)
    await client.upToData(['abuse@localhost'], from)
    client.write(`From: Zoë <zoe@example.test>\r\nSubject: ${subject}\r\n\r\nStop <b>this</b>\x07.`)
    t.match(await client.say('\r\n.'), /^250 /)
  }
  await give('An autoreply', '')
  await give('Please stop', 'zoe@example.test')
  const arrived = () => listMessages(store, { limit: 10 })
  while ((await arrived()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  const [mail, ...others] = await arrived()
  t.same(others, [])
  t.match(mail, {
    subject: 'abuse@localhost: Please stop',
    from: 'Posthorn <postmaster@sender.test>',
    recipients: ['ops@elsewhere.test'],
  })
  const found = await findMessage(store, mail?.id ?? 0)
  t.match(
    found?.content.text?.replaceAll('\r\n', '\n'),
    /^From: {6}Zo.+ <zoe@example.test> \(envelope <zoe@example.test>.*\n[^~]*\nStop <b>this<\/b>\.\n/m,
  )
  // Were the bounce of it to come to postmaster@, it would not be sent on again.
  await give('Undelivered', mail?.mailFrom ?? '')
  const kept = await store.read
    .selectFrom('operator_mails')
    .select(['subject', 'to_forward'])
    .execute()
  t.same(
    kept.filter(({ to_forward }) => to_forward === 1),
    [],
  )
  t.equal(kept.length, 3)
})

t.test('a port that is taken stops the start with what to do about it', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const address = other.address()
  const port = typeof address === 'object' ? String(address?.port) : ''
  const error = await startPosthorn(t, { env: { POSTHORN_INBOUND_PORT: port } }).catch(
    (thrown: unknown) => thrown,
  )
  t.match(
    explain(error),
    `error: Cannot listen on 127.0.0.1:${port} for bounces and complaints; [inbound] of the settings has the port, or enabled = false: listen EADDRINUSE`,
  )
})
