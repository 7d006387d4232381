import t, { type Test } from 'tap'
import { createKey } from '../../../src/accounts/index.js'
import { findPlan, setPlan } from '../../../src/billing/index.js'
import { systemClock as clock } from '../../../src/clock/index.js'
import { loadConfig } from '../../../src/config/index.js'
import { domainPages } from '../../../src/dashboard/domains/routes.js'
import { addDomain, domainRecords, findDomain, listDomains } from '../../../src/domains/index.js'
import { domainSwitches } from '../../../src/tracking/index.js'
import { fakeResolver } from '../../support/resolver.js'
import { key, plans } from '../../support/webhooks.js'
import { hostile, isTame, startAccountPages, type Who } from '../account-pages.js'

const records = {
  heloName: 'mail.appliance.test',
  sourceAddresses: ['192.0.2.9'],
  reportsTo: 'dmarc@mail.appliance.test',
}
const { outbound } = loadConfig({ env: {} })

async function open(t: Test) {
  const resolver = fakeResolver()
  const rig = await startAccountPages(t, ({ account }, { store }) =>
    domainPages(account, {
      store,
      clock,
      key,
      plans,
      records,
      outbound,
      openResolver: () => resolver,
    }),
  )
  const { store, accountId } = rig
  const add = (name: string, trust = false) =>
    addDomain({ store, clock, key }, accountId, name, { trust })
  /** Publishes what is wanted, but for `other`. */
  const publish = async (name: string, other: Record<string, string> = {}) => {
    const domain = await findDomain(store.read, accountId, name)
    for (const { type, host, value, purpose } of domainRecords(domain, records)) {
      const txt = [other[purpose] ?? value]
      if (type === 'TXT') resolver.set(host, { txt })
    }
    resolver.set(`bounce.${name}`, {
      txt: ['v=spf1 ip4:192.0.2.9 -all'],
      mx: [{ preference: 10, exchange: records.heloName }],
    })
  }
  return {
    ...rig,
    resolver,
    add,
    publish,
    domain: (name: string) => findDomain(store.read, accountId, name),
    names: async () => (await listDomains(store.read, accountId)).map(({ name }) => name),
  }
}

t.test('a domain is added, and its records are shown to be published', async (t) => {
  const { post, follow, names, noted } = await open(t)
  const got = await post('/domains/new', { name: ' https://www.Shop.Example:443/about ' })
  t.match(got.location, /\/domains\/shop\.example$/)
  const { text } = await follow(got)
  t.match(text, /shop\.example is added/)
  t.match(text, /not verified/)
  t.match(text, /Checked <time/, 'what is there already is found')
  t.match(text, /<code>_dmarc<\/code>/, 'as a DNS panel wants it')
  t.match(text, /_domainkey\.shop\.example<\/code>.*data-copy/s)
  t.match(text, /v=DKIM1; k=rsa; p=/)
  t.match(text, /bounce\.shop\.example\. +3600 IN MX +10 mail\.appliance\.test\./, 'the zone')
  t.strictSame(await names(), ['shop.example'])
  t.match(noted, [{ action: 'domain.add', target: 'shop.example' }])

  for (const [name, words] of [
    ['shop.example', /has the domain shop\.example already/],
    [hostile, /is not a domain name/],
    ['', /is not a domain name/],
  ] as const) {
    const refused = await post('/domains/new', { name })
    t.equal(refused.status, 422, name)
    t.match(refused.text, words)
    isTame(t, refused, name)
  }
  t.equal(noted.length, 1)
})

t.test('a look shows what was found, and is there on the next visit', async (t) => {
  const { add, publish, post, follow, get, domain, noted } = await open(t)
  await add('shop.example')
  await publish('shop.example', {
    'dkim-ed25519': `v=DKIM1; k=ed25519; p=${hostile}`,
    dmarc: 'v=DMARC1; p=quarantine',
  })
  const checked = await post('/domains/shop.example/check')
  const { text } = await follow(checked)
  t.match(text, /4 of 5 records are as they should be; shop\.example is now verified/)
  t.match(noted, [{ action: 'domain.check', detail: { status: 'verified' } }])
  t.equal((await domain('shop.example')).status, 'verified')
  const again = await get('/domains/shop.example', 'viewer')
  t.match(
    again.text,
    /DKIM key \(Ed25519\)<span|DKIM key \(Ed25519\) <span class="chip bad">another value/,
  )
  t.match(again.text, /Found.*&lt;img src=x/s)
  isTame(t, again, 'what the DNS has')
  t.match(again.text, /p=quarantine/)
  t.match(again.text, /Add rua=mailto:dmarc@mail\.appliance\.test/)
  t.notMatch(again.text, /Check again|Remove it/, 'a viewer only looks')
  t.match(text, /emails\/new\?from=hello%40shop\.example&amp;to=owner%40people\.test/)
})

t.test('looks are limited, and say so on the page', async (t) => {
  const { add, post } = await open(t)
  await add('shop.example')
  for (let look = 0; look < 10; look++) {
    t.equal((await post('/domains/shop.example/check')).status, 303)
  }
  const refused = await post('/domains/shop.example/check')
  t.equal(refused.status, 429)
  t.match(refused.text, /DNS records/)
})

t.test('switches and the host of links are kept, and a wrong host comes again', async (t) => {
  const { store, add, post, get, domain, noted } = await open(t)
  const { id } = await add('shop.example', true)
  const form = { trackOpens: 'on', trackClicks: 'off', trackingHost: 'links.shop.example' }
  t.equal((await post('/domains/shop.example/tracking', form)).status, 303)
  t.match(await domainSwitches(store.read, id), { opens: true, clicks: false })
  t.equal((await domain('shop.example')).trackingHost, 'links.shop.example')
  t.match((await get('/domains/shop.example')).text, /Host for links.*links\.shop\.example/s)
  t.match(noted, [{ action: 'domain.change', detail: form }])
  const wrong = await post('/domains/shop.example/tracking', { ...form, trackingHost: hostile })
  t.equal(wrong.status, 422)
  isTame(t, wrong, 'the host')
  t.match(wrong.text, /&lt;img src=x/)
  await post('/domains/shop.example/tracking', { ...form, trackingHost: '' })
  t.equal((await domain('shop.example')).trackingHost, null)
})

t.test('a removal says what it takes along, and wants the name', async (t) => {
  const { store, accountId, add, get, post, follow, names, noted } = await open(t)
  await add('shop.example', true)
  const limits = { scope: 'sending', domains: ['shop.example'] } as const
  const { last4 } = await createKey({ store, clock }, accountId, hostile, { limits })
  const page = await get('/domains/shop.example/remove')
  t.match(page.text, /2 DKIM keys/)
  t.match(page.text, `(…${last4}) may send from no other domain`)
  isTame(t, page, 'the name of a key')
  const wrong = await post('/domains/shop.example/remove', { name: 'shop' })
  t.equal(wrong.status, 422)
  t.match(wrong.text, /Type shop\.example to remove it/)
  t.strictSame(await names(), ['shop.example'])
  const done = await post('/domains/shop.example/remove', { name: 'shop.example' })
  t.match((await follow(done)).text, /shop\.example is removed/)
  t.strictSame(await names(), [])
  t.match(noted, [{ action: 'domain.remove', target: 'shop.example' }])
})

t.test('while mail of it waits, a domain stays, and the page says why', async (t) => {
  const { store, accountId, add, post, names } = await open(t)
  const { id } = await add('shop.example', true)
  await store.write(async (tx) => {
    const email = store.ids.uuid()
    await tx
      .insertInto('emails')
      .values({
        id: email,
        account_id: accountId,
        domain_id: id,
        body_id: null,
        from_header: 'x@shop.example',
        to_list: '["a@one.test"]',
        reply_to: null,
        subject: 'x',
        type: 'transactional',
        topic_id: null,
        metadata: null,
        status: 'queued',
        message_id: '<x@shop.example>',
        provider: 'primary',
        waiting: 1,
        delivered: 0,
        bounced: 0,
        failed: 0,
        opened_at: null,
        clicked_at: null,
        scheduled_at: null,
        sent_at: null,
        created_at: 1,
      })
      .execute()
    await tx
      .insertInto('queue')
      .values({
        id: store.ids.serial(),
        email_id: email,
        account_id: accountId,
        lane: 'one.test',
        recipient: 'a@one.test',
        class: 0,
        due_at: 1,
        lease: null,
        attempts: 0,
        expires_at: 2,
        last_attempt_at: null,
        last_reply: null,
        last_transcript: null,
        held_at: null,
      })
      .execute()
  })
  const refused = await post('/domains/shop.example/remove', { name: 'shop.example' })
  t.equal(refused.status, 422)
  t.match(refused.text, /1 delivery from it is waiting/)
  t.strictSame(await names(), ['shop.example'])
})

t.test('reports are shown by where the mail came from', async (t) => {
  const { store, add, get, resolver } = await open(t)
  const { id } = await add('shop.example', true)
  t.match((await get('/domains/shop.example/dmarc')).text, /No report has come in these days/)
  const day = Math.floor(clock.now() / 86_400_000)
  resolver.set('192.0.2.9', { ptr: ['mail.appliance.test'] })
  await store.write(async (tx) => {
    const source = { domain_id: id, day, reporter: 'big.test', proven: 1, identifiers: hostile }
    const seen = { ...source, disposition: 'none', spf: 0, forwarded: 0 } as const
    await tx
      .insertInto('dmarc_sources')
      .values([
        { ...seen, source: '192.0.2.9', dkim: 1, messages: 1_200 },
        { ...seen, source: '198.51.100.1', dkim: 0, messages: 34 },
      ])
      .execute()
    await tx
      .insertInto('dmarc_reports')
      .values({
        domain_id: id,
        day,
        reporter: hostile,
        report_id: '1',
        proof: 'big.test',
        policy: 'none',
        begins_at: 1,
        ends_at: clock.now(),
        messages: 1_234,
      })
      .execute()
  })
  const page = await get('/domains/shop.example/dmarc?days=7', 'viewer')
  t.equal(page.status, 200)
  t.match(page.text, /1,234 messages/)
  t.match(page.text, /192\.0\.2\.9.*1,200.*198\.51\.100\.1.*34/s)
  t.match(page.text, /sign with DKIM for the domain/)
  isTame(t, page, 'what reporters write')
})

t.test('owners alone change domains, and others see none of them', async (t) => {
  const { add, get, post, otherId, names } = await open(t)
  await add('shop.example')
  for (const who of ['owner', 'member', 'operator', 'viewer'] as Who[]) {
    t.match((await get('/domains', who)).text, /shop\.example/, who)
    t.equal((await get('/domains/shop.example', who)).status, 200, who)
  }
  for (const path of ['/domains/new', '/domains/shop.example/remove']) {
    t.equal((await get(path, 'member')).status, 403)
  }
  const posts = ['new', 'shop.example/check', 'shop.example/tracking', 'shop.example/remove']
  for (const path of posts.map((one) => `/domains/${one}`)) {
    for (const who of ['member', 'operator', 'viewer'] as Who[]) {
      t.equal((await post(path, { name: 'shop.example' }, who)).status, 403, `${who} ${path}`)
    }
    t.equal((await post(path, { name: 'shop.example' }, 'stranger')).status, 404)
  }
  for (const path of ['', '/remove', '/dmarc']) {
    t.equal((await get(`/a/${otherId}/domains/shop.example${path}`, 'stranger')).status, 404)
  }
  t.equal((await get('/domains/not%20a%20name')).status, 404)
  t.strictSame(await names(), ['shop.example'])
})

t.test('a plan that allows no more domains is named on the form', async (t) => {
  const { add, post, store, accountId } = await open(t)
  const plan = findPlan(plans.email, 'free')
  await store.write((tx) => setPlan(tx, accountId, plan))
  await add('first.example')
  const refused = await post('/domains/new', { name: 'second.example' })
  t.equal(refused.status, 422)
  t.match(refused.text, /allows 1 domain/)
  t.match(refused.text, /value="second\.example"/)
})

t.test('many domains are pages', async (t) => {
  const { store, accountId, get } = await open(t)
  await store.write(async (tx) => {
    for (let made = 10; made < 70; made++) {
      await tx
        .insertInto('domains')
        .values({
          id: `d${made}`,
          account_id: accountId,
          name: `d${made}.example`,
          status: 'pending',
          trusted: 0,
          return_path: 0,
          created_at: 1,
          verified_at: null,
          checked_at: null,
          track_opens: null,
          track_clicks: null,
          tracking_host: null,
          tracking_host_ready: null,
        })
        .execute()
    }
  })
  const first = await get('/domains')
  t.match(first.text, /d10\.example.*d59\.example/s)
  t.notMatch(first.text, /d60\.example/)
  t.ok(first.text.length < 60_000, `${first.text.length} bytes`)
  const [, older = ''] = /href="([^"]*after=[^"]*)"/.exec(first.text) ?? []
  const second = await get(older)
  t.match(second.text, /d60\.example.*d69\.example/s)
  t.notMatch(second.text, /d59\.example/)
})
