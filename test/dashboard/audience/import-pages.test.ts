// An import by the pages of a running appliance: upload, mapping, the task, its refused rows, its undoing.
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { logIn } from '../../support/log-in.js'
import { startPosthorn } from '../../support/posthorn.js'
import { hostile, isTame } from '../account-pages.js'

t.test('a member imports a file by pages, watches it and undoes it', async (t) => {
  const posthorn = await startPosthorn(t)
  const { url, accountId, call } = posthorn
  const base = `/a/${accountId}`
  const member = await logIn(posthorn, accountId, 'member')
  const upload = async (text: string, name = 'people.csv', who = member) => {
    const body = new FormData()
    body.set('file', new Blob([text]), name)
    const headers = { cookie: who.cookie, 'sec-fetch-site': 'same-origin' }
    const init = { method: 'POST', body, headers, redirect: 'manual' } as const
    return await fetch(`${url}${base}/contacts/import`, init)
  }
  t.match((await member.get(`${base}/contacts/import`)).text, /Import people.*None yet/s)
  const rows = ['E-mail Address,First Name,Town', 'ann@x.test,Ann,Lagos', 'nobody,Bob,Jos']
  const taken = await upload(
    `${rows.join('\n')}\n"${hostile.replaceAll('"', '""')}",x,y\n`,
    `${hostile}.csv`,
  )
  t.equal(taken.status, 303)
  const at = taken.headers.get('location') ?? ''
  const mapping = await member.get(at)
  isTame(t, { ...mapping, location: '' }, 'the mapping')
  t.match(mapping.text, /3 lines, beside the one.*<option value="email" selected>.*ann@x\.test/s)
  t.match((await member.get(`${at}?header=no&delimiter=semicolon`)).text, /4 lines\..*is somebody/s)

  const form = {
    encoding: 'utf-8',
    delimiter: 'comma',
    header: 'yes',
    list: '',
    newList: 'Readers',
  }
  const how = { known: 'fill', agreed: 'At the till' }
  const mapped = { 'use-0': 'email', 'use-1': 'firstName', 'use-2': 'text', 'name-2': 'town' }
  const wrong = await member.post(at, { ...form, ...how, ...mapped, agreed: '' })
  t.equal(wrong.status, 422)
  t.match(wrong.text, /value="town"/, 'what was typed is kept')
  const twice = await member.post(at, { ...form, ...how, ...mapped, 'use-1': 'email' })
  t.equal(twice.status, 422)
  t.match(twice.text, /Two columns are the address: choose one/)
  t.equal((await member.post(at, { ...form, ...how, ...mapped })).to, at)
  const done = async (chip: RegExp) => {
    for (;;) {
      const shown = await member.get(at)
      if (chip.test(shown.text)) return shown.text
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const over = await done(/class="chip good">done/)
  t.match(over, /What came of it.*3 of 3.*Put on the list.*1.*Refused.*2.*refused\.csv/s)
  t.match((await member.get(`${base}/contacts/import`)).text, /Lines.*>3</s)
  const { lists } = (await call('GET', '/v1/contacts/lists')).json
  const { contacts } = (await call('GET', `/v1/contacts/${lists[0].id}`)).json
  t.match(contacts, [{ email: 'ann@x.test', firstName: 'Ann', metadata: { town: 'Lagos' } }])
  const refused = await member.get(`${at}/refused.csv`)
  t.match(refused.text, /^line,reason,row\r?\n3,.*nobody.*,nobody,Bob,Jos/)
  const isTold = async (path: string, body: Record<string, string>, says: RegExp) => {
    const sent = await member.post(`${at}/${path}`, body)
    t.same([sent.status, sent.to], [303, at], 'back to the import as it is')
    const [flash = ''] = sent.headers.getSetCookie()
    const cookie = `${member.cookie}; ${flash.split(';')[0]}`
    t.match((await member.get(at, { cookie })).text, says)
  }
  await isTold('state', { to: 'paused' }, /Nothing was changed: it is done already/)
  t.match(
    over,
    /<div id="import-head" data-live>.*<h1>.*class="chip good">done/s,
    'the chip is live',
  )
  t.equal((await member.post(`${at}/undo`)).to, at)
  t.match(await done(/class="chip none">undone/), /Taken off again.*1/s)
  await isTold('undo', {}, /Nothing was changed: it was undone already/)
  t.equal((await call('GET', '/v1/contacts/lists')).json.lists[0].contactCount, 0)

  for (const field of [
    { name: 'born', label: 'Date of birth', type: 'date' },
    { name: 'size', label: 'Size', type: 'choice', choices: ['S', 'L'] },
    { name: 'note', label: 'Note', type: 'text' },
  ]) {
    t.equal((await call('POST', '/v1/contact-fields', { body: field })).status, 201)
  }
  const typed = [
    'email,Date of birth,size,note',
    'eve@x.test,1990-02-01,S,"two\nlines"',
    'fay@x.test,1.2.1990,L,',
    'gus@x.test,,M,',
  ]
  const second = (await upload(typed.join('\n'))).headers.get('location') ?? ''
  t.match((await member.get(second)).text, '<option value="own:born" selected>')
  const uses = { 'use-1': 'own:born', 'use-2': 'own:size', 'use-3': 'own:note' }
  await member.post(second, { ...form, ...how, newList: 'Typed', 'use-0': 'email', ...uses })
  for (let n = 0; n < 500; n++) {
    if (/class="chip good">done/.test((await member.get(second)).text)) break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const why = (await member.get(`${second}/refused.csv`)).text
  t.match(why, 'Date of birth: expected a day, such as 2026-11-29, not ""1.2.1990""')
  t.match(why, 'Size: expected one of the choices, not ""M""')
  const [eve] = (await call('GET', '/v1/contacts/all?email=eve@x.test')).json.contacts ?? []
  t.match(eve?.metadata, { born: '1990-02-01', size: 'S', note: 'two\nlines' })

  await t.test('phone numbers that cannot be read are told before and after', async (t) => {
    const mobile = 'email,Mobile\ndan@x.test,0803 123 4567\nivy@x.test,ask <her>\nkim@x.test,\n'
    const phones = (await upload(mobile)).headers.get('location') ?? ''
    const says =
      /Not all phone numbers can be read:<\/b> of the first 2 rows with something in column “Mobile” 1 cannot be read, such as “ask &lt;her&gt;”\. A number is one of \w+/
    t.match((await member.get(phones)).text, says, 'which a column is proposed as')
    const chosen = { ...form, ...how, newList: 'Phones', 'use-0': 'email', 'use-1': 'phone' }
    const untold = await member.post(phones, chosen)
    t.equal(untold.status, 422)
    t.match(untold.text, /Nothing is imported yet: some phone numbers cannot be read/)
    t.match(untold.text, says, 'which a column is chosen as')
    const { text: other } = await member.post(phones, { ...chosen, 'use-1': 'text', agreed: '' })
    t.notMatch(other, 'phone numbers can be read', 'another choice has none')
    const [, phoneTold = ''] = /name="phoneTold" value="(\d+)"/.exec(untold.text) ?? []
    t.equal((await member.post(phones, { ...chosen, phoneTold })).status, 303)
    await eventually(async () => /chip good">done/.test((await member.get(phones)).text), 10_000)
    const { text } = await member.get(phones)
    t.match(text, /Refused[^0-9]*0<.*cannot be read.*1: kept as a text, in the field “.*phone/s)
    const noted = (await member.get(`${phones}/refused.csv`)).text.split(/\r?\n/)
    t.match(noted[1], /^3,"?it is taken in, but “ask <her>” is no phone number.*,ivy@x\.test,ask/)
    t.equal(noted[2], '', 'nobody else')
  })

  const pasted = await member.post(`${base}/contacts/import/paste`, {
    emails: 'Ann <ann@x.test>\nbob@x.test, cleo@x.test',
  })
  t.match((await member.get(pasted.to)).text, /3 lines.*ann@x\.test.*cleo@x\.test/s)
  const onto = `?list=${lists[0].id}`
  t.match(
    (await member.get(`${base}/lists/${lists[0].id}`)).text,
    `href="${base}/contacts/import${onto}"`,
  )
  t.match(
    (await member.get(`${base}/contacts/import${onto}`)).text,
    `action="${base}/contacts/import/paste${onto}"`,
  )
  const more = await member.post(`${base}/contacts/import/paste${onto}`, { emails: 'dan@x.test' })
  t.match(more.to, /\?list=/)
  t.match((await member.get(more.to)).text, `<option value="${lists[0].id}" selected>`)

  await t.test('things of one name are told apart wherever one is chosen', async (t) => {
    const make = async (path: string, body: object): Promise<string> =>
      (await call('POST', path, { body })).json.id
    const [full = '', empty = ''] = [
      await make('/v1/contacts/lists', { name: 'Twins' }),
      await make('/v1/contacts/lists', { name: 'Twins' }),
    ]
    await call('POST', `/v1/contacts/${full}`, { body: { email: 'twin@x.test' } })
    const rule = { field: 'contact.email', operator: 'eq', value: 'x' }
    for (const _ of [1, 2]) {
      await make('/v1/segments', { name: 'Twins', rule })
      await make('/v1/forms', { name: 'Twins', lists: [empty], consent: 'News?' })
    }
    const automation = await make('/v1/automations', {
      name: 'A',
      steps: [
        { key: 'start', type: 'trigger', config: { eventName: '$form.confirmed' } },
        { key: 'end', type: 'exit', config: {} },
      ],
      connections: [{ from: 'start', to: 'end', type: 'default' }],
    })
    const starts = `/automations/${automation}/start`
    t.equal((await call('POST', `/v1/automations/${automation}/enable`)).status, 200)
    const lists = ['contacts', 'contacts/new', 'campaigns/new', 'forms/new', 'automations/new']
    for (const path of [...lists.map((one) => `/${one}`), starts, '/segments/new']) {
      const { text } = await member.get(`${base}${path}`)
      const named = [
        ...text.replace(/<table[\s\S]*?<\/table>/g, '').matchAll(/Twins[^<>()]*(\([^)]*\))?/g),
      ].map(([, mark]) => mark)
      t.ok(named.includes('(1 person)') && named.includes('(0 people)'), `${path}: ${named}`)
      t.ok(named.every(Boolean), `${path}: ${named}`)
    }
    t.match((await member.get(more.to)).text, /Twins \(0\)<.*Twins \(1\)</s)
  })

  // A list onto which an import is paused: its page of deletion says so, and has no form that could only be refused.
  const after: { id: string; name: string }[] = (await call('GET', '/v1/contacts/lists')).json.lists
  const typedList = after.find(({ name }) => name === 'Typed') ?? lists[0]
  const deletion = `${base}/lists/${typedList.id}/delete`
  t.match((await member.get(deletion)).text, 'Delete the list</button>')
  await posthorn.store.write((tx) =>
    tx
      .updateTable('tasks')
      .set({ state: 'paused', ended_at: null })
      .where('id', '=', Number(second.split('/').at(-1)))
      .execute(),
  )
  const paused = (await member.get(deletion)).text
  t.match(paused, /cannot be deleted yet:<\/b> an import onto it is paused/)
  t.notMatch(paused, 'Delete the list</button>')

  const viewer = await logIn(posthorn, accountId, 'viewer')
  t.equal((await upload('email\n', 'x.csv', viewer)).status, 403)
  const { accountId: other } = await posthorn.addAccount('Other')
  const stranger = await logIn(posthorn, other, 'owner')
  t.equal((await stranger.get(at)).status, 404)
  t.equal((await stranger.get(at.replace(accountId, other))).status, 404)
})
