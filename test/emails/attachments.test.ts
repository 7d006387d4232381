import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
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
  t.equal(createHash('sha256').update(bytes).digest('hex'), sha256(bytes))
})
