// Issue 44: the report of a campaign in pages, and the people behind each number.
import t from 'tap'
import { loadPlans, setMarketingPlan } from '../../../src/billing/index.js'
import { systemClock as clock } from '../../../src/clock/index.js'
import { packageFile } from '../../../src/config/index.js'
import { addContact } from '../../../src/contacts/index.js'
import { withClicks } from '../../../src/dashboard/campaigns/report-mail.js'
import { newUuid } from '../../../src/store/index.js'
import { insertCampaignRows } from '../../support/campaign-rows.js'
import { logIn } from '../../support/log-in.js'
import { startPosthorn } from '../../support/posthorn.js'
import { hostile, isTame } from '../account-pages.js'

t.setTimeout(60_000)

const posthorn = await startPosthorn(t)
const { store, accountId } = posthorn
const base = `/a/${accountId}`
const people: string[] = []
for (const name of ['ann', 'bob', 'cat']) {
  people.push(
    (await addContact({ store, clock }, accountId, { email: `${name}@x.test` })).contact.id,
  )
}
const sentAt = clock.now() - 7_200_000
const before = newUuid(sentAt - 1_000)
await insertCampaignRows(store, { id: before, accountId, subject: 'Last week', sentAt, mails: 500 })
const id = newUuid(sentAt)
await insertCampaignRows(store, {
  id,
  accountId,
  subject: hostile,
  sentAt,
  mails: 10_000,
  links: ['https://shop.test/sale', hostile],
  providers: ['Google', hostile],
  words: ['550 5.1.1 no such user', hostile],
  people,
})
const member = await logIn(posthorn, accountId, 'member')
const viewer = await logIn(posthorn, accountId, 'viewer')

t.test('every number has its share, machines apart, and leads to its people', async (t) => {
  const shown = await viewer.get(`${base}/campaigns/${id}/report`)
  t.equal(shown.status, 200)
  isTame(t, { ...shown, location: '' }, 'the report')
  t.match(shown.text, /who=delivered">Delivered<.*90\.0 %.*<b>9,000<\/b>/s)
  t.match(shown.text, /who=opened">Opened<.*33\.3 %.*machines: 2,000 times.*<b>3,000<\/b>/s)
  t.match(shown.text, /who=clicked&amp;link=1">3</)
  t.match(shown.text, /The mailbox does not exist.*550 5\.1\.1 no such user.*reason=1">4</s)
  t.match(shown.text, /this one.*Last week/s)
  t.match(shown.text, /<svg.*What servers did/s)
  t.ok(shown.text.length < 60_000, `${shown.text.length} bytes`)
  for (const [, href = ''] of shown.text.matchAll(/href="([^"]*\/report\/people[^"]*)"/g)) {
    t.equal((await viewer.get(href.replaceAll('&amp;', '&'))).status, 200, href)
  }
})

t.test('its people as a page and as a file, which is in the audit log', async (t) => {
  const at = `${base}/campaigns/${id}/report/people`
  t.match((await viewer.get(`${at}?who=opened`)).text, /ann@x\.test.*bob@x\.test/s)
  t.match((await viewer.get(`${at}?who=unreached`)).text, /cat@x\.test.*550 5\.1\.1 no such user/s)
  t.match((await viewer.get(`${at}?who=complained`)).text, /Nobody here/)
  t.equal((await viewer.get(`${at}?who=everybody`)).status, 400)
  t.equal((await viewer.get(`${at}?who=left&why=zzz`)).status, 400)
  t.match((await viewer.get(`${at}?who=left`)).text, /those among them who have come back since/)
  const opened = (await viewer.get(`${at}?who=opened`)).text
  t.match(opened, `href="${base}/contacts/${people[0]}">ann@x.test</a>`, 'the person')
  t.match(opened, /href="[^"]*\/emails\/[^"]*" aria-label="The mail to ann@x\.test"/)
  const csv = await member.get(`${base}/campaigns/${id}/report/people.csv?who=clicked&link=1`)
  t.match(csv.text, /^email,status,.*\r\nann@x\.test,delivered,.*\r\nbob@x\.test,/s)
  t.equal(csv.text.trim().split('\r\n').length, 3)
  const rows = await store.read.selectFrom('audit_log').select(['action', 'target']).execute()
  t.ok(rows.some((row) => row.action === 'broadcast.export' && row.target === id))
})

t.test('the numbers stand over the mail itself', async (t) => {
  const html =
    '<p><a href="https://shop.test/?a=1&amp;b=2">Sale</a> <a href="https://x.test/">X</a></p>'
  const shown = withClicks(html, new Map([['https://shop.test/?a=1&b=2', 1_200]]))
  t.match(shown, /^<p><a href="https:\/\/shop[^>]*><span style="[^"]*">1,200 people<\/span>Sale</)
  t.match(shown, /">0 people<\/span>X<\/a><\/p>$/)
  t.equal(withClicks('no links', new Map()), 'no links')
  const at = `${base}/campaigns/${id}/report/mail`
  t.match((await viewer.get(at)).text, /The content is deleted/)
  const body = { id: 0, html: `${html}<script>alert(1)</script>`, text: null }
  await store.write((tx) => tx.insertInto('bodies').values(body).execute())
  t.match((await viewer.get(at)).text, /<iframe[^>]*sandbox=/)
  const framed = await viewer.get(`${at}/html`)
  t.match(framed.text, /0 people/)
})

t.test('a segment is made of them, once, by who may', async (t) => {
  const plan = loadPlans(packageFile('config/plans.toml')).marketing.at(-1) ?? null
  await store.write((tx) => setMarketingPlan(tx, accountId, plan))
  const at = `${base}/campaigns/${id}/report`
  t.match((await member.get(`${at}/people?who=opened`)).text, /Make a segment of them/)
  t.notMatch((await member.get(`${at}/people?who=waiting`)).text, /Make a segment/)
  t.notMatch((await viewer.get(`${at}/people?who=opened`)).text, /Make a segment/)
  t.equal((await member.post(`${at}/segment`, { who: 'waiting' })).status, 422)
  const left = (await member.get(`${at}/people?who=left`)).text
  t.match(left, /Make a segment of them/)
  t.notMatch(left, /Send to those/, 'nothing more is sent to who has left')
  t.match((await member.get(`${at}/people?who=unreached`)).text, /Send to those/)
  const gone = await member.post(`${at}/segment`, { who: 'left' })
  t.match((await member.get(`${gone.to}/edit`)).text, /Left by the campaign/)
  const made = await member.post(`${at}/segment`, { who: 'opened' })
  t.equal(made.status, 303)
  for (;;) {
    const { text } = await member.get(made.to)
    if (/ann@x\.test/.test(text) && /bob@x\.test/.test(text)) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  t.notMatch((await member.get(made.to)).text, /cat@x\.test/)
  // Of a part of those behind a number too: here by link, reason and provider.
  const shown = (await member.get(at)).text
  t.match(shown, /who=delivered&amp;provider=Google">/)
  for (const [part, who] of [
    [{ link: '1' }, 'clicked'],
    [{ reason: '1' }, 'unreached'],
    [{ provider: 'Google' }, 'opened'],
  ] as const) {
    const [[name, value] = []] = Object.entries(part)
    const list = (await member.get(`${at}/people?who=${who}&${name}=${value}`)).text
    t.match(list, new RegExp(`name="${name}" value="${value}"[^]*Make a segment of them`))
    const segment = await member.post(`${at}/segment`, { who, ...part })
    t.equal(segment.status, 303, String(name))
    const edit = (await member.get(`${segment.to}/edit`)).text
    if (name === 'provider') t.match(edit, /Their mailbox provider, by the campaign “/)
    else t.match(edit, /written for the API/)
  }
  t.equal((await member.post(`${at}/segment`, { who: 'opened', provider: '*' })).status, 422)
})

t.test('whom a cancelled rest never went out to stands in the report', async (t) => {
  const stopped = newUuid(clock.now())
  const row = { id: stopped, accountId, subject: 'Stopped', mails: 9, hours: 1 }
  await insertCampaignRows(store, { ...row, sentAt: clock.now() - 600_000 })
  await store.write((tx) =>
    tx
      .updateTable('broadcasts')
      .set({ status: 'cancelled', audience: 300, cancelled: 1 })
      .where('id', '=', stopped)
      .execute(),
  )
  const at = `${base}/campaigns/${stopped}/report`
  const { text } = await member.get(at)
  t.match(text, /who=not_sent">Never sent<.*<b>292</s)
  const list = await viewer.get(`${at}/people?who=not_sent`)
  t.ok([200, 404, 503].includes(list.status), String(list.status))
  t.match(text, /The rest was cancelled before it went out to 292 people\./)
  t.match(text, 'It went out to 8 of 300 people')
  t.match(text, /who=unreached">Sent, but did not arrive</, 'the two do not contradict each other')
  t.notMatch(text, /who=cancelled/)
  const tabs = (await viewer.get(`${at}/people?who=bounced`)).text
  t.match(tabs, />Given up<.*>Left out<.*>Never sent</s)
  const own = (await viewer.get(`${base}/campaigns/${stopped}`)).text
  t.match(own, /Cancelled<\/dt>\s*<dd>1<.*Never made<\/dt>\s*<dd>291</s)
  const month = new Date(clock.now() - 600_000).toISOString().slice(0, 7)
  const calendar = await viewer.get(`${base}/campaigns/calendar?month=${month}`)
  t.match(calendar.text, '8 of 300 people')
  t.notMatch(text, /reached everybody/)
  t.notMatch((await viewer.get(at)).text, /Send to those/)
  t.match(text, /value="not_sent"><button>Send to those/)
})

t.test(
  'one that is sent says how far it is, and what is not the account’s is not there',
  async (t) => {
    const sending = newUuid(clock.now())
    const row = { id: sending, accountId, subject: 'On its way', mails: 5_000, hours: 1 }
    await insertCampaignRows(store, { ...row, sentAt: clock.now() - 600_000, status: 'sending' })
    const { text } = await viewer.get(`${base}/campaigns/${sending}/report`)
    t.match(text, /data-live/)
    t.match(text, /Being sent.*4,500 of 5,000 mails are done.*Left to send.*500.*an hour.*about/s)
    const late = newUuid(clock.now())
    await insertCampaignRows(store, { ...row, id: late, sentAt: clock.now(), status: 'sending' })
    const change = { rate: 100, recipients: 5, delivered: 4, waiting: 1, audience: 205 }
    await store.write((tx) =>
      tx.updateTable('broadcasts').set(change).where('id', '=', late).execute(),
    )
    const begun = (await viewer.get(`${base}/campaigns/${late}/report`)).text
    t.match(begun, 'it has just begun')
    const faster = { rate: 1_000_000, audience: 104_500, recipients: 4_501, waiting: 1 }
    const changeTo = (values: object) =>
      store.write((tx) =>
        tx.updateTable('broadcasts').set(values).where('id', '=', sending).execute(),
      )
    await changeTo(faster)
    const changed = async () => (await viewer.get(`${base}/campaigns/${sending}/report`)).text
    t.match(await changed(), /Time left[^<]*<\/dt>\s*<dd>about [67] minutes/, 'by its new rate')
    await changeTo({ status: 'paused', paused_by: 'account' })
    t.notMatch(await changed(), 'Time left')
    t.match(begun, /Time left.*about 121 minutes|Time left.*about 2 hours/s, 'by its own rate')
    const { accountId: other } = await posthorn.addAccount('Stranger')
    const stranger = await logIn(posthorn, other, 'owner')
    t.equal((await stranger.get(`/a/${other}/campaigns/${id}/report`)).status, 404)
    t.equal((await stranger.get(`/a/${other}/campaigns/${id}/report/people.csv`)).status, 404)
  },
)
