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
    ...{ ...mail, to },
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
