import t from 'tap'
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
  t.match(await jsonOf(t, ['postmaster', 'delete', mail?.id ?? ''], options), [{ deleted: true }])
  t.match(await runCli(['postmaster', 'show', mail?.id ?? ''], options), {
    status: 1,
    stderr: /^error: There is no mail \d+; 'posthorn postmaster list' shows them/,
  })
})
