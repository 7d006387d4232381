import t from 'tap'
import { makeApplianceKey } from '../../src/config/index.js'
import { makeReturnPaths } from '../../src/deliveries/index.js'
import { readReport } from '../../src/reports/index.js'
import { concludedOf, fixtures } from './fixtures.js'

const withLines = (raw: Buffer, end: string) =>
  Buffer.from(raw.toString('latin1').replaceAll('\n', end), 'latin1')

for (const { name, raw, expected, why } of fixtures) {
  t.test(`${name}: ${why}`, async (t) => {
    t.same(await concludedOf(raw), expected)
    for (const [kind, end] of [
      ['CRLF', '\r\n'],
      ['CR', '\r'],
      ['CR CR LF', '\r\r\n'],
    ] as const) {
      t.same(await concludedOf(withLines(raw, end)), expected, `the same with ${kind}`)
    }
    const lines = raw.toString('latin1').split('\n')
    // Not a CR before an empty line: with that one's LF it would be one line end.
    const endAt = (i: number) => (i % 3 === 2 && lines[i + 1] !== '' ? '\r' : ['\r\n', '\n'][i % 2])
    const mixed = lines.map((line, i) => line + endAt(i)).join('')
    t.same(await concludedOf(Buffer.from(mixed, 'latin1')), expected, 'the same with all of them')
  })
}

t.test('a report cut anywhere is read as far as it goes, and never as another kind', async (t) => {
  const whole = fixtures.find(({ name }) => name.startsWith('01-'))?.raw ?? Buffer.alloc(0)
  let known = 0
  for (let length = 0; length < whole.length; length += 7) {
    const report = await readReport(whole.subarray(0, length))
    if (report.kind === 'dsn') {
      known++
      t.ok(
        report.recipients.every(({ action }) => action === 'failed'),
        `${length} bytes`,
      )
    } else t.ok(report.kind === 'not-a-report' || report.kind === 'auto-reply', `${length} bytes`)
  }
  t.ok(known > 100, `${known} of the pieces show that it is a bounce`)
})

t.test('our own return paths are found wherever they stand, in any case', async (t) => {
  const paths = makeReturnPaths(makeApplianceKey(Buffer.alloc(32, 7)))
  const ids = [1, 2 ** 40 + 7, Number.MAX_SAFE_INTEGER]
  for (const id of ids) {
    const token = paths.addressOf(id, 'bounce.sender.test')
    const text = `To: <${token.toUpperCase()}>\nSubject: x\n\nMAIL FROM:<${token}>, again ${token}.\n`
    const { tokens } = await readReport(Buffer.from(text))
    t.same(tokens, [token])
    t.equal(paths.deliveryOf(tokens[0] ?? ''), id)
  }
  const many = Array.from({ length: 50 }, (_, id) => paths.addressOf(id, 'b.test')).join('\n')
  t.equal((await readReport(Buffer.from(`A: b\n\n${many}`))).tokens.length, 20, 'a bounded number')
  const longer = Buffer.from(`A: b\n\nx${paths.addressOf(1, 'b.test')}`)
  t.same((await readReport(longer)).tokens, [], 'not the end of a longer word')
})

t.test('an HTML part is read where there is no other', async (t) => {
  const html = `From: MAILER-DAEMON@receiver.test
Subject: Undeliverable: Welcome
MIME-Version: 1.0
Content-Type: text/html; charset=utf-8

<html><body><p>Delivery has failed to these recipients or groups:</p>
<p>gone@receiver.test<br>The e-mail address you entered couldn&#39;t be found.</p>
<p>#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##</p></body></html>
`
  t.match(await concludedOf(Buffer.from(html)), {
    kind: 'dsn',
    form: 'Exchange',
    recipients: [{ finalRecipient: 'gone@receiver.test', verdict: { class: 'bad-mailbox' } }],
  })
})

t.test('nothing that a person or a machine writes otherwise is a bounce', async (t) => {
  for (const [text, kind] of [
    ['', 'not-a-report'],
    ['\n\n\n', 'not-a-report'],
    ['From: a@b.test\nSubject: Undelivered Mail\n\n550 5.1.1 user unknown\n', 'not-a-report'],
    ['From: a@b.test\nSubject: Lunch?\n\n> Final-Recipient: rfc822; a@b.test\n', 'not-a-report'],
    ['From: a@b.test\nSubject: About ARF\n\nFeedback-Type: abuse is a field\n', 'not-a-report'],
    ['From: a@b.test\nSubject: Hi\n\nIt was not delivered to me, user unknown\n', 'not-a-report'],
    [
      'From: a@b.test\n\nFinal-Recipient: rfc822; a@b.test\nDisposition: x; displayed\n',
      'not-a-report',
    ],
    ['From: a@b.test\nAuto-Submitted: no\nSubject: Hi\n\nHi\n', 'not-a-report'],
    ['From: cron@b.test\nAuto-Submitted: auto-generated\nSubject: Cron\n\n550\n', 'auto-reply'],
    ['From: a@b.test\nSubject: Réponse automatique : Hi\n\nAbsent\n', 'auto-reply'],
    ['From: a@b.test\nSubject: Autoscooter for sale\n\nHi\n', 'not-a-report'],
  ] as const) {
    t.equal((await readReport(Buffer.from(text))).kind, kind, JSON.stringify(text.slice(0, 60)))
  }
})
