import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { applianceKeyFile } from '../../src/app/index.js'
import {
  nodeWebhook,
  Posthorn,
  readWebhook,
  type WebhookEvent,
  type WebhookOptions,
  webhookHandler,
  webhookId,
} from '../../src/client/index.js'
import { systemClock } from '../../src/clock/index.js'
import { openApplianceKey } from '../../src/config/index.js'
import { addEndpoint, rotateSecret } from '../../src/webhooks/index.js'
import { signWebhook } from '../../src/webhooks/signature.js'
import { startPosthorn } from '../support/posthorn.js'
import { body, old, secret, webhookVectors } from '../support/webhook-vectors.js'
import { plans } from '../support/webhooks.js'

const at = 1_795_000_000
const reasonOf = (reading: Promise<unknown>) =>
  reading.then(
    () => 'good',
    (error) => error.reason,
  )

t.test('it takes and refuses what the verifiers in the reference do', async (t) => {
  for (const { what, header, body, good } of webhookVectors(at)) {
    const reason = await reasonOf(readWebhook(body, header, secret, { now: at * 1_000 }))
    t.equal(reason === 'good', good, what)
  }
  const raw = new TextEncoder().encode(body)
  const event = await readWebhook(raw, signWebhook([secret], at, body), [old, secret], {
    now: at * 1_000,
  })
  t.equal(event.subject, 'Grüße, “7”', 'bytes and several secrets are taken too')
})

t.test('the time of a signature may be 300 seconds away, not a moment more', async (t) => {
  const header = signWebhook([secret], at, body)
  for (const [seconds, wanted] of [
    [300, 'good'],
    [-300, 'good'],
    [300.001, 'old'],
    [-300.001, 'old'],
  ] as const) {
    const now = (at + seconds) * 1_000
    t.equal(await reasonOf(readWebhook(body, header, secret, { now })), wanted, `${seconds} s`)
  }
  const now = (at + 61) * 1_000
  t.equal(await reasonOf(readWebhook(body, header, secret, { now, toleranceSeconds: 60 })), 'old')
})

t.test('one bit of the body or of the digest is enough to refuse it', async (t) => {
  const now = at * 1_000
  const header = signWebhook([secret], at, body)
  const bytes = new TextEncoder().encode(body)
  for (let bit = 0; bit < bytes.length * 8; bit += 3) {
    const altered = bytes.map((byte, place) =>
      place === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte,
    )
    const reason = await reasonOf(readWebhook(altered, header, secret, { now }))
    if (reason !== 'signature') t.fail(`bit ${bit} of the body: ${reason}`)
  }
  for (let place = header.length - 64; place < header.length; place++) {
    const other = header[place] === '0' ? '1' : '0'
    const altered = header.slice(0, place) + other + header.slice(place + 1)
    const reason = await reasonOf(readWebhook(body, altered, secret, { now }))
    if (reason !== 'signature') t.fail(`digit ${place}: ${reason}`)
  }
})

t.test('a header that is none is refused, whatever is in it', async (t) => {
  const now = at * 1_000
  const [time = '', digest = ''] = signWebhook([secret], at, body).split(',')
  for (const [header, reason] of [
    [undefined, 'missing'],
    [null, 'missing'],
    ['', 'malformed'],
    [time, 'malformed'],
    [digest, 'malformed'],
    [`${time},${time},${digest}`, 'malformed'],
    [`t=-1,${digest}`, 'malformed'],
    [`t=1e9,${digest}`, 'malformed'],
    [`t=9999999999999,${digest}`, 'malformed'],
    [`${time},${digest}0`, 'malformed'],
    [`${time},v1=${'g'.repeat(64)}`, 'malformed'],
    [`${time},v1=${'0'.repeat(64)}`, 'signature'],
    [` ${time} , v2=x,${digest} `, 'good'],
    [`${time},v1=${'0'.repeat(64)},${digest.toUpperCase().replace('V1', 'v1')}`, 'good'],
  ] as const) {
    t.equal(await reasonOf(readWebhook(body, header, secret, { now })), reason, String(header))
  }
})

t.test('a handler says 200, 400, 405, 413 and 500 as it should', async (t) => {
  const event = {
    event: 'email.bounced',
    emailId: 'e',
    to: ['a@b.test'],
    subject: 'S',
    status: 'bounced',
    timestamp: 'T',
    bounceReason: 'Permanent',
  }
  const errors: unknown[] = []
  const known = new Set<string>()
  const options: WebhookOptions = {
    secret,
    now: () => at * 1_000,
    on: {
      'email.bounced': ({ bounceReason, to }, id) => {
        if (to[0] === 'bad@b.test') throw new Error(bounceReason)
        known.add(id)
      },
    },
    seen: (id) => known.has(id),
    onError: (error) => errors.push(error),
  }
  const ask = async (
    handle: ReturnType<typeof webhookHandler>,
    given: object | string,
    init = {},
  ) => {
    const text = typeof given === 'string' ? given : JSON.stringify(given)
    const headers = { 'svc-signature': signWebhook([secret], at, text) }
    const request = new Request('http://x.test/', { method: 'POST', body: text, headers, ...init })
    return (await handle(request)).status
  }
  const handle = webhookHandler(options)
  t.equal(await ask(handle, event), 200)
  t.same([...known], [webhookId(event as WebhookEvent)])
  t.equal(await ask(handle, event), 200, 'what comes again is not dealt with again')
  t.equal(await ask(handle, { ...event, event: 'email.sent' }), 200, 'nobody listens')
  t.equal(await ask(handle, { ...event, event: 'toString' }), 200, 'nobody listens')
  t.equal(await ask(handle, event, { headers: { 'svc-signature': 'x' } }), 400)
  t.equal(await ask(handle, event, { headers: {} }), 400)
  t.equal(await ask(handle, { ...event, to: ['bad@b.test'] }), 500, 'so that it comes again')
  t.match(errors, [{ message: 'Permanent' }])
  t.equal(await ask(handle, 'x'.repeat(1024 * 1024 + 1)), 413)
  t.equal((await handle(new Request('http://x.test/'))).status, 405)
})

async function listen(t: Test, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

for (const kind of ['nodeWebhook', 'webhookHandler'] as const) {
  t.test(`an appliance tells ${kind} of a mail, also while a secret is replaced`, async (t) => {
    const env = { POSTHORN_WEBHOOKS_ALLOW: '127.0.0.1' }
    const { url, apiKey, dataDir, store, accountId } = await startPosthorn(t, { env })
    const heard: WebhookEvent[] = []
    const options: WebhookOptions = {
      secret: 'not known yet',
      on: {
        'email.sent': (event) => heard.push(event),
        'email.delivered': (event) => heard.push(event),
      },
      onError: (error) => t.fail(String(error)),
    }
    // What a framework of the web's standard does with Node's requests.
    const handle = webhookHandler(options)
    const server =
      kind === 'nodeWebhook'
        ? createServer(nodeWebhook(options))
        : createServer(async (incoming, response) => {
            const request = new Request('http://x.test/', {
              method: incoming.method ?? 'GET',
              headers: incoming.headers as Record<string, string>,
              body: Readable.toWeb(incoming) as ReadableStream,
              duplex: 'half',
            })
            response.writeHead((await handle(request)).status).end()
          })
    const target = await listen(t, server)
    const deps = { store, clock: systemClock, key: openApplianceKey(applianceKeyFile(dataDir)) }
    const endpoint = await addEndpoint(deps, plans, accountId, {
      url: target,
      events: ['email.sent', 'email.delivered'],
    })
    options.secret = endpoint.secret
    // The courier signs with both now; the receiver knows the first alone.
    await rotateSecret(deps, accountId, endpoint.id, 3_600_000)
    const posthorn = new Posthorn({ url, apiKey })
    const mail = { from: 'a@sender.test', to: 'b@x.test', subject: 'Hi', html: '<p>Hi</p>' }
    const { id } = await posthorn.emails.send(mail)
    await posthorn.emails.wait(id)
    for (let waited = 0; heard.length < 2 && waited < 1_000; waited++) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    t.match(heard, [
      { event: 'email.sent', emailId: id },
      { event: 'email.delivered', emailId: id, to: ['b@x.test'] },
    ])
  })
}
