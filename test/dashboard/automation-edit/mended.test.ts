// Issue 47: what the editor tells of faults, of mails of one name, of opens that nobody sees, and of what arrives.
import t from 'tap'
import { openAutomationPages } from '../../support/automation-pages.js'
import { fieldsOf } from '../../support/editor-fields.js'

const pages = await openAutomationPages(t)
const { base, owner, from } = pages
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

/** Where an answer leads, with what it says there once. */
async function shownAfter({ headers, to }: { headers: Headers; to: string }) {
  const said = headers.getSetCookie().map((one) => one.split(';')[0])
  return (await owner.get(to, { cookie: [owner.cookie, ...said].join('; ') })).text
}

t.test('what is not right is open after a save, and where the check leads', async (t) => {
  const { id, edit, page } = await pages.made({ recipe: 'basket', name: 'Faulty' })
  const it = await editor(edit)
  await it.press('open:0.1.1.0')
  const got = await it.save({ 's.template': '' })
  t.equal(got.to, `${edit}?open=0.1.1.0#open`)
  const after = (await owner.get(got.to)).text
  t.match(
    after,
    /<fieldset class="card block" id="open" tabindex="-1"><legend>First reminder<[\s\S]{0,300}<p class="fault">Choose a template[\s\S]*<select id="field-s\.template"/,
  )
  // The one that is open stays so only if something is wrong with it.
  await it.press('open:0.0')
  t.equal((await it.save()).to, `${edit}?open=0.1.1.0#open`)
  const check = (await owner.get(`${page}/enable`)).text
  t.match(check, new RegExp(`href="${edit}\\?open=0\\.1\\.1\\.0#open"`))
  await it.press('open:0.1.1.0')
  await it.press('open:settings', { 's.template': 'basket-1' })
  const goal = await it.save({ 'w.goal': 'not a name' })
  t.equal(goal.to, `${edit}?open=settings#whole`)
  t.match((await owner.get(goal.to)).text, /name="w\.goal"[^>]*value="not a name"/)
  t.match(await call('GET', `/v1/automations/${id}`), { settings: {} }, 'it is a draft alone')
})

t.test('a subject that cannot be read is told at its step, and never sent', async (t) => {
  const { id, edit, page } = await pages.made({ recipe: 'review', name: 'Subjects' })
  const it = await editor(edit)
  const place = /value="open:([\d.]+)"[^>]*>[^<]*The question/.exec(it.html())?.[1] ?? '0.3'
  await it.press(`open:${place}`)
  const told = /Subject: what stands in \{\{ … \}\} cannot be read, from letter 1 on/
  t.match(await it.press('show:', { 's.subject': '{{ broken' }), told)
  t.equal((await it.save({ 's.subject': '{{ broken' })).to, `${edit}?open=${place}#open`)
  t.match(it.html(), told)
  const check = (await owner.get(`${page}/enable`)).text
  t.match(check, /In the way[\s\S]*Subject: what stands in/)
  t.notMatch(check, /<button[^>]*>Turn it on</)
  const { errors, revision } = await call('GET', `/v1/automations/${id}/draft`)
  t.match(errors, [
    { key: 'review-1', error: /^subject: Expected Liquid.* the tag \{\{ broken has no end/ },
  ])
  const forced = await pages.ask('POST', `/v1/automations/${id}/draft/enable`, { revision })
  t.equal(forced.status, 422, forced.text)
  const tried = await owner.post(`${page}/simulate`, {
    go: 'on',
    email: 'a@x.test',
    payload: '',
    whom: '',
  })
  t.match(
    tried.text,
    /The question: it fails\.[\s\S]*The mail cannot be made, so nothing comes after it/,
  )
  t.notMatch(tried.text, /The mail is sent|come to the end/)
  const kept = await call('GET', `/v1/automations/${id}`)
  const steps = kept.steps.map((step: { type: string; config: object }) =>
    step.type === 'send_email'
      ? { ...step, config: { ...step.config, subject: '{% if %}' } }
      : step,
  )
  for (const [method, path] of [
    ['POST', ''],
    ['PATCH', `/${id}`],
  ] as const) {
    const body = { name: 'Broken', steps, connections: kept.connections }
    const refused = await pages.ask(method, `/v1/automations${path}`, body)
    t.match(refused, { status: 422, json: { errors: [{ key: 'review-1', error: /^subject: / }] } })
  }
})

t.test('what is no line of a name and a value is told, and nothing of it is lost', async (t) => {
  const { id, edit } = await pages.made({ recipe: 'empty', name: 'Lines', list: 'any' })
  const it = await editor(edit)
  await it.press('add:0.0', { 'kind.0.0': 'contact_update' })
  const typed = async (fields: string, more: Record<string, string> = {}) =>
    await it.press('show:', { 's.fields': fields, ...more })
  const stray = await typed('plan = pro\njunk\n=x')
  t.match(stray, /Fields: “junk” is no name = value/)
  t.match(stray, /<textarea[^>]*name="s\.fields"[^>]*>\n?plan = pro\njunk\n=x<\/textarea>/)
  t.match(await typed(`${'k'.repeat(101)} = 1`), /Fields: nothing may be called “k+”/)
  t.match(await typed('plan = {{ broken'), /Fields: in the line “plan” a \{\{ … \}\} stands alone/)
  t.match(await typed('plan = {{ nothing }}'), /Fields: in the line “plan” a \{\{/)
  t.match(
    await typed('plan = pro', { 's.firstName': '{{ broken' }),
    /First name: a \{\{ … \}\} stands alone/,
  )
  t.notMatch(
    await typed('plan = {{ trigger.plan }}\nLast order = ', { 's.firstName': '' }),
    /class="fault"/,
  )
  const { steps } = await call('GET', `/v1/automations/${id}/draft`)
  t.match(steps[1].config, { metadata: { plan: { var: 'trigger.plan' }, 'Last order': '' } })
  await it.press('add:0.1', { 'kind.0.1': 'send_email' })
  const mail = { 's.template': 'review-1', 's.variables': 'a = {{ b\nnoequals' }
  t.match(await it.press('show:', mail), /filled in with: “noequals” is no name = value/)
  t.match(
    await it.press('show:', { 's.variables': 'a = {{ b' }),
    /filled in with: in the line “a” a \{\{ … \}\} stands alone/,
  )
})

t.test('steps that did not come whole are refused, and the draft stays', async (t) => {
  const { id, edit, page } = await pages.made({ recipe: 'basket', name: 'Cut' })
  const it = await editor(edit)
  await it.press('gone:0.1.1.1')
  const read = async () => await call('GET', `/v1/automations/${id}/draft`)
  const before = await read()
  t.equal(before.isDraft, true)
  const whole = it.fields().outline ?? ''
  for (const outline of [whole.slice(0, -9), `${whole}x`, '{"lists":[[1]]}', '{}', 'null'])
    for (const path of [edit, `${edit}/draft`, `${page}/simulate`]) {
      const got = await owner.post(path, { ...it.fields(), outline, do: 'close:', next: '' })
      t.equal(got.status, 422, `${path} ${outline.slice(0, 20)}`)
      t.match(got.text, /The steps did not come whole, so nothing was kept/)
      if (path !== `${page}/simulate`) t.match(got.text, /First reminder/, 'what was kept is shown')
    }
  t.same(await read(), before)
})

t.test(
  'a sender that is none is told at its step, also by a button that came too late',
  async (t) => {
    const { id, edit, page } = await pages.made({ recipe: 'basket', name: 'Sender' })
    await pages.writeMails(id)
    const it = await editor(edit)
    await it.press('open:0.1.1.0')
    const got = await it.save({ 's.from': 'Shop <news@gone.test>' })
    t.equal(got.to, `${edit}?open=0.1.1.0#open`, 'the card is open')
    const html = (await owner.get(got.to)).text
    t.match(
      html,
      /One thing is not right yet[\s\S]*<a href="#open">“[^<]*First reminder[^<]*<[\s\S]*gone\.test/,
      'the way to its card',
    )
    const elsewhere = await it.press('open:0.0')
    t.match(elsewhere, /<li><a href="#block-0\.1\.1\.0">[\s\S]*id="block-0\.1\.1\.0" tabindex="-1"/)
    const says = 'From: gone\\.test is none of your verified domains'
    t.match(html, new RegExp(`<legend>First reminder<[\\s\\S]{0,300}<p class="fault">${says}`))
    const check = (await owner.get(`${page}/enable`)).text
    t.match(check, new RegExp(`“First reminder”: ${says}`))
    const { revision = '' } = it.fields()
    const late = await owner.post(`${page}/enable`, { revision })
    t.equal(late.status, 422)
    t.match(
      late.text,
      new RegExp(`It is not turned on\\. [^<]*“[^”]*First reminder[^”]*”: ${says}`),
    )
    t.notMatch(late.text, /is not valid|step &quot;|The sending domain/)
    const junk = await owner.post(`${base}/automations/new`, {
      recipe: 'basket',
      name: 'x',
      from: 'junk',
    })
    t.equal(junk.status, 422)
    t.match(
      junk.text,
      /id="field-from-fault"[^>]*>Write an address such as news@shop\.example|Write an address such as/,
    )
    t.notMatch(junk.text, /is not valid: step/)
  },
)

t.test('the welcome series asks for the list, or for any', async (t) => {
  const none = await owner.get(`${base}/automations/new`)
  t.match(none.text, /Which list begins it[\s\S]*You have no list yet[\s\S]*Any list: whoever/)
  const refused = await owner.post(`${base}/automations/new`, {
    recipe: 'welcome',
    from,
    name: 'For whom',
    list: '',
  })
  t.equal(refused.status, 422)
  t.match(refused.text, /Choose the list that begins it, or any list/)
  t.match(refused.text, /value="For whom"/)
  const any = await pages.made({ recipe: 'welcome', name: 'Any', list: 'any' })
  const [start] = (await call('GET', `/v1/automations/${any.id}`)).steps
  t.equal(start.config.filter, undefined)
  const other = await pages.made({ recipe: 'review', name: 'No list', list: '' })
  t.ok(other.id, 'what no list begins asks for none')
})

t.test(
  'mails of one name are told apart, wherever a condition or a choice names them',
  async (t) => {
    const step = (key: string, name: string | undefined, template: string) => ({
      key,
      type: 'send_email',
      ...(name !== undefined && { name }),
      config: { template, from },
    })
    const waits = (key: string) => ({ key, type: 'delay', config: { duration: 'P1D' } })
    const opened = (key: string) => ({ field: `email.${key}.opened`, operator: 'eq', value: true })
    const keys = ['start', 'aaa', 'w-1', 'bbb', 'w-2', 'ccc', 'ddd', 'asks']
    const { id } = await call('POST', '/v1/automations', {
      name: 'Same names',
      steps: [
        { key: 'start', type: 'trigger', config: { eventName: 'same' } },
        step('aaa', 'Hello', 'review-1'),
        waits('w-1'),
        step('bbb', 'Hello', 'review-1'),
        waits('w-2'),
        step('ccc', undefined, 'review-1'),
        step('ddd', undefined, 'review-1'),
        { key: 'asks', type: 'condition', config: { all: [opened('bbb'), opened('ddd')] } },
      ],
      connections: keys.slice(1).map((to, at) => ({ from: keys[at], to, type: 'default' })),
      settings: { goal: { eventName: 'bought', to: 'bbb' } },
    })
    const at = `${base}/automations/${id}`
    const flow = (await owner.get(at)).text
    t.match(flow, /If “Hello \(2\)” was opened and “review-1 \(2\)” was opened/)
    t.match(flow, /Send “review-1” from Shop \(2\)/)
    const it = await editor(`${at}/edit`)
    await it.press('open:0.7')
    for (const name of ['Hello (1)', 'Hello (2)', 'review-1 (1)', 'review-1 (2)'])
      t.ok(it.html().includes(`>The mail “${name}” was opened</option>`), name)
    t.match(it.html(), /<legend>Hello \(2\)</)
    await it.press('open:settings')
    t.match(it.html(), /<option value="bbb" selected>Hello \(2\)</)
    t.match(it.html(), />Wait 1 day \(1\)<[\s\S]*>Wait 1 day \(2\)</, 'and so are waits')
    const trial = (await owner.get(`${at}/simulate`)).text
    t.match(trial, /Hello \(1\)[\s\S]*Hello \(2\)/)
    for (const text of [flow, it.html(), trial])
      t.notMatch(text.replace(/<[^>]*>|Its key is.*/g, ''), /\b(aaa|bbb|ccc|ddd)\b/, 'no keys')
  },
)

t.test('an unseen open is told where it is asked for, and news has its footer', async (t) => {
  const { edit, page } = await pages.made({ recipe: 'win-back', name: 'Unseen' })
  const it = await editor(edit)
  t.notMatch(it.html(), /Nobody can see/, 'a recipe asks only for what is seen')
  const outline = (it.fields().outline ?? '').replace(
    /(email\.win-back-1[^.]*)\.clicked/,
    '$1.opened',
  )
  await it.press('show:', { outline })
  const [, card = ''] = it.html().split('Have they clicked in it?</legend>')
  t.match(
    card.slice(0, 900),
    /Nobody can see whether “What is new” was opened: the mail has no picture and so few words[^<]*\. So “was opened” is “no” for everybody\. Put a picture into the mail, or ask whether they have clicked in it\.</,
  )
  await it.press('open:0.1')
  const frame = async (html: string) => {
    const src = /<iframe class="mail"[^>]* src="([^"]+)"/.exec(html)?.[1] ?? ''
    return (await owner.get(src)).text
  }
  const shown = await frame(it.html())
  t.match(shown, /It has been a while|what is new/)
  t.match(shown, /Unsubscribe/i)
  t.notMatch(shown, /\{\{|[\u{F0002}-\u{F0006}]/u)
  const notice = await frame(await it.press('show:', { 's.kind': 'transactional' }))
  t.notMatch(notice, /Unsubscribe|\{\{|[\u{F0002}-\u{F0006}]/iu)
  await it.press('show:', { 's.kind': 'marketing' })
  const tried = await owner.post(`${page}/simulate`, {
    go: 'on',
    email: 'ann@x.test',
    payload: '',
    whom: '',
  })
  const mail = await frame(tried.text)
  t.match(mail, /Unsubscribe/i)
  t.notMatch(mail, /\{\{|[\u{F0002}-\u{F0006}]/u)
})

t.test('what a recipe tells its author is told before it is sent', async (t) => {
  const { id, edit, page } = await pages.made({ recipe: 'birthday', name: 'As made' })
  const says = /Its mail still tells you what to write, and would be sent so, with a button/
  t.match((await owner.get(edit)).text, says, 'at its step')
  const check = async () => (await owner.get(`${page}/enable`)).text
  const [, slug = ''] =
    /In the way<[^>]*>[^<]*(?:<[^>]*>[^<]*)*?Its mail still tells[^<]*(?:<[^>]*>)* <a href="[^"]*\/templates\/(birthday-1[^"?]*)\?for=[^"]*">Write this mail</.exec(
      await check(),
    ) ?? []
  t.match(slug, /^birthday-1/)
  const writes = `Its mail still tells you[^<]*(?:<[^>]*>)* <a href="${base}/templates/${slug}\\?for=${id}">`
  t.match((await owner.get(edit)).text, new RegExp(`One thing is not right yet[\\s\\S]*${writes}`))
  t.notMatch(await check(), /<button[^>]*>Turn it on</)
  const { revision = '' } = fieldsOf((await owner.get(edit)).text)
  const late = await owner.post(`${page}/enable`, { revision })
  t.equal(late.status, 422, 'by a button that came too late, too')
  t.match(late.text, /It is not turned on\. [^<]*Its mail still tells you what to write/)
  t.equal((await call('GET', `/v1/automations/${id}`)).status, 'disabled')
  const written = { subject: 'Happy birthday!', blocks: { version: 1, blocks: [] as object[] } }
  const write = async (...blocks: object[]) => {
    const body = { ...written, blocks: { version: 1, blocks } }
    await pages.call('PATCH', `/v1/templates/${slug}`, body)
  }
  await write(
    { type: 'text', text: 'All the best!' },
    { type: 'button', text: 'Yours', url: 'https://example.com/' },
  )
  t.match(await check(), /The button of its mail leads nowhere yet/)
  t.notMatch(await check(), says)
  await write({ type: 'text', text: 'All the best!' })
  t.notMatch(await check(), /leads nowhere yet/)
  t.match(await check(), /<button[^>]*>Turn it on</)
  const it = await editor(edit)
  await it.press('open:0.1')
  const link = `<p class="quiet"><a href="${base}/templates/${slug}?for=${id}">Write this mail</a></p><iframe`
  t.ok(it.html().includes(link), 'the way to it is not in a line that is cut')
})

t.test('a question that comes right after its mail is told', async (t) => {
  const { edit, page } = await pages.made({ recipe: 'win-back', name: 'Too soon' })
  const it = await editor(edit)
  const says = /Nobody can have opened “What is new” yet, or clicked in it: put a wait before/
  t.notMatch(it.html(), says)
  await it.press('gone:0.2')
  t.match(it.html().split('Have they clicked in it?</legend>')[1]?.slice(0, 900), says)
  t.match((await owner.get(`${page}/enable`)).text, says)
})

t.test(
  'saving what nobody has changed makes no draft, and faults of a wait are whole',
  async (t) => {
    const { id, edit } = await pages.made({ recipe: 'review', name: 'Unchanged' })
    const it = await editor(edit)
    await it.press('open:0.1')
    t.match(
      await it.press('show:', { 's.amount': '0' }),
      /How long: a whole number, 1 or more, and 90 days at most\./,
    )
    const checked = await it.save({ 's.amount': '0', next: 'enable' })
    const told = await shownAfter(checked)
    t.match(told, /What is not right yet stands below/, 'nothing is open there')
    await it.press('open:0.1')
    await it.save({ 's.amount': '7' })
    await call('POST', `/v1/automations/${id}/enable`)
    const again = await editor(edit)
    const same = await again.save()
    t.match(await shownAfter(same), /Nothing was changed/)
    t.match(await call('GET', `/v1/automations/${id}/draft`), { isDraft: false })
  },
)

t.test(
  'the check of what is on speaks of that, and a second press finds it in force',
  async (t) => {
    const { id, edit, page } = await pages.made({ recipe: 'review', name: 'Twice' })
    await pages.writeMails(id)
    const check = async () => (await owner.get(`${page}/enable`)).text
    const revision = / name="revision" value="([^"]*)"/.exec(await check())?.[1] ?? ''
    t.equal((await owner.post(`${page}/enable`, { revision })).status, 303)
    t.equal((await owner.post(`${page}/enable`, { revision })).status, 303, 'in another tab')
    const it = await editor(edit)
    await it.press('open:0.3')
    await it.save({ 's.template': '' })
    const late = await owner.post(`${page}/enable`, { revision })
    t.match(late, { status: 422, text: /Somebody has changed it since you opened this page/ })
    t.match(await check(), /The draft cannot be put in force yet/)
    t.notMatch(await check(), /cannot be turned on yet/)
    await owner.post(`${edit}/discard`, {})
    await pages.store.write((tx) => tx.updateTable('domains').set({ status: 'pending' }).execute())
    t.match(
      await check(),
      /<h2 id="force">It is on<[\s\S]*It is on, but it cannot do what it is for/,
    )
    t.match((await owner.get(page)).text, /On, but sender\.test is not verified/)
    t.match((await owner.get(`${base}/automations`)).text, /On, but sender\.test is not verified/)
    await pages.store.write((tx) => tx.updateTable('domains').set({ status: 'verified' }).execute())
    t.notMatch((await owner.get(page)).text, /is not verified/)
    await call('POST', `/v1/automations/${id}/disable`)
  },
)

t.test(
  'a condition offers the mails before it, and says in words what did not happen',
  async (t) => {
    const { edit } = await pages.made({ recipe: 'welcome', name: 'Before', list: 'any' })
    const it = await editor(edit)
    await it.press('open:0.3')
    t.match(it.html(), /The mail “Welcome” was opened</)
    t.notMatch(it.html(), /The mail “A question” was opened</)
    await it.press('close:', { field: 'email.welcome-1.delivered', operator: 'no', value: '' })
    t.match(it.html(), /If “Welcome” did not arrive/)
  },
)

t.test('a template is chosen by its picture, with its name and subject', async (t) => {
  const { edit } = await pages.made({ recipe: 'review', name: 'Pictures' })
  const body = { slug: 'spring', subject: 'Spring is here', html: '<h1>Spring</h1>' }
  await pages.call('POST', '/v1/templates', body)
  const it = await editor(edit)
  await it.press('open:0.3')
  t.match(it.html(), /<option value="spring">spring: Spring is here</, 'the subject, in the list')
  const picture = `${base}/automations/picture/spring`
  t.match(
    it.html(),
    new RegExp(`src="${picture}" sandbox=""[\\s\\S]*?value="take:spring"[\\s\\S]*?Spring is here`),
  )
  const shown = await owner.get(picture)
  t.match(shown.text, /<h1>Spring<\/h1>[\s\S]*Unsubscribe/i, 'as it arrives')
  t.match(shown.headers.get('content-security-policy'), /default-src 'none'/)
  t.equal((await owner.get(`${base}/automations/picture/none`)).status, 404)
  await it.press('take:spring', { 's.subject': 'Kept' })
  t.equal(it.fields()['s.template'], 'spring')
  t.equal(it.fields()['s.subject'], 'Kept', 'what was typed is kept')
  t.notMatch(it.html(), /<details open><summary>Choose by picture/)
  t.match(await it.press('show:', { 's.template': '' }), /<details open><summary>Choose by picture/)
})

t.test('a copy has the draft, too, and says so', async (t) => {
  const { id, edit, page } = await pages.made({ recipe: 'review', name: 'Copied' })
  await pages.writeMails(id)
  await pages.call('POST', `/v1/automations/${id}/enable`)
  const it = await editor(edit)
  await it.press('open:0.1')
  await it.save({ 's.amount': '9' })
  const made = await owner.post(`${page}/duplicate`)
  const copy = await shownAfter(made)
  t.match(copy, /This is a copy with what is written in the draft; nobody enters it/)
  t.match(copy, /Wait 9 days/)
  t.match(copy, /value="Copied \(copy\)"/)
  const ofCopy = made.to.split('/').at(-2)
  t.match((await call('GET', `/v1/automations/${ofCopy}`)).steps[1].config, { duration: 'P7D' })
  t.match(await call('GET', `/v1/automations/${ofCopy}/draft`), { isDraft: true })
  await pages.call('DELETE', `/v1/automations/${id}/draft`).catch(() => undefined)
  await owner.post(`${edit}/discard`)
  const plain = await shownAfter(await owner.post(`${page}/duplicate`))
  t.match(plain, /This is a copy; nobody enters it/)
  t.match(plain, /Wait (1 week|7 days)/)
})
