import t from 'tap'
import { makeStoredEmails } from '../../src/outbound/content/stored-emails.js'
import { outboundRig } from '../support/outbound.js'

t.test('the content of a body is read once for the mails that share it', async (t) => {
  const { store, send } = await outboundRig(t, { stopped: true })
  const shared = [await send({ to: 'a@d.test', html: '<p>One</p>', text: 'One' })]
  for (const to of ['b@d.test', 'c@d.test', 'd@d.test']) shared.push(await send({ to }))
  const alone = await send({ to: 'e@d.test', html: '<p>Alone</p>' })
  const bodyOf = async (id = '') => {
    const of = store.read.selectFrom('emails').select('body_id').where('id', '=', id)
    return (await of.executeTakeFirstOrThrow()).body_id
  }
  const body_id = await bodyOf(shared[0])
  await store.write((tx) =>
    tx.updateTable('emails').set({ body_id }).where('id', 'in', shared).execute(),
  )
  const find = makeStoredEmails(store.read)
  const [first, second] = [await find(shared[0] ?? ''), await find(shared[1] ?? '')]
  t.match([first?.html, second?.html], ['<p>One</p>', '<p>One</p>'])
  // Nothing does so; it shows what is read.
  await store.write((tx) => tx.updateTable('bodies').set({ html: 'changed' }).execute())
  t.match(await find(shared[2] ?? ''), { html: '<p>One</p>', text: 'One', attachments: null })
  const both = await Promise.all([find(shared[3] ?? ''), find(alone)])
  t.match(both, [{ html: '<p>One</p>' }, { html: 'changed' }], 'beside one of another body')
  t.equal(await find('no such mail'), undefined)
})

t.test('a large body is not kept, nor more of them than a few', async (t) => {
  const { store, send } = await outboundRig(t, { stopped: true })
  const large = await send({ to: 'a@d.test', html: `<p>${'x'.repeat(300_000)}</p>` })
  const many: string[] = []
  for (let i = 0; i < 17; i++) many.push(await send({ to: 'a@d.test', html: `<p>${i}</p>` }))
  const find = makeStoredEmails(store.read)
  for (const id of [large, large, ...many, ...many]) await find(id)
  await store.write((tx) => tx.updateTable('bodies').set({ html: 'changed' }).execute())
  t.equal((await find(large))?.html, 'changed')
  t.equal((await find(many[0] ?? ''))?.html, 'changed', 'the one that was kept longest ago')
  t.equal((await find(many[16] ?? ''))?.html, '<p>16</p>')
})
