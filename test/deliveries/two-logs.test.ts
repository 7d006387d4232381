import type { KyselyPlugin } from 'kysely'
import t from 'tap'
import { findDeliveries, readRecipients } from '../../src/deliveries/index.js'
import { questionOf, readStats } from '../../src/stats/index.js'
import type { Read } from '../../src/store/index.js'
import { openCampaigns } from '../support/campaigns.js'

/** A reader beside which `settle` is done, right after each statement that reads the queue. */
function beside(read: Read, settle: () => Promise<unknown>): Read {
  const ofQueue = new WeakSet<object>()
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      if (/"name":"queue"/.test(JSON.stringify(node))) ofQueue.add(queryId)
      return node
    },
    async transformResult({ result, queryId }) {
      if (ofQueue.has(queryId)) await settle()
      return result
    },
  }
  return read.withPlugin(plugin)
}

t.test('what ends while somebody looks is in one of the logs, and not in both', async (t) => {
  const rig = await openCampaigns(t)
  const { store, accountId, clock } = rig
  await rig.addMany(10)
  const made = await rig.create()
  await rig.expand()
  const { id: emailId } = await store.read
    .selectFrom('emails')
    .select('id')
    .where('broadcast_id', '=', made.id)
    .executeTakeFirstOrThrow()
  const waitAgain = () => rig.deliver(() => 'delivered')
  const read = beside(store.read, waitAgain)

  const day = new Date(clock.now()).toISOString().slice(0, 10)
  const question = questionOf({ from: day, to: day }, clock.now())
  const { total } = await readStats(read, accountId, question)
  t.equal(total.accepted, 10)
  t.equal((await store.read.selectFrom('queue').select('id').execute()).length, 0, 'all ended')

  await rig.create()
  await rig.expand()
  const next = await store.read.selectFrom('queue').select('email_id').executeTakeFirstOrThrow()
  t.equal((await readRecipients(read, next.email_id)).length, 1)
  t.match(await readRecipients(read, emailId), [{ status: 'delivered', held: null }])

  await rig.create()
  await rig.expand()
  const last = await store.read.selectFrom('queue').select('email_id').executeTakeFirstOrThrow()
  const { waiting, ended } = await findDeliveries(read, { emailId: last.email_id })
  t.equal(waiting.length + ended.length, 1)
})
