import t from 'tap'
import { loadConfig } from '../../src/config/index.js'
import { verifyWebhook } from '../../src/index.js'
import { signWebhook } from '../../src/webhooks/signature.js'
import {
  type GuardDeps,
  guardedLookup,
  permittedAddresses,
  readTargetUrl,
} from '../../src/webhooks/target.js'
import { openReceiver } from '../support/receiver.js'
import { fakeResolver } from '../support/resolver.js'
import { webhookRig } from '../support/webhooks.js'

const resolver = fakeResolver({
  'app.example.com': { a: ['8.8.8.8'], aaaa: ['2606:4700::1111'] },
  'app.lan': { a: ['10.1.2.3'] },
  'metadata.lan': { a: ['169.254.169.254'] },
  'mixed.example.com': { a: ['10.0.0.1', '8.8.4.4'] },
  'mapped.example.com': { aaaa: ['::ffff:192.168.1.1'] },
  'down.example.com': { fail: 'SERVFAIL' },
})

const judged = (url: string, ...allow: string[]) =>
  permittedAddresses({ resolver, allow }, readTargetUrl(url)).catch((error: Error) => error.message)

t.test(
  'webhooks go to public addresses over HTTPS, and where the operator lets them',
  async (t) => {
    const cases: [url: string, allow: string[], expected: string[] | RegExp][] = [
      ['https://app.example.com/', [], ['8.8.8.8', '2606:4700::1111']],
      ['https://mixed.example.com/', [], ['8.8.4.4']],
      ['https://app.lan/', [], /^app\.lan is not at a public address\. /],
      ['https://app.lan/', ['app.lan'], ['10.1.2.3']],
      ['https://APP.lan./', ['App.LAN'], ['10.1.2.3']],
      ['https://app.lan/', ['10.0.0.0/8'], ['10.1.2.3']],
      ['https://app.lan/', ['10.1.2.3'], ['10.1.2.3']],
      ['https://app.lan/', ['other.lan', '192.168.0.0/16'], /not at a public address/],
      ['http://app.lan:3000/', ['app.lan'], ['10.1.2.3']],
      ['http://app.lan:3000/', ['10.0.0.0/8'], ['10.1.2.3']],
      ['http://app.example.com/', [], /^http:\/\/app\.example\.com has no TLS; expected https\. /],
      ['http://app.example.com/', ['app.example.com'], ['8.8.8.8', '2606:4700::1111']],
      ['http://mixed.example.com/', ['10.0.0.0/8'], ['10.0.0.1']],
      ['https://metadata.lan/', ['metadata.lan'], /metadata\.lan is not at a public address/],
      ['https://metadata.lan/', ['169.254.169.254'], ['169.254.169.254']],
      ['https://mapped.example.com/', [], /not at a public address/],
      ['https://localhost/', [], /localhost is not at a public address/],
      ['http://localhost:3000/', ['localhost'], ['127.0.0.1', '::1']],
      ['https://127.0.0.1/', [], /127\.0\.0\.1 is not at a public address/],
      ['https://2130706433/', [], /127\.0\.0\.1/],
      ['https://0x7f.1/', [], /127\.0\.0\.1/],
      ['https://[::1]/', [], /::1 is not at a public address/],
      ['https://[::ffff:10.0.0.1]/', [], /not at a public address/],
      ['https://0.0.0.0/', [], /not at a public address/],
      ['https://down.example.com/', [], /SERVFAIL/],
      ['https://nowhere.example.com/', [], /nowhere\.example\.com has no address/],
    ]
    for (const [url, allow, expected] of cases) {
      const name = `${url} with ${JSON.stringify(allow)}`
      if (expected instanceof RegExp) t.match(await judged(url, ...allow), expected, name)
      else t.same(await judged(url, ...allow), expected, name)
    }
    t.match(await judged('https://app.lan/'), 'webhooks.allow = ["app.lan"] in posthorn.toml')
    for (const url of [
      'ftp://a.test/',
      'a.test/hook',
      'https://u:p@a.test/',
      'https://a.test/#x',
    ]) {
      t.throws(() => readTargetUrl(url), { code: 'validation_error' }, url)
    }
    const allow = (value: string) => loadConfig({ env: { POSTHORN_WEBHOOKS_ALLOW: value } })
    t.same(allow('app.lan,10.0.0.0/8,::1').webhooks.allow, ['app.lan', '10.0.0.0/8', '::1'])
    for (const wrong of ['10.0.0.0/33', 'http://app.lan', '10.0.0.0/8/8', 'fd00::/129']) {
      t.throws(() => allow(wrong), /webhooks\.allow/, wrong)
    }
  },
)

t.test(
  'a name that moves between two questions is judged by the answer that is used',
  async (t) => {
    let asked = 0
    const rebinding: GuardDeps = {
      allow: ['127.0.0.2'],
      resolver: {
        ...resolver,
        // Allowed first; then this machine, where another service listens.
        a: async () => ({ kind: 'records', records: [asked++ === 0 ? '127.0.0.2' : '127.0.0.1'] }),
        aaaa: async () => ({ kind: 'none' }),
      },
    }
    const lookup = guardedLookup(rebinding, new URL('https://a.test/'))
    const found = () =>
      new Promise((resolve) =>
        lookup('a.test', { all: true }, (error, all) => resolve(error?.message ?? all)),
      )
    t.same(await found(), [{ address: '127.0.0.2', family: 4 }])
    t.match(await found(), /a\.test is not at a public address/)

    asked = 0
    const rig = await webhookRig(t)
    const hidden = await openReceiver(t)
    const { id } = await rig.endpoint(`http://a.test:${hidden.port}/`)
    for (let i = 0; i < 3; i++) await rig.land(await rig.mail(), 'delivered')
    await rig.courier(rebinding)
    for (;;) {
      const waiting = await rig.deliveries(id)
      if (waiting.every(({ attempts }) => attempts > 0)) break
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    t.equal(hidden.received.length, 0, 'what listens at 127.0.0.1 heard nothing')
    t.ok(asked >= 3, 'every connection asked')
  },
)

t.test('verifyWebhook takes what was signed, and nothing that is old or altered', async (t) => {
  const now = 1_764_000_000_000
  const at = now / 1_000
  const body = '{"event":"email.delivered","subject":"Grüße"}'
  const [old, secret] = ['whsec_old', 'whsec_new']
  const header = signWebhook([secret], at, body)
  const is = (raw: string | Uint8Array, head: string | undefined, of = secret, time = now) =>
    verifyWebhook(raw, head, of, { now: time })
  t.ok(is(body, header))
  t.ok(is(Buffer.from(body), header), 'bytes or text')
  t.ok(is(body, header, secret, now + 300_000) && is(body, header, secret, now - 300_000))
  t.notOk(is(body, header, secret, now + 301_000) || is(body, header, secret, now - 301_000))
  t.notOk(is(`${body} `, header), 'altered')
  t.notOk(is(body, header, 'whsec_other'), 'another secret')
  const both = signWebhook([secret, old], at, body)
  t.ok(is(body, both) && is(body, both, old), 'either secret during a rotation')
  const digest = header.slice(header.indexOf('v1='))
  for (const bad of [
    undefined,
    '',
    'x',
    `t=${at}`,
    digest,
    `t=${at},v1=`,
    `t=,${digest}`,
    `t=${at}x,${digest}`,
    `t=${at},t=1,${digest}`,
    `t=${at + 1},${digest}`,
    `${header}0`,
    `t=${at},v0=${digest}`,
  ]) {
    t.notOk(is(body, bad), String(bad))
  }
  t.notOk(verifyWebhook(body, header, secret), 'by the system’s time it is old')
})
