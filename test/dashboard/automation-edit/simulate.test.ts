// Issue 47: the page that tries an automation speaks of what its form asks for.
import t from 'tap'
import { findSenderDomain } from '../../../src/domains/index.js'
import { setSwitches, unseenOf } from '../../../src/tracking/index.js'
import { openAutomationPages } from '../../support/automation-pages.js'
import { fieldsOf } from '../../support/editor-fields.js'
import { eventually } from '../../support/eventually.js'

const pages = await openAutomationPages(t)
const { posthorn, base, owner, from, call } = pages
const { id: listId } = await call('POST', '/v1/contacts/lists', { name: 'Readers' })
for (const [name, firstName] of Object.entries({ ann: 'Rae 21', bob: 'Bob' })) {
  await call('POST', `/v1/contacts/${listId}`, { email: `${name}@readers.test`, firstName })
}
const making = { recipe: 'welcome', from, name: 'Hello', list: listId }
const at = (await owner.post(`${base}/automations/new`, making)).to.replace(/edit$/, 'simulate')
const trying = { go: 'on', email: 'ann@readers.test', whom: '', payload: '' }

t.test('the list that begins it need not be said', async (t) => {
  const one = (await owner.post(at, trying)).text
  t.notMatch(one, /does not begin/)
  t.match(one, /Welcome: the mail is sent/)
  t.match(one, /action="[^"]*simulate#told"[\s\S]*<h2 id="told" tabindex="-1">What happens/)
  const many = (await owner.post(at, { ...trying, whom: `list.${listId}` })).text
  t.match(many, /2 people looked at, 100 at most; it begins for 2 of them/)
  const id = at.split('/').at(-2)
  const asked = { email: 'ann@readers.test' }
  const told = await call('POST', `/v1/automations/${id}/simulate`, asked)
  t.match(told, { refused: [], runs: [{ status: 'completed' }] })
  t.match(JSON.stringify(told), /Hello Rae 21,/, 'the recipe greets by name, as a campaign would')
  const other = await owner.post(at, { ...trying, payload: 'listId = another' })
  t.match(other.text, /It does not begin for them on [^<]*\. Its condition does not let them in\./)
})

t.test('100 people of a segment go through what a segment begins', async (t) => {
  const rule = { field: 'contact.email', operator: 'ends_with', value: 'readers.test' }
  const segment = await call('POST', '/v1/segments', { name: 'Ours', rule })
  const members = async () => await call('GET', `/v1/segments/${segment.id}/members`)
  await eventually(async () => (await members()).contacts?.length === 2, 60_000)
  const made = await owner.post(`${base}/automations/new`, {
    recipe: 'win-back',
    from,
    name: 'Back',
  })
  t.equal(made.status, 303, made.text.slice(0, 300))
  const page = made.to.replace(/edit$/, 'simulate')
  const told = (await owner.post(page, { ...trying, whom: `segment.${segment.id}` })).text
  t.match(told, /2 people looked at, 100 at most; it begins for 2 of them/)
  const both = { segmentId: segment.id, listId }
  const refused = await posthorn.call(
    'POST',
    `/v1/automations/${page.split('/').at(-2)}/simulate`,
    {
      body: both,
    },
  )
  t.equal(refused.status, 400, refused.text)
})

t.test('what is no number and no year is refused, and sentences are whole', async (t) => {
  const slip = { ...trying, event: 'order.paid', after: 'abc', unit: 'D' }
  const refused = await owner.post(at, slip)
  t.equal(refused.status, 422)
  t.match(refused.text, /event 1: “abc” is not how long after the beginning/)
  const year = await owner.post(at, { ...trying, at: '0001-01-01T09:00' })
  t.equal(year.status, 422)
  t.match(year.text, /Choose a day and a time at most 10 years from now/)
  const clicked = (await owner.post(at, { ...trying, clicked: 'welcome-1' })).text
  t.match(clicked, /Have they clicked in the first\?: yes/)
  t.match(clicked, /Because “Welcome” was clicked in: yes[;.]/)
  t.match(clicked, /Wait 3 days: the wait is over/)
  t.match(clicked, /On [^<]* they come to the end\./)
  t.notMatch(clicked, /are sent the mail|are through|email\.welcome-1/)
})

t.test('a trial sees no open or click that nobody would see, and says what is off', async (t) => {
  const { id, page } = await pages.made({ recipe: 'welcome', name: 'Blind', list: listId })
  const { outline = '' } = fieldsOf((await owner.get(`${page}/edit`)).text)
  t.notMatch((await owner.get(`${page}/enable`)).text, /cannot be seen/, 'recipes ask for clicks')
  const of = (change: (outline: string) => string) => ({
    ...trying,
    outline: change(outline.replaceAll(/(email\.welcome-1[^.]*)\.clicked/g, '$1.opened')),
    name: 'Blind',
    revision: '',
    opened: 'welcome-1',
    clicked: 'welcome-1',
  })
  const template = /"template":"(welcome-1[^"]*)"/.exec(outline)?.[1] ?? ''
  const says = async (shown: RegExp, answer: 'yes' | 'no', change = (one: string) => one) => {
    for (const whom of ['', `list.${listId}`]) {
      const { text } = await owner.post(`${page}/simulate`, { ...of(change), whom })
      const told =
        whom === ''
          ? new RegExp(`Because “Welcome” was opened: ${answer}[;.]`)
          : new RegExp(`Have they clicked in the first\\?</[^<]*<td[^>]*>2 ${answer}<`)
      t.match(text, told, `${shown} ${whom}`)
      if (answer === 'yes') t.notMatch(text, /cannot be seen|nobody sees it/)
      else t.match(text, new RegExp(`They open “Welcome”, but nobody sees it: ${shown.source}`))
      if (answer === 'no')
        t.match(text, new RegExp(`Opens of “Welcome” cannot be seen: ${shown.source}`))
    }
  }
  await says(/the mail has no picture and so few words/, 'no')
  const html = '<p>Hello</p><img src="https://sender.test/a.png" alt="">'
  await call('PATCH', `/v1/templates/${template}`, { html })
  await says(/nothing/, 'yes')
  const asOrder = (one: string) =>
    one.replace(`"template":"${template}"`, `"template":"${template}","type":"transactional"`)
  await says(/the mail is something they must know, and opens of such mail/, 'no', asOrder)
  const { accountId } = pages
  await setSwitches(pages, { accountId }, { opens: false })
  await says(/counting opens is off in the settings of this account/, 'no')
  await setSwitches(pages, { accountId }, { opens: null })
  const { id: domainId = '' } =
    (await findSenderDomain(pages.store.read, accountId, 'sender.test')) ?? {}
  await setSwitches(pages, { domainId }, { opens: false, clicks: false })
  await says(/counting opens is off for the domain sender\.test/, 'no')
  const clicks = await owner.post(`${page}/simulate`, { ...trying, clicked: 'welcome-1' })
  t.match(clicks.text, /Have they clicked in the first\?: no/)
  t.match(clicks.text, /They click in “Welcome”, but nobody sees it: counting clicks is off for/)
  const byApi = async (whom: object) => {
    const body = { ...whom, clicks: { [key]: '1m' } }
    return await pages.call('POST', `/v1/automations/${id}/simulate`, body)
  }
  const key = /"key":"(welcome-1[^"]*)"/.exec(outline)?.[1] ?? ''
  const unseen = [{ step: key, deed: 'clicked', why: 'domain' }]
  const blind = await byApi({ email: 'ann@x.test' })
  t.same(blind.unseen, unseen, 'by the API as on the page')
  t.match(blind.lines.find((one: { step: string }) => one.step === 'clicked')?.result, 'not_met')
  const blindCrowd = await byApi({ listId })
  t.same(blindCrowd.unseen, unseen)
  t.same(blindCrowd.steps.clicked, { not_met: 2 })
  t.match(
    (await owner.get(`${page}/enable`)).text,
    /Clicks in “Welcome” cannot be seen: counting clicks is off for the domain sender\.test\./,
  )
  await setSwitches(pages, { domainId }, { opens: null, clicks: null })
  t.match(await byApi({ listId }), { unseen: [], steps: { clicked: { met: 2 } } })
  const mail = { domainId, html, type: 'marketing' } as const
  const off = { opens: false, clicks: true }
  t.same(await unseenOf(pages.store.read, mail, off), { opened: 'settings', clicked: undefined })
  const nowhere = { opened: 'unreachable', clicked: 'unreachable' }
  t.same(await unseenOf(pages.store.read, mail, undefined), nowhere)
})

t.test('a mail is opened and clicked in minutes after it came, if somebody says so', async (t) => {
  const { page } = await pages.made({ recipe: 'basket', name: 'Quick' })
  const { outline = '' } = fieldsOf((await owner.get(`${page}/edit`)).text)
  const written = outline.replaceAll('order.paid', '$email.opened')
  const asked = { ...trying, outline: written, name: 'Quick', revision: '', opened: 'basket-1' }
  const at = `${page}/simulate`
  const begin = { at: '2027-01-01T09:00' }
  await call('PATCH', '/v1/templates/basket-1', {
    html: '<p>Hi</p><img src="https://a.test/a.png">',
  })
  const soon = await owner.post(at, { ...asked, ...begin, openedAfter: '5', openedUnit: 'M' })
  t.match(soon.text, /13:05:00[^<]*<\/b> Have they paid now\?: it came/)
  t.match(soon.text, /name="openedAfter"[^>]*value="5"/)
  const usual = (await owner.post(at, { ...asked, ...begin })).text
  t.match(usual, /14:00:00[^<]*<\/b> Have they paid now\?: it came/)
  const slip = await owner.post(at, { ...asked, openedAfter: 'soon', openedUnit: 'M' })
  t.equal(slip.status, 422)
  t.match(slip.text, /“soon” is not how long after it came/)
})

t.test('who may only read may try it, and is offered nothing to write', async (t) => {
  const viewer = await pages.as('viewer')
  t.match((await viewer.get(at.replace('/simulate', ''))).text, /\/simulate">Try it/)
  const told = await viewer.post(at, trying)
  t.equal(told.status, 200)
  t.match(told.text, /Welcome: the mail is sent/)
  t.notMatch(told.text, /Write it/)
})

t.test('what begins on a date begins on it, for who has one', async (t) => {
  const making = { recipe: 'birthday', from, name: 'Birthdays', dateField: 'birthday' }
  const made = await owner.post(`${base}/automations/new`, making)
  t.equal(made.status, 303, made.text.slice(0, 300))
  const fields = (await call('GET', '/v1/contact-fields')).fields
  t.match(fields, [{ name: 'birthday', type: 'date' }], 'forms and imports ask for it')
  t.match((await owner.get(made.to)).text, /Each year, on the day of “birthday”, at 09:00/)
  const page = made.to.replace(/edit$/, 'simulate')
  const none = (await owner.post(page, trying)).text
  t.match(none, /It does not begin for them[^<]*\. The field that it goes by has no day for them/)
  const year = new Date().getUTCFullYear() + 1
  const at = `${year}-01-10T00:00`
  const told = (await owner.post(page, { ...trying, at, date: '1990-03-05' })).text
  t.match(told, new RegExp(`5 Mar ${year}, 09:00:00[\\s\\S]*Congratulations: the mail is sent`))
  const id = made.to.split('/').at(-2)
  const contact = { email: 'leap@readers.test', metadata: { birthday: '1992-02-29' } }
  await call('POST', `/v1/contacts/${listId}`, contact)
  const asked = { email: contact.email, at: '2027-01-01T00:00:00Z' }
  const { runs } = await call('POST', `/v1/automations/${id}/simulate`, asked)
  t.match(runs, [{ startedAt: '2027-02-28T09:00:00.000Z', status: 'completed' }])
  const many = { listId, at: asked.at }
  const counts = await call('POST', `/v1/automations/${id}/simulate`, many)
  t.match(counts, { contacts: 3, started: 1, refused: { no_date: 2 } })
})

t.test(
  'who has something else than a day in the field is told before, with examples',
  async (t) => {
    const { id, page } = await pages.made({ recipe: 'birthday', name: 'Days' })
    const { id: some } = await call('POST', '/v1/contacts/lists', { name: 'Some' })
    for (const [name, birthday] of [
      ['one', 'tomorrow'],
      ['two', '31/12/1990'],
      ['three', 1990],
      ['four', ''],
      ['five', '--03-05'],
    ] as const) {
      const contact = { email: `${name}@days.test`, metadata: { birthday } }
      await call('POST', `/v1/contacts/${some}`, contact)
    }
    const says =
      /3 contacts have something else than a day in “birthday”, such as “[^”]+” \(\w+@days\.test\), /
    const check = (await owner.get(`${page}/enable`)).text
    t.match(check, says)
    t.match(check, /Of \d+ contacts 2 have a day in “birthday”\./)
    t.match(check, /goes through it each year, and never twice in a year/)
    t.match((await owner.get(`${page}/simulate`)).text, says)
    const one = await owner.post(`${page}/simulate`, { ...trying, email: 'two@days.test' })
    t.match(
      one.text,
      /It does not begin for them on [^<]*\. What stands in the field that it goes by is no day/,
    )
    const many = await owner.post(`${page}/simulate`, { ...trying, whom: `list.${some}` })
    t.match(many.text, /it begins for 1 of them/)
    t.match(many.text, /Not for 3 people: What stands in the field that it goes by is no day/)
    t.match(many.text, /Not for 1 person: The field that it goes by has no day for them/)
    const counts = await call('POST', `/v1/automations/${id}/simulate`, { listId: some })
    t.match(counts, { started: 1, refused: { unreadable_date: 3, no_date: 1 } })
    const { refused } = await call('POST', `/v1/automations/${id}/simulate`, {
      email: 'one@days.test',
    })
    t.match(refused, [{ reason: 'unreadable_date' }])
  },
)

t.test('events have a row as they are needed', async (t) => {
  const rows = (html: string) => html.match(/aria-label="Event \d+"/g)?.length
  t.equal(rows((await owner.get(at)).text), 1)
  const typed = { ...trying, go: '', event: ['order.paid', ''], after: ['2', ''], unit: ['D', 'D'] }
  const more = (await owner.post(at, typed)).text
  t.equal(rows(more), 2)
  t.match(more, /value="order\.paid"/)
})
