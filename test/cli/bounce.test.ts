import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageFile } from '../../src/config/index.js'
import { parkReport } from '../../src/inbound/parked.js'
import { makeTempDir, openTestStore } from '../support/store.js'
import { openPlace } from './place.js'
import { jsonOf, runCli } from './run.js'

// On a machine that may have other work.
t.setTimeout(300_000)

const fixture = (name: string) => packageFile(`test/fixtures/reports/${name}.eml`)

t.test('a reply and a report are explained, with nothing set up', async (t) => {
  const reply = await runCli(['bounce', 'explain', '550 5.1.1 <a@b.test> User unknown'])
  t.match(reply, {
    status: 0,
    stdout: /^Class +bad-mailbox\nRule +text "unknown user" of config\/bounce-rules\.toml\n/,
  })
  t.match(
    reply.stdout,
    /\nAnother attempt +no\nAddress is suppressed +at once\nEvent +bounced, Perm/,
  )
  // An example of its help: only Microsoft's own rules know these words.
  const words = ['550 5.5.0 Requested action not taken: mailbox unavailable']
  const host = ['--host', 'mx.olc.protection.outlook.com']
  t.match(
    (await runCli(['bounce', 'explain', ...words, ...host])).stdout,
    /Rule +providers\.microso/,
  )
  t.notMatch((await runCli(['bounce', 'explain', ...words])).stdout, 'microsoft')
  const report = await runCli(['bounce', 'explain', fixture('05-sendmail')])
  t.match(report.stdout, /^Kind +report about a delivery \(RFC 3464\)\nReturn paths in it +baaaa/)
  t.match(report.stdout, /\nRecipient +gone@receiver\.test\n[\s\S]*\nClass +bad-mailbox\n/)
  t.match(
    report.stdout,
    /\nRecipient +kept@receiver\.test\n[\s\S]*\nEvent +none: it has not failed\n$/,
  )
  const stdin = 'From: a@b.test\nAuto-Submitted: auto-replied\n\nAway\n'
  t.match(await runCli(['bounce', 'explain', '-'], { stdin }), {
    stdout: /^Kind +auto-reply: Auto-Submitted: auto-replied\n/,
  })
  t.match(await runCli(['bounce', 'explain', 'nonsense']), {
    status: 1,
    stderr: /^error: "nonsense" is neither a file nor a reply/,
  })
})

t.test("the operator's rules decide, and are checked", async (t) => {
  const data = join(makeTempDir(t), 'data')
  mkdirSync(data)
  const file = join(data, 'bounce-rules.toml')
  const options = { env: { POSTHORN_DATA: data } }
  writeFileSync(
    file,
    '[providers.b]\nhosts = ["b.test"]\n[[providers.b.text]]\nname = "ours"\nclass = "content"\npatterns = ["unknown"]\n',
  )
  const reply = ['bounce', 'explain', '550 5.1.1 User unknown', '--host', 'mx.b.test']
  t.match(await jsonOf(t, reply, options), {
    class: 'content',
    suppress: false,
    rule: 'providers.b.text "ours" of data/bounce-rules.toml',
  })
  t.match((await runCli(['config', 'check'], options)).stdout, `${file} is good\n`)
  writeFileSync(file, '[code]\n"550" = "nonsense"\n')
  t.match(await runCli(['config', 'check'], options), {
    status: 1,
    stderr:
      /Bad bounce rules \(.*bounce-rules\.toml\):\n {2}\[code\]: 550: "nonsense" given, expected/,
  })
})

t.test('reports that cannot be filed are shown, read again and dropped', async (t) => {
  const place = await openPlace(t)
  const store = await openTestStore(t, { dataDir: place.data, slot: 14 })
  t.match(await place.run('bounce', 'parked'), { stdout: 'Nothing is parked\n' })
  const now = Date.now()
  for (const id of [1, 2, 3]) {
    const row = {
      received_at: now,
      due_at: now,
      remote_address: '192.0.2.1',
      tries: 0,
      mail_from: '',
      helo: '',
    }
    const raw = Buffer.from(`Subject: ${id}\n`)
    await store.write(async (tx) => {
      const recipients = '["x@y.test"]'
      await tx
        .insertInto('inbound_spool')
        .values({ ...row, id, recipients, raw })
        .execute()
      await parkReport(tx, id, { fault: 'it is broken', now: now + id })
    })
  }
  t.match(await place.run('bounce', 'parked'), { stdout: /^ID .+\n3 .+ it is broken\n2 .+\n1 / })
  t.match(await place.run('bounce', 'parked', '2'), { stdout: 'Subject: 2\n' })
  t.match(await place.json('bounce', 'retry', '1'), { changed: 1 })
  t.match(await place.run('bounce', 'parked'), { stdout: /\n1 .+ it is going to be read again/ })
  await place.refused(/No report 9 is parked/, 'bounce', 'discard', '2', '9')
  t.match(await place.run('bounce', 'discard', '2', '--yes'), { stdout: '1 report is dropped\n' })
  await place.misused(/name reports, or --all/, 'bounce', 'discard')
  t.match(await place.run('bounce', 'discard', '--all', '--yes'), {
    stdout: '2 reports are dropped\n',
  })
  t.match(await place.json('bounce', 'parked'), [])
})
