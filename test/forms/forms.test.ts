import t from 'tap'
import { consentHistory } from '../../src/consent/index.js'
import { findContact } from '../../src/contacts/index.js'
import { entriesOf, formLimits } from '../../src/forms/index.js'
import { suppress, suppressionsOf } from '../../src/suppression/index.js'
import { eventually } from '../support/eventually.js'
import type { Posthorn } from '../support/posthorn.js'
import {
  fillIn,
  linkTo,
  makeForm,
  type Sent,
  stampOf,
  startWithForms,
} from '../support/signup-forms.js'
import { thoroughly } from '../support/thorough.js'

type Held = { reason: string; held: number }

const stampIn = (html: string) => /name="stamp" value="([^"]+)"/.exec(html)?.[1] ?? ''

const mails = async ({ store }: Posthorn) =>
  await store.read.selectFrom('emails').select(['id', 'to_list', 'subject', 'body_id']).execute()

t.test('what is said of a field of contacts is not said again by a form', async (t) => {
  const posthorn = await startWithForms(t)
  const { call } = posthorn
  const size = { name: 'size', label: 'T-shirt <size>', type: 'choice', choices: ['S', 'M'] }
  await call('POST', '/v1/contact-fields', { body: size })
  const asked = [{ name: 'firstName' }, { name: 'size', required: true }]
  const form = await makeForm(posthorn, { fields: asked })
  const { json } = await call('GET', `/v1/forms/${form.id}`)
  t.same(json.fields, [
    { name: 'firstName', label: 'First name', type: 'text', required: false },
    { ...size, required: true },
  ])
  const page = await (await fetch(form.page)).text()
  t.match(page, /T-shirt &lt;size&gt;[\s\S]*<option>S/)
  const wrong = await call('PATCH', `/v1/forms/${form.id}`, {
    body: { fields: [{ name: 'shoe', required: true }] },
  })
  t.equal(wrong.status, 422)
  t.match(JSON.stringify(wrong.json), /shoe is described nowhere: give it a label and a type/)
})

t.test('a stranger signs up, confirms, and is on the list with what they agreed to', async (t) => {
  const posthorn = await startWithForms(t)
  const { store, accountId } = posthorn
  const fields = [{ name: 'firstName', label: 'First name', type: 'text', required: true }]
  const form = await makeForm(posthorn, { fields })
  const spam = 'Buy http://spam.test now'
  const sent = await fillIn(posthorn, form.page, 'Ada@reader.test', {
    fields: { 'field-firstName': spam },
  })
  t.match(sent.html, 'One more click')
  t.equal(await findContact(store.read, accountId, 'ada@reader.test'), undefined, 'not yet')
  const link = await linkTo(posthorn, 'Ada@reader.test')
  const mail = (await mails(posthorn)).at(-1)
  const body = await store.read
    .selectFrom('bodies')
    .selectAll()
    .where('id', '=', mail?.body_id ?? 0)
    .executeTakeFirst()
  t.notMatch(JSON.stringify([mail?.subject, body]), 'spam.test', 'nothing typed is in the mail')

  const shown = await (await fetch(link)).text()
  t.match(shown, '<title>One more click')
  t.equal(
    await findContact(store.read, accountId, 'ada@reader.test'),
    undefined,
    'a GET confirms nothing',
  )
  const done = await fetch(link, { method: 'POST' })
  t.match(await done.text(), 'You are signed up')
  await fetch(link, { method: 'POST' })
  const contact = await findContact(store.read, accountId, 'ada@reader.test')
  t.equal(contact?.firstName, spam)
  const members = await posthorn.call('GET', `/v1/contacts/${form.listId}`)
  t.equal(members.json.contacts.length, 1)
  const history = await consentHistory(store.read, accountId, 'ada@reader.test')
  t.same(
    history.map(({ kind }) => kind),
    ['added', 'confirmed'],
  )
  t.match(history[1]?.detail, {
    formId: form.id,
    address: '192.0.2.0',
    note: /version 1: I would like/,
  })
  await eventually(async () => {
    const { json } = await posthorn.call('GET', `/v1/forms/${form.id}`)
    return json.figures.sentIn === 1 && json.figures.confirmed === 1
  }, 10_000)
  t.match(await (await fetch(link)).text(), 'You are signed up', 'the old link says it, too')
  const ada = { email: 'ada@reader.test', reason: 'unsubscribe', by: 'recipient' } as const
  await store.write((tx) =>
    suppress(tx, accountId, { ...ada, emailId: null, detail: null }, Date.now()),
  )
  for (const init of [{}, { method: 'POST' }]) {
    const since = await (await fetch(link, init)).text()
    t.match(since, '<h1>You get no emails at present</h1>', 'not after they have left')
    t.match(since, `<a href="${new URL(form.page).pathname}">`)
  }
  await posthorn.call('DELETE', `/v1/suppressions/ada@reader.test`)
  t.match(await (await fetch(link)).text(), 'You are signed up')
  const unknown = await fetch(`${form.page}x`)
  t.match(await unknown.text(), 'There is no such form here')
  t.equal(unknown.status, 404)
  const damaged = await fetch(`${link.slice(0, -2)}xx`)
  t.equal(damaged.status, 404)

  t.test('who had left everything comes back only by the confirmation', async (t) => {
    const record = { email: 'bob@reader.test', reason: 'unsubscribe', by: 'recipient' } as const
    await store.write((tx) =>
      suppress(tx, accountId, { ...record, emailId: null, detail: null }, Date.now()),
    )
    await fillIn(posthorn, form.page, 'bob@reader.test', { fields: { 'field-firstName': 'Bob' } })
    t.equal((await suppressionsOf(store.read, accountId, 'bob@reader.test')).length, 1)
    await fetch(await linkTo(posthorn, 'bob@reader.test'), { method: 'POST' })
    t.same(await suppressionsOf(store.read, accountId, 'bob@reader.test'), [])
  })

  t.test('whoever sends it in is told the same', async (t) => {
    const as = (email: string, more: Sent = {}) =>
      fillIn(posthorn, form.page, email, {
        ...more,
        fields: { 'field-firstName': 'X', ...more.fields },
      })
    const known = await as('ada@reader.test', { from: '192.0.2.9' })
    const stranger = await as('eve@reader.test', { from: '192.0.2.9' })
    const again = await as('eve@reader.test', { from: '192.0.2.9' })
    const robot = await as('rob@reader.test', { from: '192.0.2.9', fields: { website: 'x' } })
    t.same([again, robot, known], [stranger, stranger, stranger])
    const to = (await mails(posthorn)).filter(({ to_list }) => /eve|rob/.test(to_list))
    t.equal(to.length, 1)
  })

  t.test('a form elsewhere leads to a page of one button, which is the check', async (t) => {
    const bare = await fillIn(posthorn, form.page, 'cy@reader.test', {
      stamp: '',
      fields: { 'field-firstName': 'Cy' },
    })
    t.match(bare.html, 'Please press the button')
    t.match(bare.html, 'value="cy@reader.test"')
    t.match(stampIn(bare.html), /^\w+\.\w*\.[\w-]+$/)
    const stamp = stampOf(posthorn, form.page, 'https://shop.test/')
    await fillIn(posthorn, form.page, 'cy@reader.test', {
      stamp,
      from: '192.0.2.77',
      fields: { 'field-firstName': 'Cy' },
    })
    t.match(await linkTo(posthorn, 'cy@reader.test'), '/confirm/')
    const wrong = await fillIn(posthorn, form.page, 'no address', {
      fields: { 'field-firstName': '"><script>' },
    })
    t.equal(wrong.status, 422)
    t.notMatch(wrong.html, '<script>')
    t.match(wrong.html, 'Please write an email address')
  })

  t.test('front ends of their own send it in by the API', async (t) => {
    const path = `/v1/forms/${form.id}/submissions`
    const good = { email: 'dee@reader.test', agreed: true, fields: { firstName: 'Dee' } }
    t.equal((await posthorn.call('POST', path, { body: good })).status, 202)
    t.match(await linkTo(posthorn, 'dee@reader.test'), '/confirm/')
    const bad = await posthorn.call('POST', path, { body: { ...good, fields: {} } })
    t.match([bad.status, bad.json.field], [422, 'firstName'])
  })

  t.test('confirmations that bounce stop the form and not the account', async (t) => {
    const other = await makeForm(posthorn)
    const stamp = stampOf(posthorn, other.page)
    await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        fillIn(posthorn, other.page, `bounced+f${n}@simulator.posthorn.test`, {
          stamp,
          from: `198.51.${n}.1`,
        }),
      ),
    )
    await eventually(async () => {
      const { json } = await posthorn.call('GET', `/v1/forms/${other.id}`)
      return json.state === 'stopped'
    }, 10_000)
    const before = (await mails(posthorn)).length
    const closed = await fillIn(posthorn, other.page, 'fay@reader.test')
    t.match(closed, { status: 503, html: /takes nobody just now[\s\S]*is kept at present/ })
    t.same(await fillIn(posthorn, other.page, 'ada@reader.test', { stamp: '' }), closed)
    t.equal(await (await fetch(other.page)).text(), closed.html, 'nobody fills it in for nothing')
    const body = { email: 'fay@reader.test', agreed: true }
    const byApi = await posthorn.call('POST', `/v1/forms/${other.id}/submissions`, { body })
    t.match([byApi.status, byApi.text], [409, /takes nobody just now. Nothing that/])
    t.same(await entriesOf(store.read, accountId, 'fay@reader.test'), [])
    t.equal((await mails(posthorn)).length, before)
    await eventually(async () => {
      const { json } = await posthorn.call('GET', `/v1/forms/${other.id}`)
      return json.figures.held.some((one: Held) => one.reason === 'stopped' && one.held >= 3)
    }, 10_000)
    t.equal((await posthorn.call('GET', `/v1/forms/${form.id}`)).json.state, 'open')
    const sent = await posthorn.send({
      from: 'a@sender.test',
      to: 'x@reader.test',
      subject: 'x',
      html: 'x',
    })
    t.equal(sent.status, 200)
    const { json } = await posthorn.call('POST', `/v1/forms/${other.id}/resume`)
    t.equal(json.state, 'careful', 'the same visitors may still be there')
    t.equal((await posthorn.call('POST', `/v1/forms/${other.id}/resume`)).json.state, 'open')
  })

  t.test(
    'a flood of 10,000 from 200 addresses sends what the limits say, of this form alone',
    async (t) => {
      const flooded = await makeForm(posthorn)
      const stamp = stampOf(posthorn, flooded.page)
      const before = (await mails(posthorn)).length
      const total = thoroughly(2_000, 10_000)
      for (let n = 0; n < total; n += 50) {
        await Promise.all(
          Array.from({ length: 50 }, (_, i) => {
            const from = `203.0.${(n + i) % 200}.7`
            return fillIn(posthorn, flooded.page, `v${n + i}@d${n % 40}.test`, { stamp, from })
          }),
        )
      }
      const sent = (await mails(posthorn)).length - before
      t.equal(sent, formLimits.anHour, 'as many as the form may send an hour')
      await fillIn(posthorn, form.page, 'gus@reader.test', {
        from: '203.0.1.7',
        fields: { 'field-firstName': 'Gus' },
      })
      t.match(await linkTo(posthorn, 'gus@reader.test'), '/confirm/', 'another form goes on')
    },
  )

  t.test('who does not confirm goes after 7 days', async (t) => {
    const link = await linkTo(posthorn, 'dee@reader.test')
    t.equal((await fetch(link)).status, 200)
    await store.write((tx) => tx.updateTable('form_entries').set({ expires_at: 1 }).execute())
    t.equal((await fetch(link)).status, 404)
    t.equal((await fetch(link, { method: 'POST' })).status, 404)
  })
})

t.test(
  'a form that nobody has given a sender has one, and keeps where it was sent in',
  async (t) => {
    const posthorn = await startWithForms(t)
    const { store, accountId, call } = posthorn
    const form = await makeForm(posthorn, { from: '' })
    t.match(form.sender, /^".+" <no-reply@sender\.test>$/)
    const shown = await fetch(form.page)
    t.equal(shown.headers.get('referrer-policy'), 'same-origin', 'or its post would name no page')
    const post = (
      email: string,
      headers: Record<string, string>,
      stamp = stampOf(posthorn, form.page),
    ) =>
      fetch(form.page, {
        method: 'POST',
        headers: { 'x-forwarded-for': '192.0.2.1', ...headers },
        body: new URLSearchParams({ email, agreed: 'yes', stamp }),
      })
    const confirmedAt = async (email: string) => {
      await fetch(await linkTo(posthorn, email), { method: 'POST' })
      const history = await consentHistory(store.read, accountId, email)
      return history.find(({ kind }) => kind === 'confirmed')?.detail.page
    }
    await post('ada@reader.test', { referer: form.page })
    t.equal(await confirmedAt('ada@reader.test'), form.page)
    await post('bob@elsewhere.test', { origin: 'null', 'x-forwarded-for': '198.51.100.1' })
    t.equal(await confirmedAt('bob@elsewhere.test'), '', 'a browser that names no page')
    const stamp = stampOf(posthorn, form.page, '', () => Date.now() + 3_000)
    const quick = await (await post('cy@reader.test', {}, stamp)).text()
    t.match(quick, 'Please press it once more')

    const elsewhere = { from: 'news@unverified.test' }
    const foreign = await call('PATCH', `/v1/forms/${form.id}`, { body: elsewhere })
    t.equal(foreign.json.sender, '', 'nobody gets a confirmation from there')
  },
)
