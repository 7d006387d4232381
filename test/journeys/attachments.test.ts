import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { postalParts, sha256 } from '../mime/readers.js'
import { fakeMx } from '../support/fake-mx.js'
import { initSandbox, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'

t.test('kill -9 right after the 200: the attachment arrives after the next start', async (t) => {
  const dataDir = makeTempDir(t)
  const { apiKey } = initSandbox(dataDir)
  // Nothing is delivered before the kill: the receiver takes longer with its greeting.
  const mx = await fakeMx(t, { banner: { reply: '220 mx.test ESMTP', delayMs: 1_500 } })
  writeFileSync(
    join(dataDir, 'posthorn.toml'),
    `[outbound]\nroute = "direct"\nport = ${mx.port}\nallow_private_addresses = true\nthreads = 1\n` +
      `[outbound.retry.transactional]\nschedule = ["1s"]\n` +
      `[http.private]\nport = 0\n[http.public]\nport = 0\nhost = "127.0.0.1"\n` +
      `[dns.static."*"]\nmx = [{ preference = 10, exchange = "mx.test" }]\n` +
      `[dns.static."mx.test"]\na = ["127.0.0.1"]\n`,
  )
  const bytes = randomBytes(1_000_000)
  const first = await serve(t, dataDir, {})
  const response = await fetch(`${first.url}/v1/emails/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      from: 'a@example.test',
      to: 'b@one.test',
      subject: 'File',
      html: '<p>x</p>',
      attachments: [{ filename: 'a.bin', content: bytes.toString('base64') }],
    }),
  })
  t.equal(response.status, 200)
  await first.kill('SIGKILL')
  t.equal(mx.messages.length, 0)
  const second = await serve(t, dataDir, {})
  await mx.waitUntil(() => mx.messages.length > 0, 60_000)
  t.match(await postalParts(mx.messages[0]?.raw ?? Buffer.alloc(0)), [
    { filename: 'a.bin', sha256: sha256(bytes) },
  ])
  t.equal(await second.kill('SIGTERM'), 0, 'a clean stop')
})
