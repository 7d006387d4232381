// A row of the database may be broken: by a bug, a hand in it, a damaged page. What can be answered is.
import t from 'tap'
import { silentLog } from '../../src/log/index.js'
import { startPosthorn } from '../support/posthorn.js'

const logged: { fields: object; message: string }[] = []
const log = {
  ...silentLog,
  error: (fields: object, message: string) => void logged.push({ fields, message }),
}
const posthorn = await startPosthorn(t, { log })
const { store, call } = posthorn

t.test(
  'a mail whose own row is broken is answered as far as it goes, and told of once',
  async (t) => {
    const to = ['Ann <ann@x.test>', 'bob@y.test']
    const mail = { from: 'me@sender.test', to, subject: 'Hi', html: '<p>x</p>', metadata: { a: 1 } }
    const { id } = (await posthorn.send(mail)).json
    await posthorn.until(id, ({ status }) => status === 'delivered')
    const set = (values: object) =>
      store.write((tx) => tx.updateTable('emails').set(values).where('id', '=', id).execute())
    for (const broken of ['{', 'null', '[1]']) {
      await set({ to_list: broken, metadata: '{' })
      t.match(await posthorn.email(id), {
        to: 'ann@x.test, bob@y.test',
        metadata: null,
        subject: 'Hi',
        status: 'delivered',
        recipients: [{ email: 'ann@x.test' }, { email: 'bob@y.test' }],
      })
    }
    t.match(logged, [{ fields: { emailId: id, columns: ['to_list', 'metadata'] } }])
    t.equal(logged.length, 1)
  },
)

t.test('a contact whose metadata is broken is listed, mended and heard of', async (t) => {
  const listId = (await call('POST', '/v1/contacts/lists', { body: { name: 'L' } })).json.id
  const email = 'cara@x.test'
  const { id } = (await call('POST', `/v1/contacts/${listId}`, { body: { email } })).json
  await call('POST', `/v1/contacts/${listId}`, { body: { email: 'dan@x.test' } })
  await store.write((tx) =>
    tx.updateTable('contacts').set({ metadata: '{' }).where('email', '=', email).execute(),
  )
  const listed = (await call('GET', `/v1/contacts/${listId}`)).json
  t.match(listed.contacts, [{ email: 'dan@x.test' }, { email }])
  for (const whom of [{ email }, { contactId: id }]) {
    const sent = await call('POST', '/v1/events/send', { body: { event: 'seen', ...whom } })
    t.match(sent, { status: 202, json: { contactId: id } })
  }
  const body = { email, metadata: { town: 'Lagos' } }
  t.match(await call('POST', `/v1/contacts/${listId}`, { body }), { json: { id } })
  const { metadata } = await store.read
    .selectFrom('contacts')
    .select('metadata')
    .where('email', '=', email)
    .executeTakeFirstOrThrow()
  t.equal(metadata, '{"town":"Lagos"}')
})
