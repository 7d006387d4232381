import t, { type Test } from 'tap'
import { setLogo } from '../../src/accounts/index.js'
import { addContact, contactHistory, findContact } from '../../src/contacts/index.js'
import {
  eraseSuppressions,
  suppress,
  suppressedAmong,
  suppressionsOf,
} from '../../src/suppression/index.js'
import { createTopic, listOptOuts, topicsLeftBy } from '../../src/topics/index.js'
import { startPreferences } from './start.js'

const address = 'ada@x.test'

async function open(t: Test, accountName?: string) {
  const started = await startPreferences(t, accountName)
  const { store, accountId } = started
  const post = async (
    url: string,
    body: string | FormData,
    headers: Record<string, string> = {},
  ) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const all = typeof body === 'string' ? { ...type, ...headers } : headers
    const response = await fetch(url, { method: 'POST', body, headers: all, redirect: 'manual' })
    return { status: response.status, text: await response.text(), headers: response.headers }
  }
  return {
    ...started,
    post,
    oneClick: (url: string) => post(url, 'List-Unsubscribe=One-Click'),
    async get(url: string) {
      const response = await fetch(url, { redirect: 'manual' })
      return { status: response.status, text: await response.text(), headers: response.headers }
    },
    async state(of = address) {
      const records = await suppressionsOf(store.read, accountId, of)
      const contact = await findContact(store.read, accountId, of)
      return {
        suppressed: records.map(({ reason, scope }) => `${reason} ${scope}`),
        topics: (await topicsLeftBy(store.read, accountId, of)).length,
        unsubscribedAt: contact?.unsubscribedAt ?? null,
      }
    },
  }
}

t.test('the logo of the account is at the head of the page', async (t) => {
  const site = await open(t)
  t.notMatch((await site.get(site.url(address))).text, 'class="logo"')
  const png = { contentType: 'image/png', bytes: Buffer.from('x') } as const
  await site.store.write((tx) => setLogo(tx, site.accountId, png))
  t.match(
    (await site.get(site.url(address))).text,
    /<img class="logo" src="\/logo\/[\w-]{22}" alt="">/,
  )
})

t.test('who has left may say why, in bounds, and need not', async (t) => {
  const site = await open(t)
  const url = site.url(address)
  const says = async () =>
    (await contactHistory(site.store.read, site.accountId, address)).filter(
      ({ kind }) => kind === 'said_why',
    )
  t.notMatch((await site.get(url)).text, 'name="reason"')
  const stranger = await site.post(url, 'action=reason&reason=too_many')
  t.notMatch(stranger.text, /Thank you/)
  t.same(await says(), [], 'who has not left has nothing to say')
  const left = await site.post(url, 'action=unsubscribe')
  t.match(left.text, /You need not\.[\s\S]*I get too many[\s\S]*maxlength="500"/)
  await site.post(url, 'action=reason&reason=none&words=%20')
  t.same(await says(), [], 'nothing was said')
  const words = `<b>daily</b>\n${'x'.repeat(600)}`
  const sent = new URLSearchParams({ action: 'reason', reason: 'too_many', words })
  const thanks = await site.post(url, String(sent))
  t.match([thanks.status, thanks.text], [200, /Thank you\./])
  t.notMatch(thanks.text, 'name="reason"')
  t.notMatch((await site.get(url)).text, 'name="reason"', 'it was said')
  await site.post(url, String(sent))
  const [said, ...more] = await says()
  t.match(said?.detail, { by: 'recipient', reasons: ['too_many'], note: /^<b>daily<\/b> x/ })
  t.equal(said?.detail.note?.length, 500)
  t.same(more, [], 'the same twice is as once')
  const other = 'action=reason&reason=other'
  t.match((await site.post(url, other)).text, /Thank you\./)
  t.match((await says()).at(-1)?.detail, { reasons: ['other'] }, 'they have changed their mind')
  for (let n = 0; n < 30; n++) await site.post(url, `${other}&words=${n}`)
  t.equal((await says()).length, 20, 'the record stays short whoever has the link')
  t.notMatch((await site.post(url, other)).text, /Thank you/)
})

t.test(
  'who comes back and leaves again and again makes the record no longer than a day has room',
  async (t) => {
    const site = await open(t)
    const url = site.url(address)
    const rows = async () => (await contactHistory(site.store.read, site.accountId, address)).length
    for (let n = 0; n < 25; n++) {
      await site.post(url, 'action=unsubscribe')
      await site.post(url, 'action=resubscribe')
      await site.clock.advance(1_000)
    }
    t.match((await site.get(url)).text, '<h1>You are unsubscribed</h1>', 'it stays left')
    t.equal(await rows(), 41)
    await site.clock.advance(86_400_001)
    await site.post(url, 'action=resubscribe')
    t.notMatch((await site.get(url)).text, '<h1>You are unsubscribed</h1>')
  },
)

const untouched = { suppressed: [], topics: 0, unsubscribedAt: null }

t.test('opening the link shows a page with a button and changes nothing', async (t) => {
  const site = await open(t, '<script>alert(1)</script> & Co')
  for (const url of [site.url(address), site.url(address, site.topic.id)]) {
    for (const method of ['GET', 'HEAD']) {
      const response = await fetch(url, { method })
      t.equal(response.status, 200)
      t.equal(response.headers.get('x-robots-tag'), 'noindex')
      t.match(response.headers.get('cache-control'), 'no-store')
      t.match(response.headers.get('referrer-policy'), 'no-referrer')
      t.equal(response.headers.get('set-cookie'), null)
    }
    const { text } = await site.get(url)
    t.match(text, '<h1>Unsubscribe?</h1>')
    t.match(text, /<button name="action" value="unsubscribe">Unsubscribe<\/button>/)
    t.match(text, '&lt;script&gt;alert(1)&lt;/script&gt; &amp; Co')
    t.match(text, address)
    t.notMatch(text, '<script')
    t.notMatch(text, /style=|onclick/)
  }
  t.match((await site.get(site.url(address, site.topic.id))).text, 'New &lt;books&gt; &amp; more')
  t.same(await site.state(), untouched)
})

t.test('a one-click post ends all marketing mail of the account at once', async (t) => {
  const site = await open(t)
  await addContact(site, site.accountId, { email: 'Ada@x.test' })
  const at = site.clock.now()
  const first = await site.oneClick(site.url(address))
  t.equal(first.status, 200, 'no redirect')
  t.match(first.text, '<h1>You are unsubscribed</h1>')
  const gone = { suppressed: ['unsubscribe marketing'], topics: 0, unsubscribedAt: at }
  t.same(await site.state(), gone)
  await site.clock.advance(60_000)
  t.equal((await site.oneClick(site.url(address))).status, 200)
  t.same(await site.state(), gone, 'twice is as once')
  const { read } = site.store
  t.equal((await suppressedAmong(read, site.accountId, [address], 'transactional')).size, 0)
  t.equal((await suppressedAmong(read, site.accountId, [address], 'marketing')).size, 1)
  t.same(await site.state('bob@x.test'), untouched)
  t.match((await site.get(site.url(address))).text, '<h1>You are unsubscribed</h1>')
})

t.test('with a topic it leaves that topic alone', async (t) => {
  const site = await open(t)
  const url = site.url('Ada@X.test', site.topic.id)
  for (let times = 0; times < 2; times++) {
    const { status, text } = await site.oneClick(url)
    t.equal(status, 200)
    t.match(text, 'no more emails about New &lt;books&gt;')
    t.same(await site.state(), { ...untouched, topics: 1 })
  }
  t.match((await site.get(url)).text, 'You are unsubscribed')
  t.match((await site.get(site.url(address))).text, 'Unsubscribe?', 'the account is another matter')
  await site.oneClick(site.url('eve@x.test', '019a9b10-2222-7000-8000-00000000ef01'))
  t.equal((await site.state('eve@x.test')).topics, 1, 'even when the topic is gone')
})

t.test('a mail client may post it as it likes, from where it likes', async (t) => {
  const site = await open(t)
  const form = new FormData()
  form.set('List-Unsubscribe', 'One-Click')
  const foreign = { origin: 'https://webmail.example', 'sec-fetch-site': 'cross-site' }
  const posts: [string, string | FormData, Record<string, string>][] = [
    ['multipart@x.test', form, {}],
    ['foreign@x.test', 'List-Unsubscribe=One-Click', foreign],
    [
      'charset@x.test',
      'List-Unsubscribe=One-Click',
      {
        'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
      },
    ],
    ['button@x.test', 'action=unsubscribe', {}],
  ]
  for (const [of, body, headers] of posts) {
    t.equal((await site.post(site.url(of), body, headers)).status, 200, of)
    t.same((await site.state(of)).suppressed, ['unsubscribe marketing'], of)
  }
})

t.test('a post of anything else asks, and changes nothing', async (t) => {
  const site = await open(t)
  for (const body of ['', 'a=b', 'List-Unsubscribe=one-click', 'action=delete', 'action=']) {
    const { status, text } = await site.post(site.url(address), body)
    t.equal(status, 400, body)
    t.match(text, 'Unsubscribe?')
  }
  const json = { 'content-type': 'application/json' }
  t.equal((await site.post(site.url(address), '{}', json)).status, 415)
  t.same(await site.state(), untouched)
})

t.test('who comes back gets mail again, but not what bounced', async (t) => {
  const site = await open(t)
  await addContact(site, site.accountId, { email: address })
  await site.oneClick(site.url(address))
  const bounce = { email: address, reason: 'bounce' } as const
  await site.store.write((tx) => suppress(tx, site.accountId, bounce, site.clock.now()))
  t.match((await site.get(site.url(address))).text, 'value="resubscribe"')
  const back = await site.post(site.url(address), 'action=resubscribe')
  t.equal(back.status, 200)
  t.match(back.text, '<h1>You are subscribed again</h1>')
  t.same(await site.state(), { suppressed: ['bounce all'], topics: 0, unsubscribedAt: null })
  t.equal((await site.post(site.url(address), 'action=resubscribe')).status, 200)

  const [whole, topic] = [site.url('bob@x.test'), site.url('bob@x.test', site.topic.id)]
  await site.oneClick(topic)
  await site.oneClick(whole)
  await site.post(topic, 'action=resubscribe')
  t.same(await site.state('bob@x.test'), untouched, 'back to a topic is back to the account')

  const other = await createTopic(site, site.accountId, { name: 'Others' })
  await site.oneClick(whole)
  await site.post(topic, 'action=resubscribe')
  const left = (topicId: string) => listOptOuts(site.store.read, site.accountId, topicId, 10)
  t.match((await left(other.id)).optOuts, [{ email: 'bob@x.test' }], 'and to no other topic')
  t.same((await left(site.topic.id)).optOuts, [])
})

t.test('who was erased is told so, and nothing is stored by their links', async (t) => {
  const site = await open(t)
  const { store, accountId, clock } = site
  await addContact(site, accountId, { email: address })
  await store.write((tx) => eraseSuppressions(tx, accountId, address, clock.now()))
  const stored = async () => [
    await site.state(),
    await store.read.selectFrom('consent').selectAll().execute(),
  ]
  const before = await stored()
  const [whole, topic, centre] = [
    site.url(address),
    site.url(address, site.topic.id),
    site.centre(address),
  ]
  const shown = `action=save&shown=${site.topic.id}`
  const answers = [
    ...(await Promise.all([whole, topic, centre].map((url) => site.get(url)))),
    await site.oneClick(whole),
    await site.oneClick(topic),
    await site.post(topic, 'action=resubscribe'),
    await site.post(whole, 'action=reason&words=x'),
    await site.post(centre, 'action=leave'),
    await site.post(centre, 'action=return'),
    await site.post(centre, shown),
    await site.post(centre, `${shown}&topic=${site.topic.id}`),
  ]
  for (const { status, text } of answers) {
    t.equal(status, 200)
    t.match(text, '<h1>You were erased</h1>')
    t.match(text, 'please sign up by a form of theirs')
    t.notMatch(text, '<form')
  }
  t.same(await stored(), before)
})

t.test('a forged, foreign or damaged link gets a page that tells nothing', async (t) => {
  const site = await open(t)
  const other = await startPreferences(t)
  const good = site.url(address)
  const foreign = other.url(address).replace(other.origin, site.origin)
  const bodies = new Set<string>()
  for (const url of [
    foreign,
    good.slice(0, -1),
    `${good}x`,
    good.toLowerCase(),
    `${site.origin}/unsubscribe/x`,
    `${site.origin}/unsubscribe/%00%ff`,
    `${site.origin}/unsubscribe/${'A'.repeat(3_000)}`,
  ]) {
    for (const { status, text } of [await site.get(url), await site.oneClick(url)]) {
      t.equal(status, 404, url.slice(0, 80))
      if (!url.includes('%')) bodies.add(text)
    }
  }
  t.equal(bodies.size, 1, 'one page for all')
  const [page = ''] = bodies
  t.match(page, '<h1>This link does not work</h1>')
  t.notMatch(page, /<form|City library|ada@/)
  t.same(await site.state(), untouched)
})

t.test('100 clicks at once are one', async (t) => {
  const site = await open(t)
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => site.oneClick(site.url(address))),
  )
  t.ok(answers.every(({ status }) => status === 200))
  t.same((await site.state()).suppressed, ['unsubscribe marketing'])
})
