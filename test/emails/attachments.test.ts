import { randomBytes } from 'node:crypto'
import t from 'tap'
import { dkimRecord } from '../../src/dkim/index.js'
import { mailauthVerdicts, pythonDkimMissing, pythonVerdicts } from '../dkim/verifiers.js'
import { postalParts, sha256 } from '../mime/readers.js'
import { fakeMx } from '../support/fake-mx.js'
import { directTo, startPosthorn } from '../support/posthorn.js'

const mail = { from: 'Ann <ann@sender.test>', subject: 'Hello', html: '<p>Hello</p>' }

const file = (bytes: Buffer, fields: object = {}) => ({
  filename: 'invoice.pdf',
  content: bytes.toString('base64'),
  ...fields,
})

t.test('a mail with an attachment arrives with it, and says so when it is read', async (t) => {
  const mx = await fakeMx(t)
  const posthorn = await startPosthorn(t, directTo(mx))
  const bytes = randomBytes(200_000)
  const sent = await posthorn.send({ ...mail, to: 'bob@one.test', attachments: [file(bytes)] })
  t.equal(sent.status, 200, sent.text)
  const email = await posthorn.until(sent.json.id, ({ status }) => status === 'delivered')
  t.same(email.attachments, [
    {
      filename: 'invoice.pdf',
      contentType: 'application/pdf',
      size: bytes.length,
      contentId: null,
      disposition: 'attachment',
    },
  ])
  const [message] = mx.messages
  t.match(await postalParts(message?.raw ?? Buffer.alloc(0)), [
    { filename: 'invoice.pdf', type: 'application/pdf', sha256: sha256(bytes) },
  ])
})

t.test('its signatures hold, and a batch shares one stored copy', async (t) => {
  const mx = await fakeMx(t)
  const posthorn = await startPosthorn(t, directTo(mx))
  const bytes = randomBytes(300_000)
  const emails = ['a@one.test', 'b@two.test', 'c@three.test'].map((to, i) => ({
    ...mail,
    to,
    html: `<p>Hello ${i}</p>`,
  }))
  const body = { emails, attachments: [file(bytes)] }
  const { status, json } = await posthorn.call('POST', '/v1/emails/batch', { body })
  t.equal(status, 200)
  for (const id of json.ids) await posthorn.until(id, (email) => email.status === 'delivered')
  const contents = await posthorn.store.read.selectFrom('contents').selectAll().execute()
  t.match(contents, [{ size_bytes: bytes.length, uses: 3 }])
  const stored = await posthorn.store.read.selectFrom('dkim_keys').selectAll().execute()
  const keys = stored.map(({ selector, algorithm, public_key: publicKeyBase64 }) => ({
    name: `${selector}._domainkey.sender.test`,
    record: dkimRecord({ algorithm, publicKeyBase64 }),
  })) as Parameters<typeof mailauthVerdicts>[1]
  t.equal(mx.messages.length, 3)
  for (const { raw } of mx.messages) {
    t.same(await mailauthVerdicts(raw, keys), ['pass', 'pass'])
    t.match(await postalParts(raw), [{ sha256: sha256(bytes) }])
  }
  if (!pythonDkimMissing) {
    for (const { raw } of mx.messages)
      t.notOk(JSON.stringify(pythonVerdicts([raw], keys)).includes('false'))
  }
})

t.test(
  'what is wrong with an attachment is a 422 that names it, and nothing is stored',
  async (t) => {
    const posthorn = await startPosthorn(t)
    const send = (attachments: object[]) =>
      posthorn.send({ ...mail, to: 'bob@one.test', attachments })
    for (const [attachments, error] of [
      [[{ filename: 'a.txt', content: '?' }], /^attachments\[0\]\.content: is not base64/],
      [[{ filename: 'a.txt', content: 'QUJ' }], /^attachments\[0\]\.content: is not base64/],
      [[{ filename: 'a.txt', content: '' }], /^attachments\[0\]\.content: is empty/],
      [[{ filename: 'a.txt', content: 'data:text/plain;base64,QQ==' }], /without "data:/],
      [[{ filename: 'a.txt' }], /expected exactly one of content and url/],
      [[{ filename: 'a.txt', url: 'ftp://x.test/a' }], /^attachments\[0\]\.url: expected a URL/],
      [
        [{ filename: 'a.txt', url: 'https://127.0.0.1/a' }],
        /127\.0\.0\.1 is not at a public address/,
      ],
      [
        [{ filename: 'a.txt', url: 'http://localhost:1/a' }],
        /localhost is not at a public address/,
      ],
      [[file(Buffer.alloc(10_485_761))], /^attachments: over 10485760 bytes/],
      [
        [{ filename: 'i.ics', contentType: 'text/calendar; method=REQUEST', content: 'QUJD' }],
        /an invitation of method REQUEST/,
      ],
    ] as const) {
      t.match(await send([...attachments]), {
        status: 422,
        json: { code: 'validation_error', error },
      })
    }
    t.same(await posthorn.store.read.selectFrom('contents').selectAll().execute(), [])
  },
)

t.test('a mail from a template carries a picture in its HTML and a file beside it', async (t) => {
  const mx = await fakeMx(t)
  const posthorn = await startPosthorn(t, directTo(mx))
  const template = { name: 'Bill', slug: 'bill', subject: 'Bill {{ number }}', html: picture }
  const made = await posthorn.call('POST', '/v1/templates', { body: template })
  t.ok(made.status < 300, made.text)
  const [logo, bill] = [randomBytes(3_000), randomBytes(70_000)]
  const sent = await posthorn.send({
    from: mail.from,
    to: 'bob@one.test',
    template: 'bill',
    variables: { number: 7 },
    attachments: [
      file(logo, { filename: 'logo.png', contentId: 'logo' }),
      file(bill, { filename: 'bill.pdf' }),
    ],
  })
  await posthorn.until(sent.json.id, ({ status }) => status === 'delivered')
  const raw = mx.messages[0]?.raw ?? Buffer.alloc(0)
  t.match(raw.toString(), /^Subject: Bill 7\r$/m)
  const types = raw.toString().match(/multipart\/\w+/g)
  t.same(types, ['multipart/mixed', 'multipart/alternative', 'multipart/related'])
  t.match(await postalParts(raw), [
    { filename: 'logo.png', contentId: '<logo>', disposition: 'inline', sha256: sha256(logo) },
    { filename: 'bill.pdf', disposition: 'attachment', sha256: sha256(bill) },
  ])
})

t.test('an invitation arrives as one that calendars answer, and as a file', async (t) => {
  const mx = await fakeMx(t)
  const posthorn = await startPosthorn(t, directTo(mx))
  const calendar = Buffer.from('BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n')
  const contentType = 'text/calendar; method=REQUEST'
  const attachments = [file(calendar, { filename: 'invite.ics', contentType })]
  const sent = await posthorn.send({ ...mail, to: 'bob@one.test', attachments })
  await posthorn.until(sent.json.id, ({ status }) => status === 'delivered')
  const raw = mx.messages[0]?.raw.toString() ?? ''
  const types = [...raw.matchAll(/^Content-Type: ([\w/-]+)/gm)].map(([, type]) => type)
  t.same(types, [
    'multipart/mixed',
    'multipart/alternative',
    'text/plain',
    'text/html',
    'text/calendar',
    'application/ics',
  ])
  t.equal(raw.split(calendar.toString('base64')).length, 3)
})

t.test('a receiver that takes less does not make its address suppressed', async (t) => {
  const mx = await fakeMx(t, { capabilities: ['SIZE 100000'] })
  const posthorn = await startPosthorn(t, directTo(mx))
  const sent = await posthorn.send({
    ...mail,
    to: 'bob@one.test',
    attachments: [file(randomBytes(200_000))],
  })
  await posthorn.until(sent.json.id, ({ status }) => status === 'failed' || status === 'bounced')
  t.same(await posthorn.store.read.selectFrom('suppressions').selectAll().execute(), [])
  const small = await posthorn.send({ ...mail, to: 'bob@one.test' })
  await posthorn.until(small.json.id, ({ status }) => status === 'delivered')
})

const picture = '<p>Bill {{ number }} <img src="cid:logo" alt=""></p>'
