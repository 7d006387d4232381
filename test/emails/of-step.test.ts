// Mails of an automation, and of one of its steps, are found in all of its versions.
import t from 'tap'
import { listEmails } from '../../src/emails/index.js'
import { openEngine, send, trigger } from '../support/automation-rig.js'

t.test('mails of an automation are found by it, and by its step', async (t) => {
  const rig = await openEngine(t)
  const { store, accountId } = rig
  const id = await rig.enabled([trigger(), send('one'), send('two')])
  await rig.start()
  await rig.work()
  const find = async (filter: { automationId: string; step?: string }, account = accountId) => {
    const { emails } = await listEmails(store.read, account, filter, { limit: 10 })
    return emails.map((email) => email.id)
  }
  const all = await find({ automationId: id })
  t.equal(all.length, 2)
  const one = await find({ automationId: id, step: 'one' })
  t.equal(one.length, 1)
  t.same([...(await find({ automationId: id, step: 'two' })), ...one], all, 'the newest first')
  t.same(await find({ automationId: id, step: 'three' }), [])
  t.same(await find({ automationId: id }, '01a1fc92-0000-7000-8000-000000000009'), [], 'of another')
})
