import { once } from 'node:events'
import t from 'tap'
import { type Broadcast, findAnyBroadcast, pauseOverdue } from '../../src/broadcasts/index.js'
import { watchBroadcast } from '../../src/cli/broadcast-watch.js'
import { systemClock } from '../../src/clock/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { addDomain } from '../../src/domains/index.js'
import { openCampaigns } from '../support/campaigns.js'
import { FakeClock } from '../support/clock.js'
import { databaseSettings } from '../support/postgres.js'
import { openTestStore } from '../support/store.js'
import { openPlace } from './place.js'
import { outcomeOf, startCli } from './run.js'

// Each step is a command on a machine that may have other work.
t.setTimeout(300_000)

const nobody = '01900000-0000-7000-8000-000000000000'

t.test('campaigns are sent, shown, paused, resumed and cancelled', async (t) => {
  const place = await openPlace(t)
  const { run, json, refused } = place
  const { id: accountId } = await json<{ id: string }>('account', 'create', 'City')
  const store = await openTestStore(t, { dataDir: place.data, slot: 14 })
  const clock = systemClock
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  await addDomain({ store, clock, key }, accountId, 'sender.test', { trust: true })
  const rig = await openCampaigns(t, { store, accountId, clock })
  await rig.addMany(4)
  t.match(await run('broadcast', 'list'), { stdout: 'No campaign yet\n' })
  await refused(/No campaign x; 'posthorn broadcast list'/, 'broadcast', 'show', 'x')

  const { id } = await rig.create({ name: 'Week 47' }, { draft: true })
  t.match(await run('broadcast', 'send', id, '--yes'), { stdout: /^On its way to 4 recipients; / })
  await refused(/Only a draft can be sent; this campaign is sending/, 'broadcast', 'send', id)
  await rig.expand()
  const why = { broadcast_id: id, reason: 'too_many', said: 2 }
  await store.write((tx) => tx.insertInto('broadcast_why_left').values(why).execute())
  t.match(await run('broadcast', 'report', id), {
    stdout: /Opened +not measured: opens are not tracked[\s\S]*too many mails +2/,
  })
  t.match(await json('broadcast', 'pause', id, '--reason', 'wrong link'), {
    id,
    status: 'paused',
    message: 'Campaign paused',
    mails: 4,
    inFlight: 0,
  })
  const { stdout: held } = await run('queue', 'held', '--campaign', id)
  t.match(
    held,
    /WHY\n(\d+ .+ campaign .+ is paused\n){4}\nPAUSED CAMPAIGN .+\n.+ News .+ wrong link/,
  )
  t.match(await run('queue', 'held', '--account', 'City'), { stderr: /posthorn broadcast resume/ })
  t.match(await json('queue', 'held', '--account', 'City'), {
    deliveries: Array(4).fill({ held: { reason: / is paused$/ } }),
    campaigns: [{ id, accountId, name: 'Week 47', status: 'paused', reason: 'wrong link' }],
  })
  t.match(await json('queue', 'held', '--limit', '1'), {
    deliveries: { length: 1 },
    campaigns: { length: 1 },
  })
  await refused(/No campaign/, 'queue', 'list', '--campaign', nobody)
  t.match(await run('broadcast', 'resume', id), { stdout: /^It goes on; 4 mails released/ })
  for (const look of [
    ['show', id, '--failed'],
    ['report', id],
  ]) {
    const { stdout, stderr } = await run('broadcast', ...look)
    t.match(stdout + stderr, 'Nobody so far, and 4 mails are still on the way')
  }

  let left = 3
  await rig.deliver(() => (left-- > 1 ? 'delivered' : left === 0 ? 'bounced' : 'deferred'))
  const shown = await run('broadcast', 'show', id)
  t.match(shown.stdout, /\nStatus +sending\n/)
  t.match(shown.stdout, /\nRecipients +4\nWaiting +1\nDelivered +2\nBounced +1\n/)
  // One attempt is under way until the command has looked.
  const lease = { lease: 0, due_at: clock.now() + 3_600_000 }
  await store.write((tx) => tx.updateTable('queue').set(lease).execute())
  const child = startCli(['broadcast', 'cancel', id, '--yes'], {
    env: { ...databaseSettings(place.data), POSTHORN_DATA: place.data },
  })
  const cancelled = outcomeOf(child)
  if (child.stderr !== null) await once(child.stderr, 'data')
  await store.write((tx) => tx.updateTable('queue').set({ lease: null }).execute())
  t.match(await cancelled, {
    stdout: /^Cancelled; 1 mail will not leave/,
    stderr: /^1 in flight: waiting for them to end\n$/,
  })
  t.match(await run('broadcast', 'show', id, '--watch'), {
    stdout: /^\[#{20}\] 100 % {2}4 of 4 {2}0\.0\/s {2}cancelled\nCampaign/,
  })
  const failed = await json<{ status: string }[]>('broadcast', 'show', id, '--failed')
  t.match(
    failed.sort((a, b) => (a.status < b.status ? -1 : 1)),
    [
      { email: /@d\d\.test$/, status: 'bounced', emailId: String, reply: '250 ok' },
      { email: /@d\d\.test$/, status: 'cancelled', emailId: String },
    ],
  )
  t.match(await run('broadcast', 'show', id, '--failed'), { stdout: /bounced.+250 ok\n/ })
  t.match(await json('broadcast', 'list'), {
    broadcasts: [{ id, name: 'Week 47', status: 'cancelled', stats: { delivered: 2, bounced: 1 } }],
    hasMore: false,
    nextCursor: null,
  })
  t.match(await json('broadcast', 'show', id), { id, progress: { cancelled: 1 } })
  const { stdout: list } = await run('broadcast', 'list')
  t.match(list, /^ID +STATUS +RECIPIENTS[^\n]+\n\S+ +cancelled +4 +2 +1 +- +- .+Week 47\n$/)
})

t.test('progress is written over on a terminal, and a line each time elsewhere', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  await rig.addMany(1)
  const made = await rig.create()
  const states: Partial<Broadcast>[] = [
    { recipients: 0, waiting: 0 },
    { recipients: 600, waiting: 500 },
    { recipients: 1_000, waiting: 0, expanded: 1, status: 'sent' },
  ]
  async function watch(out: { isTTY: boolean; columns?: number }, json = false) {
    let text = ''
    let at = 0
    const look = async () => {
      const broadcast = { ...made, audience: 1_000, ...states[at++] }
      return { broadcast, stop: null }
    }
    const write = (more: string) => {
      text += more
    }
    const ended = watchBroadcast({ look, clock, json, out: { ...out, write } })
    while (at < states.length) await clock.advance(1_000)
    await ended
    return text
  }
  t.equal(
    await watch({ isTTY: true, columns: 60 }),
    [
      '\r\u001b[K[....................]   0 %  0 of 1,000  0.0/s  sending',
      '\r\u001b[K[##..................]  10 %  100 of 1,000  100/s  about 9 ',
      '\r\u001b[K[####################] 100 %  1,000 of 1,000  500/s  sent\n',
    ].join(''),
  )
  t.match(
    await watch({ isTTY: false }),
    /^\[\.{20}\] .+sending\n.+20\/s {2}about 45 s left {2}sending\n.+ sent\n$/,
  )
  const lines = (await watch({ isTTY: true }, true)).trim().split('\n')
  t.match(JSON.parse(lines[1] ?? ''), { done: 100, total: 1_000, perSecond: 20, leftMs: 45_000 })
})

t.test('what is overdue by more than an hour at the start waits for the operator', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  await rig.addMany(550)
  const at = (ms: number) => ({ scheduledAt: new Date(clock.now() + ms).toISOString() })
  const [old, recent] = [await rig.create(at(1_000)), await rig.create(at(3_600_000))]
  const half = await rig.create()
  const stop = new AbortController()
  await rig.expand({ backlog: { ...rig.backlog, change: () => stop.abort() } }, stop.signal)
  t.match(await rig.find(half.id), { recipients: 500, expanded: 0 })
  const whole = await rig.create({ subject: 'Whole' })
  await rig.store.write((tx) =>
    tx.updateTable('broadcasts').set({ expanded: 1 }).where('id', '=', whole.id).execute(),
  )
  t.same(await pauseOverdue(rig), [])
  await clock.advance(3_700_000)
  t.same((await pauseOverdue(rig)).sort(), [old.id, half.id].sort())
  t.match(await rig.find(old.id), { status: 'paused', reason: /^overdue by more than an hour/ })
  t.match(await rig.find(half.id), { status: 'paused', reason: /^broken off/ })
  t.match(await rig.find(recent.id), { status: 'scheduled' })
  t.match(await rig.find(whole.id), { status: 'sending' })
  t.same(await rig.deliver(() => 'delivered'), [], 'what was made waits too')
  t.match(await findAnyBroadcast(rig.store.read, half.id.toUpperCase()), { id: half.id })
})
