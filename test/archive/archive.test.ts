// Issue 44: past campaigns in browsers: to each recipient theirs, to everybody a public page and a feed.
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import t from 'tap'
import { feedOf } from '../../src/archive/feed.js'
import { setMarketingPlan } from '../../src/billing/index.js'
import { findBroadcast } from '../../src/broadcasts/index.js'
import { plans } from '../support/campaigns.js'
import { eventually } from '../support/eventually.js'
import { fakeMx } from '../support/fake-mx.js'
import { logIn } from '../support/log-in.js'
import { directTo, startPosthorn } from '../support/posthorn.js'

const mx = await fakeMx(t)
const posthorn = await startPosthorn(t, directTo(mx))
const { store, accountId, publicUrl } = posthorn
const owner = await logIn(posthorn, accountId, 'owner')
const pro = plans.marketing.find(({ name }) => name === 'Marketing Pro') ?? null
await store.write((tx) => setMarketingPlan(tx, accountId, pro))
const call = async (method: string, path: string, body?: object) =>
  (await posthorn.call(method, path, body === undefined ? {} : { body })).json
const { id: listId } = await call('POST', '/v1/contacts/lists', { name: 'Readers' })
const ann = { email: 'ann@x.test', firstName: 'Ann', metadata: { city: 'Ibadan' } }
await call('POST', `/v1/contacts/${listId}`, ann)
await call('PATCH', '/v1/brand', { postalAddress: '1 Main Street' })

const html = `<!DOCTYPE html>
<html><head><title>Of the HTML</title></head><body><p>Hello {{ firstName | default: "reader" }} of {{ city }} at {{ email }}</p>
<a href="{{ view_url }}">In a browser</a> <a href="{{ unsubscribe_url }}">Leave</a> {{ postal_address }}
<script>alert(1)</script></body></html>`

async function send(more: object) {
  const before = mx.messages.length
  const body = { listId, from: 'News <news@sender.test>', subject: 'To {{ firstName }}', html }
  const { id } = await call('POST', '/v1/broadcasts', { ...body, ...more })
  await eventually(
    async () => (await findBroadcast(store.read, accountId, id)).status === 'sent',
    20_000,
  )
  const raw = mx.messages[before]?.raw.toString() ?? ''
  const whole = raw.replace(/=\r?\n/g, '').replaceAll('=3D', '=')
  const viewUrl = /href="([^"]*\/view\/[^"]*)"/.exec(whole)?.[1]
  return { id: id as string, whole, viewUrl }
}

async function get(url: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { headers, redirect: 'manual' })
  return { status: answer.status, text: await answer.text(), headers: answer.headers }
}

const shown = { id: '', viewUrl: '', list: '' }
/** All that could change. */
const counts = async () => {
  const { opened, clicked, delivered } = await findBroadcast(store.read, accountId, shown.id)
  const events = await store.read.selectFrom('events').select('id').execute()
  return { opened, clicked, delivered, events: events.length }
}

t.test('without archive nothing is served, and the link is empty', async (t) => {
  const { id, whole } = await send({})
  t.match(whole, 'href="">In a browser')
  t.equal((await call('GET', `/v1/broadcasts/${id}`)).archive, false)
  t.equal((await call('GET', '/v1/brand')).archivePath, null)
  t.equal((await get(`${publicUrl}/a/none`)).status, 404)
})

t.test('each recipient sees theirs, with links that work, and a GET changes nothing', async (t) => {
  const {
    id,
    whole,
    viewUrl = '',
  } = await send({
    archive: true,
    subject: 'A & <b> {{ firstName }}',
    previewText: '<i>New & {{ firstName }}</i> of {{ city | default: "town" }}',
  })
  Object.assign(shown, { id, viewUrl })
  const before = await counts()
  const page = await get(viewUrl)
  t.equal(page.status, 200, page.text.slice(0, 300))
  t.match(page.text, 'Hello Ann of Ibadan at ann@x.test')
  t.match(page.text, /^<!doctype html><html lang="en">[\s\S]*<title>A &amp; &lt;b&gt; Ann<\/title>/)
  t.match(page.text, '<meta name="viewport"', 'a phone shows it as wide as it is')
  t.equal(page.text.match(/<!doctype/gi)?.length, 1)
  t.equal(page.text.match(/<title/gi)?.length, 1, 'its own stands for that of the HTML')
  const leave = /href="([^"]*\/unsubscribe\/[^"]*)"/.exec(page.text)?.[1] ?? ''
  t.match(whole, leave, 'the link of the mail')
  t.match((await get(leave)).text, /name="action" value="unsubscribe"/)
  t.match(page.headers.get('content-security-policy'), /default-src 'none'.*sandbox/)
  t.equal(page.headers.get('x-robots-tag'), 'noindex')
  t.same(await counts(), before)
  for (const url of [
    `${viewUrl.slice(0, -2)}AA`,
    `${publicUrl}/view/shown`,
    leave.replace('unsubscribe', 'view'),
  ]) {
    t.equal((await get(url)).status, 404, url)
  }
  const german = { 'accept-language': 'de-AT,de;q=0.9' }
  const cut = await get(`${viewUrl.slice(0, -2)}AA`, german)
  t.match(cut.text, /<html lang="de">[\s\S]*Hier ist keine E-Mail/)
  t.match((await get(`${publicUrl}/unsubscribe/x`, german)).text, /<html lang="de">/)
})

t.test('everybody sees it as somebody of whom nothing is known', async (t) => {
  const { archivePath } = await call('GET', '/v1/brand')
  shown.list = `${publicUrl}${archivePath}`
  const list = await get(shown.list)
  t.equal(list.status, 200)
  t.match(list.text, `<a href="${archivePath}/${shown.id}">A &amp; &lt;b&gt;</a>`)
  t.match(list.text, '<meta name="robots" content="noindex">')
  t.equal(list.headers.get('x-robots-tag'), 'noindex')
  const page = await get(`${shown.list}/${shown.id}`)
  t.match(page.text, 'Hello reader of  at <')
  t.match(page.text, /href="[^"]*\/unsubscribe\/shown"/)
  t.match(page.text, `href="${shown.list}/${shown.id}">In a browser`)
  t.match(page.text, '1 Main Street')
  t.notMatch(page.text, /ann|ibadan|x\.test|\/o\/|\/c\//i, 'nobody’s data, and nothing counts')
  t.match(
    page.headers.get('content-security-policy'),
    /default-src 'none'.*sandbox(?!.*allow-scripts)/,
  )
  t.notMatch(page.text + list.text, /[\u{F0000}-\u{F00FF}]/u)
})

t.test('a feed tells of it, and asks for nothing that is known', async (t) => {
  const feed = await get(`${shown.list}/feed.xml`)
  t.match(feed.headers.get('content-type'), /^application\/rss\+xml/)
  t.match(feed.text, '<title>A &amp; &lt;b&gt;</title>')
  t.match(feed.text, /<description>&amp;lt;i&amp;gt;New &amp;amp; ?&amp;lt;\/i&amp;gt; of town</)
  t.notMatch(feed.text, /\bann\b|ibadan/i)
  t.match(feed.text, `<guid isPermaLink="true">${shown.list}/${shown.id}</guid>`)
  const { sent_at } = await findBroadcast(store.read, accountId, shown.id)
  const time = new Date(sent_at ?? 0).toUTCString()
  t.match(feed.text, `<pubDate>${time}</pubDate>`)
  t.equal(feed.headers.get('last-modified'), time)
  const etag = feed.headers.get('etag') ?? ''
  t.equal((await get(`${shown.list}/feed.xml`, { 'if-none-match': etag })).status, 304)
  t.equal((await get(`${shown.list}/feed.xml`, { 'if-none-match': '"x"' })).status, 200)
})

/** What is wrong with a feed by https://www.rssboard.org/rss-specification. */
function feedFaults(text: string): string[] {
  const faults: string[] = []
  const expect = (fits: boolean, what: string) => {
    if (!fits) faults.push(what)
  }
  const valid = XMLValidator.validate(text)
  expect(valid === true, JSON.stringify(valid))
  const { rss } = new XMLParser({
    ignoreAttributes: false,
    parseTagValue: false,
    isArray: (name) => name === 'item',
  }).parse(text)
  expect(rss['@_version'] === '2.0', 'version')
  const { channel } = rss
  const isLink = (url: unknown) => typeof url === 'string' && /^https?:\/\/[^\s]+$/.test(url)
  const isTime = (time: unknown) =>
    typeof time === 'string' &&
    /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT$/.test(
      time,
    ) &&
    new Date(time).toUTCString() === time
  expect(channel.title !== '', 'title of the channel')
  expect(isLink(channel.link), 'link of the channel')
  expect(typeof channel.description === 'string', 'description of the channel')
  expect(/^[a-z]{2}(-[a-z]{2})?$/i.test(channel.language), 'language')
  expect(channel['atom:link']['@_href'] === `${channel.link}/feed.xml`, 'link to itself')
  const items = channel.item ?? []
  expect((channel.lastBuildDate === undefined) === (items.length === 0), 'last build')
  for (const { title, link, guid, pubDate } of items) {
    expect(title !== '', 'title of an item')
    expect(isLink(link), `link: ${link}`)
    expect(guid['@_isPermaLink'] === 'true' && guid['#text'] === link, `guid: ${guid['#text']}`)
    expect(isTime(pubDate), `time: ${pubDate}`)
    expect(Date.parse(pubDate) <= Date.parse(channel.lastBuildDate), 'the newest is the last build')
  }
  expect(
    new Set(items.map(({ link }: { link: string }) => link)).size === items.length,
    'once each',
  )
  return faults
}

t.test('feeds are RSS 2.0, whatever the subjects are', async (t) => {
  t.same(feedFaults((await get(`${shown.list}/feed.xml`)).text), [])
  const url = 'https://mail.example.com/a/one?x=1&y="2"'
  const of = { title: 'City & <Co>', url, language: 'en' }
  t.same(feedFaults(feedOf({ ...of, items: [] })), [])
  const titles = ['a]]>b', '<![CDATA[', '&amp;', '\u0000\u000b\ufffe\ud800x', '😀 "\'', ' ', '']
  const items = titles.map((title, n) => ({ title, url: `${url}/${n}`, sentAt: 1e12 - n }))
  const text = feedOf({ ...of, items })
  t.same(feedFaults(text), [])
  t.match(text, '<title>a]]&gt;b</title>')
})

t.test('search engines may list it where the account says so', async (t) => {
  const brand = await owner.get(`/a/${accountId}/brand`)
  t.match(brand.text, `href="${shown.list}"`)
  t.equal((await call('PATCH', '/v1/brand', { archiveListed: true })).archiveListed, true)
  const list = await get(shown.list)
  t.equal(list.headers.get('x-robots-tag'), null)
  t.notMatch(list.text, 'noindex')
  t.equal((await get(shown.viewUrl)).headers.get('x-robots-tag'), 'noindex', 'never a person’s own')
})

t.test('the list goes on by keys, the newest first', async (t) => {
  const { sent_at: sentAt } = await findBroadcast(store.read, accountId, shown.id)
  const row = await findBroadcast(store.read, accountId, shown.id)
  const made = Array.from({ length: 30 }, (_, at) => ({
    ...row,
    id: `00000000-0000-7000-8000-${String(at).padStart(12, '0')}`,
    subject: `Past ${at}`,
    // Two at each moment.
    sent_at: (sentAt ?? 0) - 1_000 - Math.floor(at / 2),
  }))
  await store.write(async (tx) => {
    for (const one of made) await tx.insertInto('broadcasts').values(one).execute()
  })
  const seen: string[] = []
  for (let url: string | undefined = shown.list; url !== undefined; ) {
    const { text } = await get(url)
    seen.push(
      ...[...text.matchAll(/">(Past \d+|A &amp;[^<]*)<\/a>/g)].map(([, name]) => name ?? ''),
    )
    const older: string | undefined = /href="([^"]*)" rel="next"/.exec(text)?.[1]
    url = older && `${publicUrl}${older}`
  }
  t.equal(seen.length, 31)
  t.equal(new Set(seen).size, 31)
  t.match(seen[0], /^A/)
  await store.write((tx) =>
    tx.deleteFrom('broadcasts').where('subject', 'like', 'Past %').execute(),
  )
})

t.test('what is gone by retention is said to be gone; the public page stays', async (t) => {
  await store.write((tx) =>
    tx.updateTable('emails').set({ body_id: null }).where('broadcast_id', '=', shown.id).execute(),
  )
  t.equal((await get(shown.viewUrl)).status, 410)
  t.equal((await get(`${shown.list}/${shown.id}`)).status, 200)
})

t.test('it is taken out by its page at any time, and of a suspended account all', async (t) => {
  const page = `/a/${accountId}/campaigns/${shown.id}`
  t.match((await owner.get(page)).text, /Remove it from the public page/)
  const suspend = (reason: string | null) =>
    store.write((tx) => tx.updateTable('subscriptions').set({ suspended_reason: reason }).execute())
  await suspend('spam')
  t.equal((await get(`${shown.list}/${shown.id}`)).status, 404)
  await suspend(null)
  t.equal((await get(`${shown.list}/${shown.id}`)).status, 200)
  t.equal((await owner.post(`${page}/archive`, {})).status, 303)
  for (const url of [
    shown.list,
    `${shown.list}/${shown.id}`,
    `${shown.list}/feed.xml`,
    shown.viewUrl,
  ]) {
    t.equal((await get(url)).status, 404, url)
  }
  t.equal((await call('PATCH', `/v1/broadcasts/${shown.id}`, { archive: true })).archive, true)
  t.equal((await get(shown.list)).status, 200, 'at the address that it had')
})

t.test('of several versions everybody sees the one that was chosen', async (t) => {
  const set = (values: object) =>
    store.write((tx) =>
      tx.updateTable('broadcasts').set(values).where('id', '=', shown.id).execute(),
    )
  const variant = { broadcast_id: shown.id, from_name: null, preview_text: null, blocks: null }
  await store.write(async (tx) => {
    for (const key of ['A', 'B']) {
      const row = { ...variant, key, subject: `Version ${key}`, body_id: null }
      await tx.insertInto('broadcast_variants').values(row).execute()
    }
  })
  await set({ variant_test: '{"share":20}', winner: 'B' })
  t.match((await get(shown.list)).text, 'Version B')
  t.match((await get(`${shown.list}/${shown.id}`)).text, '<title>Version B</title>')
})
