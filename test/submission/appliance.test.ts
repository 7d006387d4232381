import t from 'tap'
import { listMessages } from '../../src/sandbox/index.js'
import { fakeMx } from '../support/fake-mx.js'
import { directTo } from '../support/posthorn.js'
import { idOf, isSigned, startSubmission, submit, taken } from './start.js'

t.setTimeout(120_000)

const message = [
  'From: =?UTF-8?Q?Zo=C3=AB?= <ada@sender.test>',
  'To: Bob <bob@example.test>',
  'Subject:   Spaces   stay',
  'Bcc: secret@example.test',
  'X-Own: as\r\n\tit was',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary="b"',
  '',
  'Preamble  ',
  '--b',
  'Content-Type: text/plain; charset=iso-8859-1',
  '',
  'Hello  ',
  '..dots',
  '--b',
  'Content-Type: application/octet-stream; name="x.bin"',
  'Content-Transfer-Encoding: base64',
  '',
  'AAECAw==',
  '--b--',
  'Epilogue',
  '',
].join('\r\n')

t.test(
  'a message by AUTH over STARTTLS arrives signed in the sandbox as it was written',
  async (t) => {
    const posthorn = await startSubmission(t)
    const talk = await posthorn.loggedIn()
    const reply = await submit(talk, message.replaceAll('\r\n.', '\r\n..').slice(0, -2))
    t.match(reply, /^250 2\.0\.0 Queued as /)
    const email = await posthorn.until(idOf(reply), ({ status }) => status === 'delivered')
    t.match(email, {
      from: 'Zoë <ada@sender.test>',
      to: 'bob@example.test',
      subject: 'Spaces   stay',
    })
    const [summary] = await listMessages(posthorn.store, { limit: 1 })
    t.equal(summary?.subject, 'Spaces   stay')
  },
)

t.test('what a receiver gets is what was written, and ours before it', async (t) => {
  const mx = await fakeMx(t)
  const posthorn = await startSubmission(t, directTo(mx))
  const talk = await posthorn.loggedIn()
  await submit(talk, message.replaceAll('\r\n.', '\r\n..').slice(0, -2))
  const [mail] = await mx.waitForMessages(1)
  const raw = mail?.raw ?? Buffer.alloc(0)
  const { ours, header, body } = taken(raw)
  t.match(ours, /^DKIM-Signature: [\s\S]*\r\nCFBL-Address: /)
  t.match(mail?.from, /^\S+@bounce\.sender\.test$/, 'bounces come to a return path of ours')
  const end = message.indexOf('\r\n\r\n')
  t.equal(body, message.slice(end + 4))
  const written = message.slice(0, end + 2).replace('Bcc: secret@example.test\r\n', '')
  t.equal(header.slice(0, written.length), written)
  t.match(
    header.slice(written.length),
    /^Date: .* \+0000\r\nMessage-ID: <[\w-]+@sender\.test>\r\n$/,
    'what was missing was added',
  )
  t.ok(await isSigned(posthorn, raw))
})
