import t, { type Test } from 'tap'
import { applianceAccountId, createAccount } from '../../src/accounts/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { addDomain } from '../../src/domains/index.js'
import { makeTracker, makeTrackingTokens, setSwitches } from '../../src/tracking/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

const key = makeApplianceKey(Buffer.alloc(32, 7))
const tokens = makeTrackingTokens(key)
const html =
  '<body><img src="https://shop.test/logo.png"><a href="https://shop.test/">shop</a></body>'

async function start(t: Test, settings = { opens: true, clicks: true }) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const { id: accountId } = await createAccount({ store, clock }, 'Shop')
  const domain = await addDomain({ store, clock, key }, accountId, 'shop.test')
  const tracker = makeTracker({
    store,
    clock,
    key,
    tracking: settings,
    publicUrl: 'https://mail.test:8443',
  })
  const mail = {
    accountId,
    emailId: store.ids.uuid(),
    deliveryId: 7,
    domainId: domain.id,
    bodyId: 1,
    type: 'marketing' as const,
  }
  const does = async () => {
    await clock.advance(5_000)
    const tracked = await tracker.track(mail, html)
    return { opens: tracked.includes('/o/'), clicks: tracked.includes('/c/') }
  }
  return { clock, store, accountId, domainId: domain.id, tracker, mail, does }
}

t.test('the domain overrides the account, which overrides the settings', async (t) => {
  for (const settings of [
    { opens: true, clicks: false },
    { opens: false, clicks: true },
  ]) {
    const { store, accountId, domainId, does } = await start(t, settings)
    const { opens, clicks } = settings
    t.same(await does(), settings)
    await setSwitches({ store }, { accountId }, { opens: !opens })
    t.same(await does(), { opens: !opens, clicks })
    await setSwitches({ store }, { accountId }, { clicks: !clicks })
    t.same(await does(), { opens: !opens, clicks: !clicks })
    await setSwitches({ store }, { domainId }, { opens, clicks })
    t.same(await does(), settings)
    await setSwitches({ store }, { domainId }, { clicks: null })
    t.same(await does(), { opens, clicks: !clicks })
    await setSwitches({ store }, { domainId }, {})
    t.same(await does(), { opens, clicks: !clicks }, 'what is not given stays')
  }
})

t.test('transactional mail has the pixel only where its domain or account says so', async (t) => {
  const { clock, store, accountId, domainId, tracker, mail } = await start(t)
  const has = async () => {
    await clock.advance(5_000)
    return (await tracker.track({ ...mail, type: 'transactional' }, html)).includes('/o/')
  }
  t.equal(await has(), false)
  await setSwitches({ store }, { accountId }, { opens: true })
  t.equal(await has(), true)
  await setSwitches({ store }, { domainId }, { opens: false })
  t.equal(await has(), false)
  await setSwitches({ store }, { accountId }, { opens: null })
  await setSwitches({ store }, { domainId }, { opens: true })
  t.equal(await has(), true)
})

t.test('the pixel is not the only picture beside a few words', async (t) => {
  const { tracker, mail } = await start(t)
  const has = async (own: string, bodyId: number | null = null) =>
    (await tracker.track({ ...mail, bodyId }, own)).includes('/o/')
  const words = (chars: number) => `<p>${'word '.repeat(chars / 5)}</p>`
  t.equal(await has('<p>Your order is on its way.</p>'), false)
  t.equal(await has(`<p>Hi</p><img src="https://shop.test/logo.png">`), true)
  t.equal(await has(words(2_500)), false)
  t.equal(await has(`${words(500)}<style>${'a { color: red } '.repeat(500)}</style>`), false)
  t.equal(await has(`${words(2_000)}<a href="https://x.test/${'a'.repeat(2_000)}">x</a>`), false)
  t.equal(await has(words(3_500)), true)
  for (const swallows of ['<!-- oops', '<style>', '<textarea>', '<a title="x>Go</a>']) {
    const own = `<body><img src="https://shop.test/logo.png">${swallows}</body></html>`
    const tracked = await tracker.track({ ...mail, bodyId: null }, own)
    t.match(tracked.replace(/<img src="[^"]*\/o\/[^>]*>/, '*'), /logo\.png">\*</, swallows)
  }
  for (const bodyId of [11, 11, 12])
    t.equal(await has(words(bodyId === 11 ? 3_500 : 2_500), bodyId), bodyId === 11)
})

t.test('a switch is seen after five seconds, and not asked for at every mail', async (t) => {
  const { clock, store, accountId, tracker, mail, does } = await start(t)
  t.same(await does(), { opens: true, clicks: true })
  await setSwitches({ store }, { accountId }, { opens: false, clicks: false })
  await clock.advance(4_999)
  t.match(await tracker.track(mail, html), '/o/')
  await clock.advance(1)
  t.equal(await tracker.track(mail, html), html, 'byte for byte')
})

t.test('the host of a domain is used once the DNS leads it here', async (t) => {
  const { clock, store, domainId, tracker, mail } = await start(t)
  const hosts = async () => {
    await clock.advance(5_000)
    const tracked = await tracker.track(mail, html)
    return [...tracked.matchAll(/"(https:\/\/[^/"]+)\/[co]\//g)].map(([, host]) => host)
  }
  const set = (values: { tracking_host: string | null; tracking_host_ready: number }) =>
    store.write((tx) => tx.updateTable('domains').set(values).where('id', '=', domainId).execute())
  t.same(await hosts(), ['https://mail.test:8443', 'https://mail.test:8443'])
  await set({ tracking_host: 'links.shop.test', tracking_host_ready: 0 })
  t.same(await hosts(), ['https://mail.test:8443', 'https://mail.test:8443'])
  await set({ tracking_host: 'links.shop.test', tracking_host_ready: 1 })
  t.same(await hosts(), ['https://links.shop.test:8443', 'https://links.shop.test:8443'])
  const own =
    '<a href="https://links.shop.test:8443/c/x">a</a><a href="https://mail.test:8443/x">b</a>'
  t.match(await tracker.track({ ...mail, bodyId: 2 }, own), own, 'its links are our own')
})

t.test('a body is read once, and each copy has its own tokens', async (t) => {
  const { tracker, mail } = await start(t)
  const read = (tracked: string) => {
    const click = /\/c\/([^"]+)"/.exec(tracked)?.[1] ?? ''
    const open = /\/o\/([^"]+)\.gif"/.exec(tracked)?.[1] ?? ''
    return { click: tokens.readClick(click), open: tokens.readOpen(open) }
  }
  const { accountId, emailId } = mail
  const first = await tracker.track(mail, html)
  t.equal(await tracker.track(mail, html), first, 'the same on every attempt')
  const copy = { accountId, emailId, deliveryId: 7 }
  t.same(read(first), { click: { ...copy, links: 1, target: 'https://shop.test/' }, open: copy })
  t.match(read(await tracker.track({ ...mail, deliveryId: 8 }, html)).open, { deliveryId: 8 })
  const merged = await tracker.track(mail, html.replace('shop</a>', 'Ann</a>'))
  t.match(merged, 'Ann</a>', 'a body that is merged for each recipient is theirs')
  const unstored = await tracker.track(
    { ...mail, bodyId: null },
    '<IMG src=a><a href="mailto:a@b.test">',
  )
  t.match(unstored, /^<IMG src=a><a href="mailto:a@b.test"><img /)
})

t.test('what has no HTML or no author is left alone', async (t) => {
  const { tracker, mail, store, clock } = await start(t)
  t.equal(await tracker.track(mail, ''), '')
  t.equal(await tracker.track({ ...mail, accountId: applianceAccountId }, html), html)
  t.equal(await tracker.track({ ...mail, domainId: store.ids.uuid() }, html), html)
  const publicUrl = 'http://127.0.0.1:8081'
  const unreachable = makeTracker({ store, clock, key, publicUrl, tracking: undefined })
  t.equal(await unreachable.track(mail, html), html, 'nor what nobody could follow')
})
