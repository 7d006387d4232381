// Who was erased comes back by their own confirmation, and by nothing else.
import t from 'tap'
import { findContact } from '../../src/contacts/index.js'
import { erasedAmong, suppress, suppressionsOf } from '../../src/suppression/index.js'
import { eventually } from '../support/eventually.js'
import { fillIn, linkTo, makeForm, startWithForms } from '../support/signup-forms.js'

t.test('who was erased and asks again', async (t) => {
  const posthorn = await startWithForms(t)
  const { store, accountId, call, until } = posthorn
  const form = await makeForm(posthorn)
  const wasErased = async (email: string) =>
    (await erasedAmong(store.read, accountId, [email])).has(email)
  const mailsTo = async (email: string) => {
    const rows = await store.read.selectFrom('emails').select(['id', 'to_list', 'status']).execute()
    return rows.filter(({ to_list }) => to_list.includes(email))
  }
  const erase = async (email: string) => {
    const path = '/v1/contacts/erasures'
    const { status, text } = await call('POST', path, { body: { address: email } })
    t.equal(status, 202, text)
  }
  const add = async (email: string) =>
    await call('POST', `/v1/contacts/${form.listId}`, { body: { email } })

  await t.test('gets the confirmation, and is back by it', async (t) => {
    const email = 'back@reader.test'
    await erase(email)
    await add(email)
    t.match(await suppressionsOf(store.read, accountId, email), [{ reason: 'manual' }])
    await fillIn(posthorn, form.page, email)
    const [mail] = await mailsTo(email)
    await until(mail?.id ?? '', ({ status }) => status === 'delivered')
    t.ok(await wasErased(email), 'not by asking')
    const other = await posthorn.send({
      from: 'a@sender.test',
      to: email,
      subject: 'x',
      html: 'x',
    })
    t.equal((await posthorn.email(other.json.id)).status, 'suppressed', 'nothing else passes')
    const link = await linkTo(posthorn, email)
    t.equal((await fetch(link, { method: 'POST' })).status, 200)
    t.notOk(await wasErased(email))
    t.same(await suppressionsOf(store.read, accountId, email), [])
    t.ok(await findContact(store.read, accountId, email))
    const more = await posthorn.send({ from: 'a@sender.test', to: email, subject: 'x', html: 'x' })
    await until(more.json.id, ({ status }) => status === 'delivered')
  })

  await t.test('gets none where somebody has suppressed them since', async (t) => {
    const email = 'kept@reader.test'
    await erase(email)
    const record = { email, reason: 'manual', by: 'api' } as const
    await store.write((tx) => suppress(tx, accountId, record, Date.now()))
    await fillIn(posthorn, form.page, email, { from: '192.0.3.1' })
    await eventually(async () => (await mailsTo(email))[0]?.status === 'suppressed', 10_000)
    t.ok(await wasErased(email))
  })
})
