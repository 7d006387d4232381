import t from 'tap'
import { stopBroadcast } from '../../src/broadcasts/index.js'
import { mailsFrom, unfinishedOf, waitingAfter } from '../../src/domains/delete.js'
import { deleteDomain, findSenderDomain } from '../../src/domains/index.js'
import { openCampaigns } from '../support/campaigns.js'
import { FakeClock } from '../support/clock.js'
import { outboundRig } from '../support/outbound.js'
import { aboutSqlite } from '../support/postgres.js'
import { queryPlan } from '../support/query-plan.js'

const name = 'sender.test'

t.test('a domain stays while a campaign that sends from it is not through', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  const { store, accountId } = rig
  await rig.addMany(2)
  const draft = await rig.create({}, { draft: true })
  const later = await rig.create({ scheduledAt: new Date(clock.now() + 60_000).toISOString() })
  const refusal = (id: string, status: string) => ({
    code: 'conflict',
    message: new RegExp(`campaign ${id} is ${status} and sends from it`),
  })
  await t.rejects(deleteDomain(rig, accountId, name), refusal(later.id, 'scheduled'))
  await clock.advance(61_000)
  await rig.expand()
  await t.rejects(deleteDomain(rig, accountId, name), /2 deliveries from it are waiting/)
  await stopBroadcast(rig, later)
  await deleteDomain(rig, accountId, name)
  t.equal(await findSenderDomain(store.read, accountId, name), undefined)
  t.match(await rig.find(draft.id), { status: 'draft' }, 'a draft asks when it is sent')
})

t.test('mail that is accepted while the queue is looked through is seen', async (t) => {
  const rig = await outboundRig(t, { stopped: true })
  const { store } = rig
  let sent: Promise<string> | undefined
  const meanwhile = {
    ...store,
    async write<T>(work: Parameters<typeof store.write<T>>[0]) {
      sent ??= rig.send({ to: 'a@one.test' })
      await sent
      return await store.write(work)
    },
  }
  const clock = new FakeClock(Date.now())
  await t.rejects(
    deleteDomain({ store: meanwhile, clock }, rig.accountId, name),
    /1 delivery from it is waiting/,
  )
})

t.test(
  'the write of a deletion looks things up, and reads no table through',
  aboutSqlite,
  async (t) => {
    const { store, accountId } = await openCampaigns(t)
    const { read } = store
    const queries = [
      unfinishedOf(read, accountId, 'd'),
      waitingAfter(read, 1),
      mailsFrom(read, 'd', ['a', 'b']),
    ]
    for (const query of queries) {
      const plan = await queryPlan(read, query)
      const searches = plan.filter((line) => /^SEARCH (broadcasts|queue|emails) USING /.test(line))
      t.equal(searches.length, 1, `${plan}`)
      t.notOk(plan.some((line) => /^SCAN (broadcasts|queue|emails)/.test(line)))
    }
  },
)

t.test('mail whose domain is gone all the same ends at once, with the reason', async (t) => {
  const rig = await outboundRig(t, { stopped: true })
  const id = await rig.send({ to: 'a@one.test' })
  await rig.store.write((tx) => tx.deleteFrom('domains').execute())
  await rig.start()
  t.match(await rig.becomes(id, 'failed'), {
    recipients: [{ status: 'failed', reply: 'The sending domain sender.test was deleted' }],
  })
})
