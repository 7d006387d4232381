// A mail sent through HTTP, as an independent receiver sees it.
import { spawnSync } from 'node:child_process'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import PostalMime from 'postal-mime'
import t from 'tap'
import { publishedRecords } from '../../src/domains/index.js'
import { pythonDkimMissing } from '../dkim/verifiers.js'
import { fakeMx } from '../support/fake-mx.js'
import { startPosthorn } from '../support/posthorn.js'

const mx = await fakeMx(t)
const posthorn = await startPosthorn(t, {
  env: {
    // What arrives is compared with what was written.
    POSTHORN_TRACKING_OPENS: 'false',
    POSTHORN_TRACKING_CLICKS: 'false',
    POSTHORN_OUTBOUND_ROUTE: 'direct',
    POSTHORN_OUTBOUND_PORT: String(mx.port),
    POSTHORN_OUTBOUND_ALLOW_PRIVATE_ADDRESSES: 'true',
  },
  dns: {
    '*': { mx: [{ preference: 10, exchange: 'mx.test' }] },
    'mx.test': { a: ['127.0.0.1'] },
  },
})
const settings = { heloName: 'localhost', sourceAddresses: [] }
const dns = await publishedRecords(posthorn.store.read, settings)

const mails = [
  { subject: 'Plain', html: '<p>Hello</p>' },
  { subject: 'Grüße aus Zürich 📯', html: '<p>Ünïcödé — 漢字</p>', text: 'Ünïcödé — 漢字' },
  { subject: 'x'.repeat(900), html: `<p>${'long '.repeat(5_000)}</p>`, text: 'y'.repeat(3_000) },
  { subject: 'Dots', html: '.\n..\n.a\n', text: '.\r\n.\r\n..\r\n.\r\nend' },
  { subject: 'Ends', html: 'lone \r and \n and \r\n mixed \n\r', text: 'trailing   \n\t\n\n\n' },
  { subject: 'From line', html: 'From here\nFrom there', text: 'From me\n-- \nsig' },
]

for (const [i, mail] of mails.entries()) {
  t.test(`${mail.subject.slice(0, 12)}: arrives whole and verifies`, async (t) => {
    const to = `Zoë Ünal <r${i}@example.org>`
    const replyTo = 'Hilfe <help@sender.test>'
    const { json, status } = await posthorn.send({
      from: 'Bücher <shop@sender.test>',
      to,
      replyTo,
      ...mail,
    })
    t.equal(status, 200)
    await posthorn.until(json.id, (email) => email.status === 'delivered')
    const raw = mx.messages.find((m) => m.to[0] === `r${i}@example.org`)?.raw ?? Buffer.alloc(0)
    const text = raw.toString('latin1')
    t.notOk(/(^|[^\r])\n|\r(?!\n)/.test(text), 'CRLF alone ends lines')
    t.ok(
      text.split('\r\n').every((line) => line.length <= 998),
      'no line is over 998 octets',
    )
    t.ok(/^[\x00-\x7f]*$/.test(text), 'seven bits')

    const parsed = await PostalMime.parse(raw)
    t.equal(parsed.subject, mail.subject)
    t.match(parsed.from, { name: 'Bücher', address: 'shop@sender.test' })
    t.match(parsed.to, [{ name: 'Zoë Ünal', address: `r${i}@example.org` }])
    t.match(parsed.replyTo, [{ name: 'Hilfe', address: 'help@sender.test' }])
    const lines = (content: string | undefined) =>
      (content ?? '').replace(/\r\n|\r|\n/g, '\n').trimEnd()
    t.equal(lines(parsed.html), lines(mail.html))
    if (mail.text !== undefined) t.equal(lines(parsed.text), lines(mail.text))
    else t.equal(lines(parsed.text), 'Hello', 'the text part is made from the HTML')

    const { results } = await dkimVerify(raw, {
      resolver: async (name: string) => [[dns[name]?.txt?.[0] ?? '']],
    })
    t.same(
      results.map((r) => [r.status.result, r.signingDomain, (r as { algo?: string }).algo]),
      [
        ['pass', 'sender.test', 'rsa-sha256'],
        ['pass', 'sender.test', 'ed25519-sha256'],
      ],
      'mailauth',
    )
    t.test('python3-dkim', { skip: pythonDkimMissing }, async (t) => {
      const records = Object.fromEntries(Object.entries(dns).map(([k, v]) => [k, v.txt?.[0] ?? '']))
      const script = `
import dkim, json, sys, base64
a = json.load(sys.stdin)
d = dkim.DKIM(base64.b64decode(a['raw']))
f = lambda name, timeout=5: a['records'].get(name.decode().rstrip('.'), '').encode()
print([bool(d.verify(0, dnsfunc=f)), bool(d.verify(1, dnsfunc=f))])`
      const asked = JSON.stringify({ raw: raw.toString('base64'), records })
      const said = spawnSync('/usr/bin/python3', ['-c', script], { input: asked, encoding: 'utf8' })
      t.equal(said.stdout.trim(), '[True, True]', said.stderr)
    })
  })
}
