import t from 'tap'
import { type Clock, dayMs, systemClock } from '../../src/clock/index.js'
import { consentHistory } from '../../src/consent/index.js'
import { findContact } from '../../src/contacts/index.js'
import { entriesOf } from '../../src/forms/entry.js'
import { formLimits } from '../../src/forms/index.js'
import { suppress } from '../../src/suppression/index.js'
import { optOut, topicsLeftBy } from '../../src/topics/index.js'
import { eventually } from '../support/eventually.js'
import {
  fillIn,
  linkOf,
  linkTo,
  makeForm,
  stampOf,
  startWithForms,
  workFor,
} from '../support/signup-forms.js'

t.test('what forms take in, said of whom and counted where', async (t) => {
  let movedMs = 0
  const minuteMs = 60_000
  // What is done each minute is done all the time.
  const clock: Clock = {
    now: () => Date.now() + movedMs,
    after: (ms, wake) => systemClock.after(ms === minuteMs ? 50 : ms, wake),
  }
  const posthorn = await startWithForms(t, clock)
  const { store, accountId, call } = posthorn
  const mailsTo = async (address: string) => {
    const rows = await store.read.selectFrom('emails').select(['id', 'to_list']).execute()
    return rows.filter(({ to_list }) => to_list.includes(address)).map(({ id }) => id)
  }
  const topicOf = async (name: string): Promise<string> =>
    (await call('POST', '/v1/topics', { body: { name } })).json.id
  const leftBy = (address: string) => topicsLeftBy(store.read, accountId, address)
  const confirm = async (address: string) =>
    await fetch(await linkTo(posthorn, address), { method: 'POST' })
  let network = 0
  const from = () => `192.0.${++network}.1`
  const send = (page: string, email: string, fields: Record<string, string> = {}) =>
    fillIn(posthorn, page, email, {
      from: from(),
      fields,
      stamp: stampOf(posthorn, page, '', clock.now),
    })

  const offers = await topicOf('Offers')
  const news = await topicOf('News')
  const withTopics = await makeForm(posthorn, { topics: [offers, news] })

  await t.test('a form that shows no topics changes none', async (t) => {
    await send(withTopics.page, 'bare@reader.test')
    await confirm('bare@reader.test')
    t.same(await leftBy('bare@reader.test'), [])
    const body = { email: 'api@reader.test', agreed: true }
    const path = `/v1/forms/${withTopics.id}/submissions`
    t.equal((await call('POST', path, { body })).status, 202)
    await confirm('api@reader.test')
    t.same(await leftBy('api@reader.test'), [])
    await send(withTopics.page, 'ticks@reader.test', { offered: offers })
    await confirm('ticks@reader.test')
    t.same(await leftBy('ticks@reader.test'), [offers], 'not the one that was not shown')
    const said = { ...body, email: 'none@reader.test', topics: [news] }
    t.equal((await call('POST', path, { body: said })).status, 202)
    await confirm('none@reader.test')
    t.same(await leftBy('none@reader.test'), [offers])
  })

  await t.test('an IPv6 address is kept as such; text is none', async (t) => {
    const path = `/v1/forms/${withTopics.id}/submissions`
    const body = { email: 'six@reader.test', agreed: true, visitor: '2001:db8:a:b:c:d:e:f' }
    t.equal((await call('POST', path, { body })).status, 202)
    await confirm('six@reader.test')
    const [, { detail } = { detail: {} }] = await consentHistory(
      store.read,
      accountId,
      'six@reader.test',
    )
    t.match(detail, { address: '2001:db8:a::', version: 1 })
    const wrong = await call('POST', path, { body: { ...body, visitor: 'a visitor' } })
    t.equal(wrong.status, 400)
  })

  await t.test('a form without confirmation takes strangers only, and says so', async (t) => {
    const open = await makeForm(posthorn, { doubleOptIn: false, acceptRisk: true })
    await send(open.page, 'new@reader.test')
    const history = await consentHistory(store.read, accountId, 'new@reader.test')
    t.same(
      history.map(({ kind, detail }) => [kind, detail.by]),
      [
        ['added', 'form'],
        ['signed_up', 'form'],
      ],
    )
    t.equal((await call('GET', `/v1/forms/${open.id}`)).json.figures.confirmed, 0)
    await store.write((tx) =>
      optOut(tx, accountId, { topicId: news, address: 'left@reader.test' }, Date.now()),
    )
    await send(open.page, 'left@reader.test')
    t.equal(await findContact(store.read, accountId, 'left@reader.test'), undefined)
    t.equal((await mailsTo('left@reader.test')).length, 1, 'they are asked')
    // Two clicks at once, when the form has changed meanwhile: one sign-up.
    const link = await linkTo(posthorn, 'left@reader.test')
    await Promise.all([1, 2, 3].map(() => fetch(link, { method: 'POST' })))
    t.equal((await call('GET', `/v1/forms/${open.id}`)).json.figures.confirmed, 1)
  })

  await t.test('a mail that the account could not send counts for no address', async (t) => {
    const foreign = await makeForm(posthorn, { from: 'a@foreign.test' })
    await send(foreign.page, 'later@reader.test')
    t.same(await mailsTo('later@reader.test'), [])
    await send(withTopics.page, 'later@reader.test')
    t.equal((await mailsTo('later@reader.test')).length, 1)
  })

  await t.test(
    'what comes back of a mail is its form’s, also when its entry is gone',
    async (t) => {
      const form = await makeForm(posthorn)
      await send(form.page, 'gone@reader.test')
      const [id = ''] = await mailsTo('gone@reader.test')
      await store.write((tx) =>
        tx.deleteFrom('form_entries').where('email', '=', 'gone@reader.test').execute(),
      )
      const row = await store.read
        .selectFrom('form_mails')
        .select('form_id')
        .where('email_id', '=', id)
        .executeTakeFirst()
      t.equal(row?.form_id, form.id)
    },
  )

  await t.test('a form keeps what was archived or deleted since', async (t) => {
    const gone = await topicOf('Gone')
    const form = await makeForm(posthorn, { topics: [gone] })
    await call('PATCH', `/v1/topics/${gone}`, { body: { archived: true } })
    const body = { consent: 'Another text', topics: [gone], lists: [form.listId] }
    const { status, json } = await call('PATCH', `/v1/forms/${form.id}`, { body })
    t.match([status, json.topics], [200, [gone]])
  })

  await t.test('a reminder goes to who still waits, within the limits', async (t) => {
    const form = await makeForm(posthorn, { reminder: true })
    const other = await makeForm(posthorn, { reminder: true, lists: [form.listId] })
    const people = ['waits', 'left', 'done', 'twice', 'enough'].map((name) => `${name}@remind.test`)
    const [waits = '', left = '', done = '', twice = '', enough = ''] = people
    for (const one of people) await send(form.page, one)
    const link = await linkTo(posthorn, twice)
    await confirm(done)
    const record = { email: left, reason: 'unsubscribe', by: 'recipient' } as const
    await store.write((tx) =>
      suppress(tx, accountId, { ...record, emailId: null, detail: null }, Date.now()),
    )
    await store.write((tx) =>
      tx
        .updateTable('form_addresses')
        .set({ mails: 3 })
        .where('mails', '=', 1)
        .where('address_hash', 'in', (all) =>
          all
            .selectFrom('form_addresses')
            .select('address_hash')
            .orderBy('last_at', 'desc')
            .limit(1),
        )
        .execute(),
    )
    // A second entry of the same person a day later: the confirmation of the first settles it, too.
    movedMs += dayMs + minuteMs
    await send(form.page, twice)
    t.equal((await mailsTo(twice)).length, 2)
    await fetch(link, { method: 'POST' })
    movedMs += dayMs
    await eventually(async () => (await mailsTo(waits)).length === 2, 10_000)
    await eventually(async () => {
      const due = await store.read
        .selectFrom('form_entries')
        .select('id')
        .where('remind_at', 'is not', null)
        .where('form_id', 'in', [form.id, other.id])
        .execute()
      return due.length === 0
    }, 10_000)
    t.equal((await mailsTo(left)).length, 1, 'who left')
    t.equal((await mailsTo(done)).length, 1, 'who confirmed')
    t.equal((await mailsTo(twice)).length, 2, 'who confirmed another entry')
    t.equal((await mailsTo(enough)).length, 1, 'who was asked three times')
  })

  await t.test('the sixth of a network works for it, or is asked an hour later', async (t) => {
    const stall = await makeForm(posthorn)
    const at = (email: string, fields: Record<string, string> = {}) =>
      fillIn(posthorn, stall.page, email, {
        from: '203.0.113.50',
        fields,
        stamp: stampOf(posthorn, stall.page, '', clock.now),
      })
    for (let n = 0; n < formLimits.networkAtOnce; n++) await at(`s${n}@stall.test`)
    t.equal((await mailsTo('@stall.test')).length, formLimits.networkAtOnce)
    const sixth = await at('sixth@stall.test')
    t.match(sixth.html, /Please press the button[\s\S]*data-work="\d+"/)
    const stamp = /name="stamp" value="([^"]+)"/.exec(sixth.html)?.[1] ?? ''
    const work = workFor(stamp, 'sixth@stall.test')
    const worked = { from: '203.0.113.50', stamp, fields: { work, slow: 'yes' } }
    t.match((await fillIn(posthorn, stall.page, 'sixth@stall.test', worked)).html, 'One more click')
    t.equal((await mailsTo('sixth@stall.test')).length, 1, 'whose browser has worked')
    t.match((await at('slow@stall.test', { slow: 'yes' })).html, 'One more click')
    t.equal((await mailsTo('slow@stall.test')).length, 0, 'not yet')
    const [kept] = await entriesOf(store.read, accountId, 'slow@stall.test')
    t.equal(kept?.typed.later, true, 'and is kept')
    movedMs += formLimits.laterMs + minuteMs
    await eventually(async () => (await mailsTo('slow@stall.test')).length === 1, 10_000)
  })

  await t.test('who waits while a form is stopped is asked once it goes on', async (t) => {
    const stall = await makeForm(posthorn)
    const waiting = Array.from({ length: formLimits.carefulLaterAnHour + 1 }, (_, n) => `w${n}`)
    const fields = { slow: 'yes' }
    const stamp = stampOf(posthorn, stall.page, '', clock.now)
    for (let n = 0; n < formLimits.networkAtOnce; n++)
      await fillIn(posthorn, stall.page, `a${n}@wait.test`, { from: '203.0.114.1', fields, stamp })
    for (const one of waiting)
      await fillIn(posthorn, stall.page, `${one}@wait.test`, { from: '203.0.114.1', fields, stamp })
    const asked = async () => (await mailsTo('@wait.test')).length - formLimits.networkAtOnce
    const dueAgain = async () => {
      const rows = await store.read
        .selectFrom('form_entries')
        .select('remind_at')
        .where('form_id', '=', stall.id)
        .where('remind_at', '<=', clock.now())
        .execute()
      return rows.length === 0
    }
    const stopped_at = clock.now()
    await store.write((tx) =>
      tx.updateTable('forms').set({ stopped_at }).where('id', '=', stall.id).execute(),
    )
    movedMs += 6 * dayMs
    await eventually(dueAgain, 10_000)
    t.equal(await asked(), 0)
    const { json } = await call('POST', `/v1/forms/${stall.id}/resume`)
    t.equal(json.state, 'careful')
    movedMs += formLimits.laterMs + minuteMs
    await eventually(async () => (await asked()) === formLimits.carefulLaterAnHour, 10_000)
    await eventually(dueAgain, 10_000)
    t.equal(await asked(), formLimits.carefulLaterAnHour, 'the others later still')
    const entries = await Promise.all(
      waiting.map((one) => entriesOf(store.read, accountId, `${one}@wait.test`)),
    )
    const first = entries.flat().find(({ typed }) => typed.later === undefined)
    const link = linkOf(posthorn, first?.id ?? '')
    movedMs += 2 * dayMs
    t.match(await (await fetch(link)).text(), 'Press the button', 'its link has seven days too')
  })
})
