import t from 'tap'
import { clearPauses, pauseSending, readBilling } from '../../src/billing/index.js'
import {
  type Broadcast,
  type BroadcastChanges,
  changeDraft,
  pauseOverdue,
  resumeBroadcast,
  takeBack,
} from '../../src/broadcasts/index.js'
import { listRecipients } from '../../src/broadcasts/recipients.js'
import { shownBroadcast } from '../../src/broadcasts/shown.js'
import { deleteList } from '../../src/contacts/index.js'
import { openCampaigns, plans } from '../support/campaigns.js'
import { FakeClock } from '../support/clock.js'
import { changedBeforeWrite } from '../support/gap.js'
import { poison } from '../support/poison.js'

type Rig = Awaited<ReturnType<typeof openCampaigns>>
const statusOf = async (rig: Rig, { id }: Broadcast) => (await rig.find(id)).status

t.test('a campaign that meets a fault of its own is paused, and the others go on', async (t) => {
  const rig = await openCampaigns(t)
  await rig.addMany(3)
  const bad = await rig.create({ subject: 'Bad' })
  const heal = await poison(rig.store, 'insert on emails', `new.broadcast_id = '${bad.id}'`)
  const good = await rig.create({ subject: 'Good' })
  await rig.expand()
  t.match(await rig.find(good.id), { recipients: 3, expanded: 1 })
  t.match(await rig.find(bad.id), {
    status: 'paused',
    recipients: 0,
    expanded: 0,
    reason: 'Internal error: its mails could not be made: it is poisoned',
  })
  t.match(shownBroadcast(await rig.find(bad.id), null, { now: rig.clock.now(), left: 0 }), {
    pausedReason: 'Internal error; the operator has to look into it',
  })
  // As 'posthorn broadcast resume' does, once what was wrong is mended.
  await heal()
  await resumeBroadcast(rig, bad)
  await rig.expand()
  t.match(await rig.find(bad.id), { status: 'sending', recipients: 3, reason: null })
})

t.test('recipients are shown with one whose mail is broken', async (t) => {
  const rig = await openCampaigns(t)
  await rig.add('a@one.test')
  await rig.add('b@two.test')
  const { id } = await rig.create()
  await rig.expand()
  await rig.store.write((tx) =>
    tx
      .updateTable('emails')
      .set({ to_list: '{' })
      .where('to_list', '=', '["a@one.test"]')
      .execute(),
  )
  const shown = (await listRecipients(rig.store.read, id, 10)).map(({ email }) => email)
  t.same(shown.sort(), ['', 'b@two.test'])
})

t.test('a contact whose data are broken is named', async (t) => {
  const rig = await openCampaigns(t)
  const { id } = await rig.add('a@one.test', { metadata: { town: 'Lagos' } })
  await rig.store.write((tx) => tx.updateTable('contacts').set({ metadata: '{' }).execute())
  const made = await rig.create({ subject: 'News of {{ town }}' })
  await rig.expand()
  t.match(await rig.find(made.id), { status: 'paused' })
  t.match((await rig.find(made.id)).reason, new RegExp(`Contact ${id}: .*JSON`))
})

t.test('one that can be neither made into mail nor paused is passed over', async (t) => {
  const rig = await openCampaigns(t)
  await rig.addMany(2)
  const bad = await rig.create({ subject: 'Bad' })
  const good = await rig.create({ subject: 'Good' })
  await poison(rig.store, 'update on broadcasts', `new.id = '${bad.id}'`)
  await rig.expand()
  t.match(await rig.find(good.id), { recipients: 2, expanded: 1 })
  t.match(await rig.find(bad.id), { status: 'sending', recipients: 0 })
})

t.test('a renderer without room pauses no campaign', async (t) => {
  const rig = await openCampaigns(t)
  await rig.addMany(1)
  const made = await rig.create({ subject: '{% if email %}Hi{% endif %}' })
  const renderer = {
    render: async () => ({ kind: 'unavailable' as const, cause: 'too many are waiting' }),
    close: async () => {},
  }
  await t.rejects(rig.expand({ renderer }), { code: 'service_unavailable' })
  t.equal(await statusOf(rig, made), 'sending')
  await rig.expand()
  t.match(await rig.find(made.id), { recipients: 1 })
})

t.test('one that cannot be dispatched keeps none that is due from it', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  await rig.addMany(2)
  const at = (ms: number) => ({ scheduledAt: new Date(clock.now() + ms).toISOString() })
  const bad = await rig.create(at(1_000))
  const good = await rig.create(at(2_000))
  const begins = `new.id = '${bad.id}' and new.status = 'sending'`
  await poison(rig.store, 'update on broadcasts', begins)
  await clock.advance(3_000)
  await rig.expand()
  t.match(await rig.find(good.id), { status: 'sending', recipients: 2 })
  const reason = 'Internal error: it could not be dispatched: it is poisoned'
  t.match(await rig.find(bad.id), { status: 'paused', reason })
})

t.test('one whose account is paused while it is dispatched waits, as they all do', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  const { store, accountId } = rig
  await rig.addMany(2)
  const made = await rig.create({ scheduledAt: new Date(clock.now() + 1_000).toISOString() })
  await clock.advance(2_000)
  const inGap = changedBeforeWrite(store, () =>
    store.write((tx) => pauseSending(tx, accountId, 'bounce')),
  )
  await rig.expand({ store: inGap })
  t.match(await rig.find(made.id), { status: 'scheduled', reason: null })
  await store.write((tx) => clearPauses(tx, accountId))
  await rig.expand()
  t.match(await rig.find(made.id), { status: 'sending', recipients: 2 })
})

t.test('one whose list is deleted while it is dispatched is paused and says so', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  await rig.addMany(2)
  const made = await rig.create({ scheduledAt: new Date(clock.now() + 1_000).toISOString() })
  await clock.advance(2_000)
  await rig.expand({
    store: changedBeforeWrite(rig.store, () => deleteList(rig, rig.accountId, rig.listId)),
  })
  t.match(await rig.find(made.id), {
    status: 'paused',
    paused_by: 'account',
    reason: /^The list “.*” of its audience was deleted/,
  })
  await t.rejects(resumeBroadcast(rig, made, { byAccount: true }), {
    code: 'conflict',
    message: /It cannot go on, .* is gone .* Take it back/,
  })
  // Its account makes a draft of it, keeps writing it, and takes the list off when it has another.
  await takeBack(rig, rig.accountId, made.id)
  const billing = await readBilling(rig.store.read, plans, rig.accountId)
  const change = (changes: BroadcastChanges) => changeDraft(rig.deps, billing, made.id, changes)
  t.match(await change({ name: 'Autumn' }), { name: 'Autumn', list_id: rig.listId })
  const other = '01a1fc92-9915-7533-8296-0a5be7d1c2f3'
  await t.rejects(change({ listId: other }), { code: 'not_found' })
})

t.test('after a restart, those of a paused account go on when the pause is cleared', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  const { store, accountId } = rig
  await rig.addMany(550)
  const later = await rig.create({ scheduledAt: new Date(clock.now() + 1_000).toISOString() })
  const half = await rig.create()
  const stop = new AbortController()
  await rig.expand({ backlog: { ...rig.backlog, change: () => stop.abort() } }, stop.signal)
  t.match(await rig.find(half.id), { recipients: 500, expanded: 0 })
  await store.write((tx) => pauseSending(tx, accountId, 'complaint'))
  await clock.advance(5 * 3_600_000)
  // The start.
  t.same(await pauseOverdue(rig), [])
  await rig.expand()
  t.match(await rig.find(half.id), { status: 'sending', recipients: 500 })
  await store.write((tx) => clearPauses(tx, accountId))
  await rig.expand()
  t.match(await rig.find(half.id), { status: 'sending', recipients: 550 })
  t.match(await rig.find(later.id), { status: 'sending', recipients: 550 })
})
