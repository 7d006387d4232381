// Issue 47: taking out all that fit is a task.
import t from 'tap'
import { findTakeOut, makeTakeOuts, orderTakeOut } from '../../src/automations/index.js'
import { silentLog } from '../../src/log/index.js'
import { delay, openEngine, trigger } from '../support/automation-rig.js'
import { eventually } from '../support/eventually.js'

t.test('those who fit leave, in slices, after a restart too; who comes later stays', async (t) => {
  const rig = await openEngine(t)
  const { store, clock, accountId } = rig
  const id = await rig.enabled([trigger(), delay('one', 'P1D'), delay('two', 'P1D')])
  for (let n = 0; n < 250; n++) await rig.start({ email: `p${n}@x.test` })
  await rig.work()
  const steps = await store.read.selectFrom('automation_steps').select(['id', 'key']).execute()
  const at = (key: string) => steps.find((step) => step.key === key)?.id ?? 0
  // Three have gone on.
  await store.write(async (tx) => {
    const some = await tx.selectFrom('automation_live').select('id').limit(3).execute()
    for (const run of some) {
      await tx
        .updateTable('automation_live')
        .set({ step_id: at('two') })
        .where('id', '=', run.id)
        .execute()
    }
  })
  const filter = { statuses: ['running', 'waiting'] as const, stepIds: [at('one')] }
  const order = { filter, says: 'at “one”', startedBy: 'test' }
  const automation = await rig.automation(id)
  const { id: taskId, total } = await orderTakeOut({ store, clock }, automation, order)
  t.equal(total, 247)
  await clock.advance(2)
  await rig.start({ email: 'later@x.test' })
  await rig.work()
  t.match(await rig.automation(id), { waiting: 251, cancelled: 0 }, 'nobody works at it yet')

  // As after a restart.
  const takeOuts = makeTakeOuts({ store, clock, log: silentLog })
  t.teardown(() => takeOuts.close())
  await takeOuts.change(accountId, taskId, 'paused')
  await takeOuts.resume()
  t.match(await findTakeOut(store.read, accountId, taskId), { state: 'paused', done: 0 })
  await takeOuts.change(accountId, taskId, 'running')
  await eventually(async () => {
    await clock.advance(20)
    return (await findTakeOut(store.read, accountId, taskId)).state === 'done'
  }, 10_000)
  t.match(await findTakeOut(store.read, accountId, taskId), { done: 247, total: 247 })
  t.match(await rig.automation(id), { waiting: 4, cancelled: 247 })
  const left = await store.read
    .selectFrom('automation_live')
    .innerJoin('contacts', 'contacts.id', 'contact_id')
    .select('email')
    .where('step_id', '=', at('one'))
    .execute()
  t.same(left, [{ email: 'later@x.test' }])
  await t.rejects(takeOuts.change(accountId, taskId, 'stopped'), 'it has ended')
})
