// Issue 44: a month of campaigns, by the reader's days.
import t from 'tap'
import { newUuid } from '../../../src/store/index.js'
import { insertCampaignRows } from '../../support/campaign-rows.js'
import { logIn } from '../../support/log-in.js'
import { startPosthorn } from '../../support/posthorn.js'

const posthorn = await startPosthorn(t)
const { store, accountId } = posthorn
const base = `/a/${accountId}`
const viewer = await logIn(posthorn, accountId, 'viewer')

/** What a day of the page says, as words. */
const dayOf = (page: string, day: number) =>
  page
    .match(new RegExp(`<td id="day-${day}"[^]*?</td>`))?.[0]
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

async function sentAt(time: string, subject: string) {
  const sent = Date.parse(time)
  const id = newUuid(sent)
  await insertCampaignRows(store, { id, accountId, mails: 1_200, subject, sentAt: sent })
  return id
}

t.test('a campaign stands on the day on which it was sent, by the reader’s clock', async (t) => {
  const id = await sentAt('2026-03-31T23:30:00Z', 'The <last> of March')
  const march = (await viewer.get(`${base}/campaigns/calendar?month=2026-03`)).text
  t.match(dayOf(march, 31), /23:30 The &lt;last&gt; of March Sent 1,200 people/)
  t.match(march, new RegExp(`href="${base}/campaigns/${id}"`))
  t.match(march, /<caption class="hidden">Campaigns in March 2026/)
  await store.write((tx) => tx.updateTable('users').set({ time_zone: 'Africa/Lagos' }).execute())
  const later = (await viewer.get(`${base}/campaigns/calendar?month=2026-03`)).text
  t.match(later, /No campaign in March 2026/)
  const april = (await viewer.get(`${base}/campaigns/calendar?month=2026-04`)).text
  t.match(dayOf(april, 1), /00:30 The/)
})

t.test('one that is scheduled is there; a draft and another account’s are not', async (t) => {
  const id = await sentAt('2026-06-10T09:00:00Z', 'To come')
  const change = (values: object) =>
    store.write((tx) => tx.updateTable('broadcasts').set(values).where('id', '=', id).execute())
  const scheduledAt = Date.parse('2026-06-12T08:00:00Z')
  const list = await posthorn.call('POST', '/v1/contacts/lists', { body: { name: 'Readers' } })
  await change({ sent_at: null, status: 'scheduled', scheduled_at: scheduledAt, audience: 7 })
  await change({ list_id: list.json.id })
  const page = async () => (await viewer.get(`${base}/campaigns/calendar?month=2026-06`)).text
  t.equal(dayOf(await page(), 12), 'Friday 12 June 12 09:00 To come Scheduled 7 people')
  // At 23:30 of everybody's own clock, which in Lagos is the next day in UTC+14 and has begun there.
  const own = { local_zone: 'Africa/Lagos', scheduled_at: Date.parse('2026-06-30T22:30:00Z') }
  await change({ ...own, sent_at: Date.parse('2026-06-30T09:30:00Z'), status: 'sending' })
  t.match(dayOf(await page(), 30), /^Tuesday 30 June 30 23:30 of their own clocks To come /)
  await change({ local_zone: null, sent_at: null })
  await change({ status: 'draft' })
  t.match(await page(), /No campaign in June 2026/)
})

t.test('a day with many has a page of them; what is no month is this one', async (t) => {
  for (let at = 0; at < 9; at++) await sentAt(`2026-05-05T0${at}:00:00Z`, `Number ${at}`)
  const may = (await viewer.get(`${base}/campaigns/calendar?month=2026-05`)).text
  t.match(dayOf(may, 5), /Number 3 .* 5 more$/)
  t.notMatch(dayOf(may, 5), /Number 4/)
  const all = (await viewer.get(`${base}/campaigns/calendar?month=2026-05&day=2026-05-05`)).text
  t.match(dayOf(all, 5), /Number 8/)
  for (const month of ['2026-13', '0000-01', '9999-12', "'", '2026-05-05']) {
    const page = await viewer.get(`${base}/campaigns/calendar?month=${encodeURIComponent(month)}`)
    t.equal(page.status, 200, month)
    t.match(page.text, /aria-current="date"/, 'today is in it')
  }
})
