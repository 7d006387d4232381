import t, { type Test } from 'tap'
import {
  clearPauses,
  pauseSending,
  readBilling,
  suspend,
  unsuspend,
} from '../../src/billing/index.js'
import { createBroadcast } from '../../src/broadcasts/index.js'
import { loadConfig, makeApplianceKey } from '../../src/config/index.js'
import { deleteList } from '../../src/contacts/index.js'
import { addDomain, deleteDomain } from '../../src/domains/index.js'
import { acceptBatch, acceptEmail, type EmailDeps } from '../../src/emails/index.js'
import type { SendInput } from '../../src/emails/send-body.js'
import { createTopic, updateTopic } from '../../src/topics/index.js'
import { attachmentRules } from '../support/attachment-rules.js'
import { openCampaigns, plans } from '../support/campaigns.js'
import { changedBeforeWrite } from '../support/gap.js'

type Rig = Awaited<ReturnType<typeof openCampaigns>>

const from = 'News <news@sender.test>'
const mail: SendInput = { from, to: 'a@one.test', subject: 'Hi', html: '<p>x</p>' }
const removeDomain = (rig: Rig) => () => deleteDomain(rig, rig.accountId, 'sender.test')

/** Accepts mails of an account to whom `change` happens between their checks and their write. */
async function inGap(t: Test) {
  const rig = await openCampaigns(t)
  const { retry, maxQueued } = loadConfig({ env: {} }).outbound
  const depsAfter = (change: () => Promise<unknown>): EmailDeps => ({
    clock: rig.clock,
    log: rig.log,
    renderer: rig.renderer,
    plans,
    backlog: rig.backlog,
    attachments: attachmentRules,
    defaultCountry: 'NG',
    retry,
    maxQueued,
    surges: { minimum: 0, times: 10 },
    ring: () => {},
    store: changedBeforeWrite(rig.store, change),
  })
  return {
    rig,
    accept: (change: () => Promise<unknown>, more: Partial<SendInput> = {}) =>
      acceptEmail(depsAfter(change), rig.accountId, { ...mail, ...more }),
    acceptAll: (change: () => Promise<unknown>) =>
      acceptBatch(depsAfter(change), rig.accountId, { items: [mail, mail] }),
    begin: async (change: () => Promise<unknown>, topicId?: string) => {
      const billing = await readBilling(rig.store.read, plans, rig.accountId)
      const store = changedBeforeWrite(rig.store, change)
      const input = { listId: rig.listId, from, subject: 'News', html: '<p>x</p>', topicId }
      return await createBroadcast({ ...rig.deps, store }, billing, input)
    },
    left: async () => [
      ...(await rig.store.read.selectFrom('emails').select('id').execute()),
      ...(await rig.store.read.selectFrom('broadcasts').select('id').execute()),
    ],
  }
}

t.test('a domain that is deleted between check and write: nothing is accepted', async (t) => {
  const { rig, accept, left } = await inGap(t)
  await t.rejects(accept(removeDomain(rig)), {
    code: 'domain_not_verified',
    fields: { domain: 'sender.test', verifiedDomains: [] },
  })
  t.same(await left(), [])
})

t.test('the same for a batch, and for a campaign', async (t) => {
  const batch = await inGap(t)
  const refusal = { code: 'domain_not_verified' }
  await t.rejects(batch.acceptAll(removeDomain(batch.rig)), refusal)
  t.same(await batch.left(), [])
  const campaign = await inGap(t)
  await campaign.rig.addMany(1)
  await t.rejects(campaign.begin(removeDomain(campaign.rig)), refusal)
  t.same(await campaign.left(), [])
})

t.test('a domain that was deleted and added again signs with its new keys', async (t) => {
  const { rig, accept } = await inGap(t)
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  let added = ''
  const { id } = await accept(async () => {
    await removeDomain(rig)()
    added = (await addDomain({ ...rig, key }, rig.accountId, 'sender.test', { trust: true })).id
  })
  const query = rig.store.read.selectFrom('emails').select('domain_id').where('id', '=', id)
  t.same(await query.execute(), [{ domain_id: added }])
})

t.test('an account that is paused or suspended meanwhile is told so', async (t) => {
  const stops = [
    [pauseSending, { code: 'account_paused', status: 503 }],
    [suspend, { code: 'account_suspended' }],
  ] as const
  for (const [stop, refusal] of stops) {
    const { rig, accept, begin, left } = await inGap(t)
    const { store, accountId } = rig
    await rig.addMany(1)
    await t.rejects(
      accept(() => store.write((tx) => stop(tx, accountId, 'bounce'))),
      refusal,
    )
    await store.write((tx) => clearPauses(tx, accountId))
    await store.write((tx) => unsuspend(tx, accountId))
    await t.rejects(
      begin(() => store.write((tx) => stop(tx, accountId, 'bounce'))),
      refusal,
    )
    t.same(await left(), [])
  }
})

t.test('a topic that is archived, a list that is deleted meanwhile', async (t) => {
  const { rig, accept, begin, left } = await inGap(t)
  const { accountId } = rig
  await rig.addMany(1)
  const topic = await createTopic(rig, accountId, { name: 'News' })
  const archive = () => updateTopic(rig, accountId, topic.id, { archived: true })
  const more = { type: 'marketing', topicId: topic.id } as const
  await t.rejects(accept(archive, more), { code: 'conflict', message: /archived/ })
  await updateTopic(rig, accountId, topic.id, { archived: false })
  await t.rejects(begin(archive, topic.id), { code: 'conflict' })
  const drop = () => deleteList(rig, accountId, rig.listId)
  await t.rejects(begin(drop), {
    code: 'not_found',
    message: 'The account has no contact list with this id',
  })
  t.same(await left(), [])
})
