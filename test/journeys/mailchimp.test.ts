// What a marketer who comes from Mailchimp does in the first week, as issue 43 has it: import, undo, choose, sign up, erase.
import t from 'tap'
import { systemClock as clock, pause } from '../../src/clock/index.js'
import { openAutomations } from '../support/automation-appliance.js'
import { logIn } from '../support/log-in.js'
import { shownForm } from '../support/shown-form.js'
import { linkTo } from '../support/signup-forms.js'
import { thoroughly } from '../support/thorough.js'

// A busy machine takes minutes for what takes seconds on an idle one.
t.setTimeout(thoroughly(300_000, 600_000))

// The header of Mailchimp's 'Export audience', and what its files of people who left have behind it.
const header =
  'Email Address,First Name,Last Name,Address,Phone Number,Birthday,MEMBER_RATING,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP,LATITUDE,LONGITUDE,GMTOFF,DSTOFF,TIMEZONE,CC,REGION,LAST_CHANGED,LEID,EUID,NOTES,TAGS'
const leftHeader = `${header},UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,UNSUB_CAMPAIGN_ID,UNSUB_REASON,UNSUB_REASON_OTHER`
const cleanedHeader = `${header},CLEAN_TIME,CLEAN_CAMPAIGN_TITLE,CLEAN_CAMPAIGN_ID`
const row = (email: string, name: string, { town = 'Lagos', rating = 2 } = {}) =>
  `${email},${name},Obi,"1 Main St  ${town} 23401 NG",,05/14,${rating},"2021-03-04 10:11:12",192.0.2.7,"2021-03-04 10:12:00",192.0.2.7,6.45,3.39,1,1,Africa/Lagos,NG,LA,"2026-01-02 03:04:05",123456789,a1b2c3d4e5,,"""${town}"",""VIP"""`

const crowd = thoroughly(300, 5_000)
const subscribed = [
  header,
  row('ann@x.test', 'Ann', { rating: 5 }),
  row('bob@x.test', 'Bob', { town: 'Jos', rating: 5 }),
  row('no address', 'Cy'),
  row('dan@x.test', 'Dan\u0007'),
  ...Array.from({ length: crowd }, (_, n) => row(`r${n}@x.test`, 'Reader')),
].join('\r\n')
const unsubscribed = `${leftHeader}\n${row('left@x.test', 'Lea')},"2025-05-01 09:00:12","Spring sale",abc123,"NORMAL",\n`
const cleaned = `${cleanedHeader}\n${row('gone@x.test', 'Gus')},"2025-06-01 09:00:12","Spring sale",abc123\n`

const news = { subject: 'News', html: '<p>Hello {{ firstName | default: "you" }}</p>' }
const start = (eventName: string) => ({ key: 'start', type: 'trigger', config: { eventName } })
const rig = await openAutomations(t)
const { posthorn } = rig
const { accountId, publicUrl, call } = posthorn
const member = await logIn(posthorn, accountId, 'member')
const base = `/a/${accountId}`

/** The campaign has thousands of mails, which a busy machine takes a minute for. */
const until = async <T>(look: () => Promise<T>, is: (seen: T) => boolean): Promise<T> => {
  let seen = await look()
  for (const end = Date.now() + 180_000; !is(seen) && Date.now() < end; seen = await look()) {
    await pause(clock, 30)
  }
  if (!is(seen)) throw new Error(JSON.stringify(seen).slice(0, 2_000))
  return seen
}

/** Uploads a file as the page has it, and imports it with what the page suggests. */
async function importByPage(name: string, text: string) {
  const body = new FormData()
  body.set('file', new Blob([text]), name)
  const taken = await member.post(`${base}/contacts/import`, body)
  t.equal(taken.status, 303, taken.text)
  const at = taken.to
  const page = await member.get(at)
  const suggested = shownForm(page.text)
  const agreed = { agreed: 'They signed up at Mailchimp', newList: '', list: '' }
  const list = (await call('GET', '/v1/contacts/lists')).json.lists[0]?.id
  const begun = await member.post(at, {
    ...suggested,
    ...agreed,
    ...(list === undefined ? { newList: 'Readers' } : { list }),
  })
  t.equal(begun.to, at, begun.text)
  const over = await until(
    () => member.get(at),
    ({ text: shown }) => />done<|>failed</.test(shown),
  )
  t.match(over.text, />done</)
  return { at, suggested, text: over.text }
}

const contactOf = async (email: string) =>
  (await call('GET', `/v1/contacts/all?q=${email}`)).json.contacts[0]
const getsMail = async (email: string) => {
  const { id } = await contactOf(email)
  return (await call('GET', `/v1/contacts/all/${id}`)).json.mail.marketing.gets
}

t.test(
  'three files of Mailchimp are imported as they are, and nobody who left is mailed',
  async (t) => {
    const left = await importByPage('unsubscribed_members_export.csv', unsubscribed)
    t.match(left.suggested, { 'use-0': 'email', 'use-1': 'firstName', 'use-23': 'unsubscribe' })
    t.match(left.suggested, { 'use-24': 'text', 'use-26': 'text' }, 'what only tells more of it')
    t.match((await importByPage('cleaned_members_export.csv', cleaned)).suggested, {
      'use-23': 'bounce',
    })
    t.notOk(await getsMail('left@x.test'))
    t.notOk(await getsMail('gone@x.test'))

    const first = await importByPage('subscribed_members_export.csv', subscribed)
    t.match(first.suggested, {
      'use-0': 'email',
      'use-1': 'firstName',
      'use-2': 'lastName',
      'use-4': 'phone',
      'use-6': 'text',
      'name-6': 'MEMBER_RATING',
    })
    const refused = (await member.get(`${first.at}/refused.csv`)).text.trim().split(/\r?\n/)
    t.equal(refused.length, 3)
    t.match(refused[1], /^4,.*is no email address.*,no address,Cy/)
    t.match(refused[2], /^5,"the first name has over 200 characters, or some that cannot be seen"/)
    t.match(await contactOf('ann@x.test'), {
      firstName: 'Ann',
      metadata: { MEMBER_RATING: '5', TAGS: '"Lagos","VIP"', CC: 'NG' },
    })

    await call('PATCH', `/v1/contacts/all/${(await contactOf('bob@x.test')).id}`, {
      body: { lastName: 'Changed' },
    })
    await member.post(`${first.at}/undo`)
    await until(
      () => member.get(first.at),
      ({ text }) => text.includes('>undone<'),
    )
    t.equal(await contactOf('ann@x.test'), undefined)
    t.match(
      await contactOf('bob@x.test'),
      { lastName: 'Changed' },
      'whom somebody has touched stays',
    )
    t.notOk(await getsMail('left@x.test'), 'another import is another')
    await importByPage('subscribed_members_export.csv', subscribed)
    t.ok(await getsMail('ann@x.test'))
  },
)

t.test('a segment of three conditions is made by the page, and filled', async (t) => {
  const made = await member.post(`${base}/segments/new`, {
    name: 'Best of Lagos',
    mode: 'all',
    field: ['contact.metadata.MEMBER_RATING', 'contact.metadata.TAGS', 'mailable'],
    operator: ['eq', 'contains', 'yes'],
    value: ['5', 'lagos', ''],
    group: ['0', '0', '0'],
  })
  t.equal(made.status, 303, made.text)
  const [segment] = (await call('GET', '/v1/segments')).json.segments
  const seen = await until(
    async () => (await call('GET', `/v1/segments/${segment.id}`)).json,
    ({ state }) => state !== 'filling',
  )
  t.match(seen, { count: 1, mailable: 1 })
  const { contacts } = (await call('GET', `/v1/segments/${segment.id}/members`)).json
  t.match(contacts, [{ email: 'ann@x.test' }])
})

t.test(
  'a stranger signs up by the embedded form without script, and it is known how',
  async (t) => {
    const list = (await call('GET', '/v1/contacts/lists')).json.lists[0].id
    const body = { name: 'Site', lists: [list], consent: 'News, please.', from: 'news@sender.test' }
    const { json: form } = await call('POST', '/v1/forms', { body })
    const snippet = (await member.get(`${base}/forms/${form.id}`)).text
    t.match(snippet, /&lt;form method=&quot;post&quot;/)
    const send = async (to: string, fields: Record<string, string>) => {
      const sent = { method: 'POST', body: new URLSearchParams(fields) }
      const answer = await fetch(new URL(to, publicUrl), sent)
      return await answer.text()
    }
    const path = new URL(form.address).pathname
    const asked = await send(path, { email: 'sue@y.test', agreed: 'yes' })
    t.equal(await contactOf('sue@y.test'), undefined)
    const [, action = path] = /<form[^>]* action="([^"]+)"/.exec(asked) ?? []
    // Nobody reads it faster.
    await pause(clock, 1_600)
    await send(action, shownForm(asked))
    const link = await linkTo(posthorn, 'sue@y.test')
    await fetch(link)
    t.equal(
      await contactOf('sue@y.test'),
      undefined,
      'a scanner that follows the link confirms nothing',
    )
    await send(new URL(link).pathname, {})
    const { id } = await contactOf('sue@y.test')
    t.match((await call('GET', `/v1/contacts/all/${id}`)).json.lists, [{ id: list }])
    const page = (await member.get(`${base}/contacts/${id}`)).text
    t.match(page, /Confirmed by mail by themselves[\s\S]*Form “Site”, version 1: News, please\./)
  },
)

t.test('whoever was erased is imported again and gets nothing', async (t) => {
  const list = (await call('GET', '/v1/contacts/lists')).json.lists[0].id
  await rig.template('hello')
  const config = { template: 'hello', from: 'us@sender.test' }
  const mailIt = [start('shopped'), { key: 'mail', type: 'send_email', config }]
  await rig.enabled('Shop', mailIt)
  const { json: erasure } = await call('POST', '/v1/contacts/erasures', {
    body: { address: 'ann@x.test' },
  })
  await until(
    async () => (await call('GET', `/v1/contacts/erasures/${erasure.id}`)).json,
    ({ state }) => state === 'done',
  )
  const again = await importByPage('again.csv', subscribed)
  t.match(again.text, /get no mail[\s\S]*erased on request<\/a> 1[\s\S]*no-mail.csv/)
  t.notOk(await getsMail('ann@x.test'))
  const { text: contacts } = await member.get(`${base}/contacts?q=ann@x.test`)
  t.match(contacts, /Gets none: erased on request/)
  const campaign = { listId: list, ...news, from: 'news@sender.test' }
  const { json: sent } = await call('POST', '/v1/broadcasts', { body: campaign })
  await until(
    async () => (await call('GET', `/v1/broadcasts/${sent.id}`)).json,
    ({ status }) => status === 'sent',
  )
  const told = await rig.event({ event: 'shopped', email: 'ann@x.test' })
  t.match(told.automations, [{ started: false, reason: 'suppressed' }])
  const mailsTo = async (address: string) =>
    (await call('GET', `/v1/emails?to=${address}`)).json.emails as { status: string }[]
  // Mails are entered by their recipients a little later, in their order.
  for (const address of ['bob@x.test', `r${crowd - 1}@x.test`]) {
    await until(
      () => mailsTo(address),
      (mails) => mails.length === 1,
    )
  }
  const emails = await mailsTo('ann@x.test')
  t.same(
    emails.filter(({ status }) => status !== 'suppressed'),
    [],
  )
})
