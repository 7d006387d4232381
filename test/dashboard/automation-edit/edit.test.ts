// Issue 47: an automation written by pages, without script.
import t from 'tap'
import { recipes } from '../../../src/automations/index.js'
import { openAutomationPages } from '../../support/automation-pages.js'
import { fieldsOf } from '../../support/editor-fields.js'

const pages = await openAutomationPages(t)
const { posthorn, base, owner, from } = pages
const call = async (method: string, path: string, body?: object) =>
  (await pages.ask(method, path, body)).json

/** Somebody with the editor of one automation before them. */
async function editor(path: string) {
  let html = (await owner.get(path)).text
  const draft = path.replace(/\/edit$/, '/edit/draft')
  const fields = () => fieldsOf(html)
  return {
    html: () => html,
    fields,
    async press(wish: string, typed: Record<string, string> = {}) {
      const got = await owner.post(draft, { ...fields(), ...typed, do: wish })
      html = got.text
      return html
    },
    async save(typed: Record<string, string> = {}) {
      const got = await owner.post(path, { ...fields(), ...typed })
      if (got.to === '') html = got.text
      else html = (await owner.get(path)).text
      return got
    },
  }
}

t.test('each recipe makes an automation that is right, and templates of its own', async (t) => {
  t.match(
    (await owner.get(`${base}/automations/new`)).text,
    /Welcome series[\s\S]*Abandoned basket/,
  )
  for (const { name, mails } of recipes) {
    const made = await owner.post(`${base}/automations/new`, { recipe: name, from, name: '' })
    t.equal(made.status, 303, made.text.slice(0, 400))
    const page = (await owner.get(made.to)).text
    const wrong = [...page.matchAll(/<p class="fault">([^<]*)/g)].map(([, says]) => says)
    t.ok(
      wrong.every((says) => /still tells you what|leads nowhere/.test(says ?? '')),
      name,
    )
    t.ok(Buffer.byteLength(page) < 60_000, `${name}: ${Buffer.byteLength(page)} bytes`)
    for (const { slug } of mails) t.equal((await call('GET', `/v1/templates/${slug}`)).slug, slug)
    const id = made.to.split('/').at(-2) ?? ''
    const enabled = await posthorn.call('POST', `/v1/automations/${id}/enable`)
    t.equal(enabled.status, 200, enabled.text)
  }
  const again = await owner.post(`${base}/automations/new`, {
    recipe: 'welcome',
    from,
    name: 'Mine',
  })
  t.equal(again.status, 303, again.text.slice(0, 300))
  const second = await call('GET', `/v1/automations/${again.to.split('/').at(-2)}`)
  t.match(JSON.stringify(second.steps), '"template":"welcome-1-2"', 'none is shared')
  const wrong = await owner.post(`${base}/automations/new`, {
    recipe: 'welcome',
    from: 'x',
    name: 'Mine',
  })
  t.equal(wrong.status, 422)
  t.match(wrong.text, /value="Mine"/, 'what was typed is kept')
})

t.test(
  'steps are added, changed, moved, copied and removed, and nothing typed is lost',
  async (t) => {
    const made = await owner.post(`${base}/automations/new`, { recipe: 'empty', from, name: 'Own' })
    const path = made.to
    const id = path.split('/').at(-2) ?? ''
    const it = await editor(path)
    t.match(it.html(), /Somebody joins a list|somebody joins a list/)
    await it.press('add:0.0', { 'kind.0.0': 'send_email' })
    t.match(it.html(), /Choose a template\./, 'what is not right stands at the step')
    const sender = /name="s\.from"[^>]*value="Shop &lt;news@sender\.test&gt;"/
    t.match(it.html(), sender, 'the sender that was chosen is that of its mails')
    const copy = await editor((await owner.post(path.replace(/edit$/, 'duplicate'), {})).to)
    t.match(await copy.press('add:0.0', { 'kind.0.0': 'send_email' }), sender, 'of a copy, too')
    await it.press('show:', { 's.template': 'welcome-1', 's.from': from, 's.name': 'Hello' })
    t.match(it.html(), /<iframe class="mail"/)
    await it.press('add:0.1', { 'kind.0.1': 'condition', name: 'Renamed' })
    t.match(it.html(), /The mail “Hello” was opened/)
    await it.press('show:', { field: 'email.mail.opened', operator: 'yes', value: '' })
    t.match(it.html(), /<legend>If yes<\/legend>[\s\S]*<legend>If no<\/legend>/)
    await it.press('add:0.2.0.-1', { 'kind.0.2.0.-1': 'delay' })
    await it.press('close:', { 's.how': 'for', 's.amount': '2', 's.unit': 'W' })
    t.match(it.html(), /Wait 2 weeks/)
    await it.press('copy:0.2.0.0')
    t.equal(it.html().split('Wait 2 weeks</legend>').length - 1, 2)
    await it.press('gone:0.2.0.1')
    await it.press('up:0.2')
    t.match(
      it.html(),
      /no connections lead|Condition|was opened|not right/,
      'asked before its mail',
    )
    await it.press('down:0.1')
    t.equal((await it.save()).status, 303)
    t.match(it.html(), /It is off/)
    const saved = await call('GET', `/v1/automations/${id}`)
    t.equal(saved.name, 'Renamed')
    t.match(saved.steps, [
      { key: 'start', type: 'trigger' },
      { key: 'mail', name: 'Hello', config: { template: 'welcome-1' } },
      { key: 'if', config: { all: [{ field: 'email.mail.opened', operator: 'eq', value: true }] } },
      { type: 'delay', config: { duration: 'P2W' } },
      { key: 'end', type: 'exit' },
    ])
    t.same(
      saved.connections
        .map(({ from, to, type }: Record<string, string>) => `${from} ${type} ${to}`)
        .sort(),
      [
        'if condition_met wait',
        'if condition_not_met end',
        'mail default if',
        'start default mail',
        'wait default end',
      ],
    )
  },
)

t.test('what is on goes on while its draft is written, and two at once are told', async (t) => {
  const made = await owner.post(`${base}/automations/new`, { recipe: 'review', from, name: 'Two' })
  const path = made.to
  const id = path.split('/').at(-2) ?? ''
  await call('POST', `/v1/automations/${id}/enable`)
  const one = await editor(path)
  const two = await editor(path)
  await one.press('open:0.1')
  t.equal((await one.save({ 's.amount': '9' })).status, 303)
  t.match(one.html(), /This is a draft/)
  t.match((await call('GET', `/v1/automations/${id}`)).steps[1].config, { duration: 'P7D' })
  await two.press('open:0.1')
  const refused = await two.save({ 's.amount': '11' })
  t.equal(refused.status, 422)
  t.match(refused.text, /id="newer"[\s\S]*Somebody else has changed this automation/)
  t.match(refused.text, /what they changed is gone; or take theirs, and what you typed is gone/)
  t.match(
    refused.text,
    /Save mine in its place[\s\S]*>Take theirs<[\s\S]*>Look at theirs in another/,
  )
  t.match(refused.text, /value="11"/, 'what was typed is kept')
  t.equal((await two.save({ over: 'on' })).status, 303)
  t.match(two.html(), /Wait 11 days/)
  t.equal((await owner.post(`${path}/discard`)).status, 303)
  t.match((await owner.get(path)).text, /Wait 1 week|Wait 7 days/)
})

t.test('a draft is put in force after a look, and who is in it is moved', async (t) => {
  const made = await owner.post(`${base}/automations/new`, {
    recipe: 'review',
    from,
    name: 'Force',
  })
  const path = made.to
  const here = path.replace(/\/edit$/, '')
  const id = here.split('/').at(-1) ?? ''
  const off = (await owner.get(here)).text
  t.match(off, /\/enable">Check it and turn it on/)
  t.notMatch(off, /\/pause"/, 'nothing runs')
  await pages.writeMails(id)
  const check = (await owner.get(`${here}/enable`)).text
  t.match(check, /All 4 steps fit together/)
  t.match(check, /order\.delivered” has never come/)
  t.match(check, /not within 30 days of the last time it began/)
  const revisionOf = (html: string) => / name="revision" value="([^"]*)"/.exec(html)?.[1] ?? ''
  const stale = await owner.post(`${here}/enable`, { revision: '1.1.1' })
  t.equal(stale.status, 422, 'somebody else has changed it')
  t.equal((await owner.post(`${here}/enable`, { revision: revisionOf(check) })).status, 303)
  t.equal((await call('GET', `/v1/automations/${id}`)).status, 'enabled')
  for (const name of ['ann', 'bob', 'eve']) {
    await call('POST', '/v1/events/send', { event: 'order.delivered', email: `${name}@x.test` })
  }
  const it = await editor(path)
  await it.press('open:0.1')
  t.equal((await it.save({ 's.amount': '9' })).status, 303)
  const asked = (await owner.get(`${here}/enable`)).text
  t.match(asked, /Put the draft in force/)
  t.equal((await owner.post(`${here}/enable`, { revision: revisionOf(asked) })).status, 303)
  t.match((await call('GET', `/v1/automations/${id}`)).steps[1].config, { duration: 'P9D' })
  const older = (await owner.get(`${here}/enable`)).text
  t.match(older, /3 people are in an older version/)
  t.equal((await owner.post(`${here}/move`, { version: '2' })).status, 303)
  t.notMatch((await owner.get(`${here}/enable`)).text, /Who is in an older version/)
  const { runs } = await call('GET', `/v1/automations/${id}/runs`)
  t.same(
    runs.map(({ version }: { version: number }) => version),
    [2, 2, 2],
  )
  const later = await editor(path)
  await later.press('open:0.3')
  t.equal((await later.save({ 's.template': '' })).status, 303)
  const broken = (await owner.get(`${here}/enable`)).text
  t.match(broken, /In the way[\s\S]*Choose a template/)
  t.notMatch(broken, /Put the draft in force/)
})

t.test(
  'it is tried as it is written, for one and for a list, and nothing is written',
  async (t) => {
    const made = await owner.post(`${base}/automations/new`, {
      recipe: 'basket',
      from,
      name: 'Try',
    })
    const path = made.to
    const at = path.replace(/\/edit$/, '/simulate')
    const it = await editor(path)
    await it.press('open:0.1')
    const typed = it.fields()
    const unsaved = { ...typed, 's.amount': '6', go: 'on', email: 'new@x.test', whom: '' }
    const never = await owner.post(at, unsaved)
    t.equal(never.status, 200)
    t.match(never.text, /As it is written now, which is not saved/)
    t.match(
      never.text,
      /Have they paid\?: it did not come[\s\S]*First reminder[\s\S]*You have left something/,
    )
    const world = { event: 'order.paid', after: '1', unit: 'H' }
    const paid = (await owner.post(at, { ...unsaved, ...world })).text
    t.match(paid, /it came\. Because “order\.paid” came/)
    t.notMatch(paid, /You have left something/)
    t.match(paid, /bought/)
    const back = (
      await owner.post(
        path.replace(/edit$/, 'edit/draft'),
        fieldsOf(paid.replace('class="card form"', 'id="editor"')),
      )
    ).text
    t.match(back, /6 hours|for 6/, 'the way back loses nothing')
    const { id: listId } = await call('POST', '/v1/contacts/lists', { name: 'Many' })
    for (const name of ['a', 'b', 'c']) {
      await call('POST', `/v1/contacts/${listId}`, { email: `${name}@many.test` })
    }
    const many = (await owner.post(at, { ...unsaved, whom: `list.${listId}` })).text
    t.match(many, /3 people looked at, 100 at most; it begins for 3 of them/)
    const wrong = await owner.post(at, { ...unsaved, email: 'nobody' })
    t.equal(wrong.status, 422)
    const { runs } = await call('GET', `/v1/automations/${path.split('/').at(-2)}/runs`)
    t.same(runs, [])
  },
)

t.test('one choice says what begins it, and of which list', async (t) => {
  const { id: listId } = await call('POST', '/v1/contacts/lists', { name: 'Readers' })
  const made = await owner.post(`${base}/automations/new`, { recipe: 'empty', from, name: 'Lists' })
  const id = made.to.split('/').at(-2) ?? ''
  const it = await editor(made.to)
  await it.press('open:0.0')
  t.match(it.html(), /<option value="\$list\.joined:[^"]*">Somebody joins Readers/)
  t.equal((await it.save({ 's.when': `$list.joined:${listId}` })).status, 303)
  const [start] = (await call('GET', `/v1/automations/${id}`)).steps
  t.match(start.config, {
    eventName: '$list.joined',
    filter: { all: [{ field: 'event.listId', operator: 'eq', value: listId }] },
  })
  await it.press('open:0.0')
  await it.press('show:', { 's.when': '$contact.date' })
  t.match(it.html(), /Which field has the date/, 'the button that follows the choice')
  const shown = await it.press('close:', {
    's.dateField': 'born',
    's.dateDays': '3',
    's.dateWay': 'before',
  })
  t.match(shown, /Each year, 3 days before “born”, at 09:00 where they are/)
})

t.test('what a mail is filled in with, its headers, and when an event ends it', async (t) => {
  const made = await owner.post(`${base}/automations/new`, { recipe: 'review', from, name: 'All' })
  const id = made.to.split('/').at(-2) ?? ''
  const it = await editor(made.to)
  await it.press('open:0.3')
  const typed = {
    's.variables': 'code = SPRING\r\ntotal = {{ trigger.total }}',
    's.headers': 'X-Shop: spring',
  }
  t.equal((await it.save(typed)).status, 303)
  const [, , , mail] = (await call('GET', `/v1/automations/${id}`)).steps
  t.same(mail.config.variables, { code: 'SPRING', total: { var: 'trigger.total' } })
  t.same(mail.config.headers, { 'X-Shop': 'spring' })
  await it.press('open:0.3')
  t.match(it.html(), /code = SPRING\ntotal = \{\{ trigger\.total \}\}/)
  t.match(
    await it.press('show:', { 's.headers': 'Date: today' }),
    /Headers: The header [^<]*Date[^<]* cannot be set/,
  )
  t.match(
    await it.press('show:', { 's.headers': '', 's.variables': 'trigger = 1' }),
    /every template has “trigger” already/,
  )
  await it.press('open:settings', { 's.variables': '' })
  await it.press('open:settings:exit:0', { 'w.exitOn': 'order.returned' })
  t.match(it.html(), /When “order\.returned” ends it/)
  await it.press('rule:add.0')
  await it.press('open:settings', { field: 'contact.email', operator: 'ends_with', value: '.org' })
  t.match(it.html(), /“order\.returned” counts only if Address/)
  t.equal((await it.save()).status, 303)
  t.match((await call('GET', `/v1/automations/${id}`)).settings, {
    exitOn: [
      {
        eventName: 'order.returned',
        filter: { all: [{ field: 'contact.email', operator: 'ends_with', value: '.org' }] },
      },
    ],
  })
})

t.test('no name is cut, and nobody sends from elsewhere', async (t) => {
  const long = 'n'.repeat(201)
  const refused = await owner.post(`${base}/automations/new`, { recipe: 'empty', from, name: long })
  t.equal(refused.status, 422)
  const elsewhere = { recipe: 'empty', from: 'Me <me@gmail.com>', name: 'Elsewhere' }
  const other = await owner.post(`${base}/automations/new`, elsewhere)
  t.equal(other.status, 422)
  t.match(other.text, /gmail\.com is none of your verified domains/)
  const made = await owner.post(`${base}/automations/new`, { recipe: 'empty', from, name: 'Short' })
  const it = await editor(made.to)
  t.equal((await it.save({ name: long })).status, 422)
  t.match(it.html(), new RegExp(`value="${long}"`))
  t.match(it.html(), /A name has 1 to 200 characters/)
  await it.press('open:0.1', { name: 'Short' })
  t.match(await it.press('show:', { 's.name': long }), /Name: 100 characters at most/)
})

t.test('a card is drawn to its place, and an end stays the end', async (t) => {
  const made = await owner.post(`${base}/automations/new`, { recipe: 'review', from, name: 'Draw' })
  const it = await editor(made.to)
  const titles = () =>
    [...it.html().matchAll(/<fieldset class="card block" id="[^"]*"[^>]*><legend>([^<]*)/g)].map(
      ([, title]) => title,
    )
  const before = titles()
  await it.press('move:0.3:1')
  t.same(titles(), [before[0], before[3], before[1], before[2]])
  await it.press('move:0.1:0')
  t.same(
    titles(),
    [before[0], before[3], before[1], before[2]],
    'nothing stands above the beginning',
  )
})

t.test('hostile names and payloads stay text', async (t) => {
  const evil = '"><script>alert(1)</script>'
  const made = await owner.post(`${base}/automations/new`, { recipe: 'empty', from, name: evil })
  const it = await editor(made.to)
  await it.press('add:0.0', { 'kind.0.0': 'exit' })
  const html = await it.press('show:', { 's.name': evil, 's.reason': evil })
  t.notMatch(html, /<script>alert/)
  t.match(html, /Nobody comes here/)
  const bare = await owner.post(`${made.to}/draft`, {
    outline: '[[[',
    open: '0.0.9.9',
    do: 'gone:9.9',
  })
  t.equal(bare.status, 422)
})

t.test('each limit of the engine is said in the form, before anything is saved', async (t) => {
  const made = await owner.post(`${base}/automations/new`, {
    recipe: 'empty',
    from,
    name: 'Limits',
  })
  const it = await editor(made.to)
  const open = it.html()
  for (const said of [
    '200 characters at most',
    'of at most 100 steps',
    'at most 1,000 steps, gets at most 100 mails',
    'at most 400 days',
    'a wait of a minute or more',
    '5 deep at most',
    '256 KiB',
  ]) {
    t.match(open, said)
  }
  const card = async (kind: string) => await it.press('add:0.0', { 'kind.0.0': kind })
  const of: Record<string, readonly string[]> = {
    send_email: [
      'one line of 100 characters at most',
      'at most 998 letters',
      'At most 10 addresses',
      'At most 25, each of 4 KiB, and 16 KiB together',
      '16 KiB at most',
      'at most 100 mails each time',
    ],
    delay: ['A whole number, and at most 90 days'],
    wait_for_event: ['A whole number, and at most 90 days', 'at most 100. Those that came'],
    condition: ['1 of at most 50 conditions; a value has at most 200 characters'],
    contact_update: ['One line of at most 200 characters', '16 KiB at most'],
    split: ['Two to twenty ways'],
    exit: ['200 characters at most, in one line'],
  }
  for (const [kind, says] of Object.entries(of)) {
    const html = await card(kind)
    for (const said of says) t.match(html, said, kind)
  }
  const trigger = await it.press('open:0.0')
  t.match(trigger, 'more than 20 times in an hour')
  const again = await it.press('show:', { 's.reentry': 'after' })
  t.match(again, 'a whole number, and ten years at most')
  const dated = await it.press('show:', { 's.when': '$contact.date' })
  t.match(dated, 'at most 64 letters, digits, _ and -')
  t.match(dated, '0 is the day itself; at most 365')
  const whole = await it.press('open:settings')
  t.match(whole, '20 at most, each of 1 to 100 letters')
  t.match(whole, 'A whole number, 1 or more')
  t.match(whole, 'Two different times')
  const trial = (await owner.get(made.to.replace(/edit$/, 'simulate'))).text
  t.match(trial, 'at most 10 years from now')
  t.match(trial, 'At most 20 events')
  t.match((await owner.get(`${base}/events`)).text, '1 to 100 letters, digits')
})
