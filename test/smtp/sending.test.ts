import t from 'tap'
import { fakeMx } from '../support/fake-mx.js'
import { open } from './open.js'

const message = [Buffer.from('Subject: hi\r\n\r\n'), Buffer.from('Hello\r\n')]
const envelope = { from: 'a@sender.test', to: 'b@example.test' }

t.test('a message arrives byte for byte', async (t) => {
  const mx = await fakeMx(t)
  const connection = await open(t, mx)
  const result = await connection.send(envelope, message)
  t.match(result, { kind: 'accepted', reusable: true, reply: { code: 250, enhanced: '2.0.0' } })
  t.match(mx.messages, [
    { from: 'a@sender.test', to: ['b@example.test'], raw: Buffer.concat(message), tls: false },
  ])
  t.equal(connection.sent, 1)
})
