// Issue 44: when a draft will be done, with a test of versions and with each recipient's own clock.
import t from 'tap'
import { broadcastReport } from '../../../src/broadcasts/index.js'
import { forecastWords } from '../../../src/dashboard/campaigns/forecast.js'
import { sendingView } from '../../../src/dashboard/campaigns/report-progress.js'
import type { Rehearsal } from '../../../src/rehearsals/index.js'
import { leavingOf } from '../../../src/rehearsals/leaving.js'
import { openCampaigns } from '../../support/campaigns.js'
import { FakeClock } from '../../support/clock.js'

const now = Date.parse('2026-12-01T08:00:00Z')
const versions = { variants: [{ subject: 'A' }, { subject: 'B' }], rate: 1_000 }

t.test('a test of versions: it leaves, then the decision, then the rest', async (t) => {
  const rig = await openCampaigns(t, { clock: new FakeClock(now) })
  const of = async (variantTest: object) => {
    const draft = await rig.create({ ...versions, variantTest }, { draft: true })
    return await forecastWords(rig.store.read, draft, { people: 10_000, from: now, zone: 'UTC' })
  }
  t.equal(
    await of({ share: 20, decideAfter: 4 }),
    'Its test, 2,000 mails, has left at about 1 Dec 2026, 10:00 (UTC); the version for the rest is chosen at about 1 Dec 2026, 14:00 (UTC). Done at about 1 Dec 2026, 22:00 (UTC): 10,000 mails in all, at its rate of 1,000 an hour.',
  )
  t.match(await of({ share: 20, decideAfter: 'by hand' }), /The other 8,000 wait until you choose/)
  t.match(await of({ share: 100 }), /^Done at about 1 Dec 2026, 18:00 /)
})

t.test('each recipient’s own clock: from the first of them to the last', async (t) => {
  const rig = await openCampaigns(t, { clock: new FakeClock(now) })
  const own = { scheduledAt: '2026-12-03T09:00:00+01:00', localTimeOf: 'Europe/Berlin' }
  const draft = await rig.create(own, { draft: true })
  const said = async (of = draft) =>
    await forecastWords(rig.store.read, of, { people: 600, from: now, zone: 'UTC' })
  t.equal(await said(), undefined, 'there is nobody yet')
  for (const timeZone of ['Africa/Lagos', 'America/New_York', 'nonsense']) {
    await rig.add(`${timeZone.length}@x.test`, { metadata: { timeZone } })
  }
  t.equal(
    await said(),
    'By each recipient’s own clock: the first get it from 3 Dec 2026, 08:00 (UTC) on, the last by 3 Dec 2026, 14:00 (UTC). 2 by their own clock; 1 has no time zone that is known, and gets it at 09:00 Europe/Berlin.',
  )
  const variantTest = { share: 50, decideAfter: 4 }
  const tried = await rig.create(
    { ...own, ...versions, rate: undefined, variantTest },
    { draft: true },
  )
  t.equal(
    await said(tried),
    'By each recipient’s own clock. Its test, 300 mails: the first get it from 3 Dec 2026, 08:00 (UTC) on, the last by 3 Dec 2026, 14:00 (UTC); the version for the rest is chosen at about 3 Dec 2026, 18:00 (UTC). The rest get it when their clocks next show that hour, from 4 Dec 2026, 08:00 (UTC) to 4 Dec 2026, 14:00 (UTC). 2 by their own clock; 1 has no time zone that is known, and gets it at 09:00 Europe/Berlin.',
  )
})

t.test('a rehearsal goes by own clocks and versions as the sending does', async (t) => {
  const rig = await openCampaigns(t, { clock: new FakeClock(now) })
  for (const timeZone of ['Africa/Lagos', 'America/New_York']) {
    await rig.add(`${timeZone.length}@x.test`, { metadata: { timeZone } })
  }
  const own = { scheduledAt: '2026-12-03T09:00:00+01:00', localTimeOf: 'Europe/Berlin' }
  const at = async (variantTest: { decideAfter: number | 'by hand' }) => {
    const given = { variants: versions.variants, variantTest: { share: 40, ...variantTest } }
    const draft = await rig.create({ ...own, ...given }, { draft: true })
    return (await leavingOf(rig.store.read, draft, { people: 600, notBefore: now }))(0)
  }
  const time = Date.parse
  const chosen = await at({ decideAfter: 4 })
  t.match(chosen, { mails: 600, startsAt: time('2026-12-03T08:00:00Z') })
  t.match(chosen.test, { recipients: 240, chosenAt: time('2026-12-03T18:00:00Z') })
  t.equal(chosen.leavesAt(240), time('2026-12-04T08:00:00Z'), 'the rest when clocks show it next')
  t.match(await at({ decideAfter: 'by hand' }), { mails: 240, test: { chosenAt: null } })
})

t.test('what is left of a campaign by own clocks is told in the zone of who looks', async (t) => {
  const clock = new FakeClock(now)
  const rig = await openCampaigns(t, { clock })
  for (const timeZone of ['Africa/Lagos', 'America/New_York']) {
    await rig.add(`${timeZone.length}@x.test`, { metadata: { timeZone } })
  }
  const own = { scheduledAt: '2026-12-03T09:00:00+01:00', localTimeOf: 'Europe/Berlin' }
  const { id } = await rig.create(own)
  await clock.advance(Date.parse('2026-12-02T19:00:01Z') - now)
  await rig.expand()
  const report = await broadcastReport({ store: rig.store, tracking: undefined }, rig.accountId, id)
  const deps = { store: rig.store, gateOf: async () => undefined }
  const broadcast = await rig.find(id)
  const of = { broadcast, base: '', now: clock.now(), waits: false, zone: 'Africa/Lagos' }
  t.match(
    (await sendingView(deps, report, of)).facts.find(({ label }) => label === 'Time left')?.value,
    'the next at 3 Dec 2026, 09:00:00 (Africa/Lagos), the last at 3 Dec 2026, 15:00:00 (Africa/Lagos)',
  )
})

t.test('versions before the first campaign leave as fast as rehearsed', async (t) => {
  const rig = await openCampaigns(t, { clock: new FakeClock(now) })
  const variantTest = { share: 50, decideAfter: 'by hand' } as const
  const given = { ...versions, rate: undefined, variantTest }
  const draft = await rig.create(given, { draft: true })
  const said = async (rehearsed: Pick<Rehearsal, 'doneAt' | 'heldUp' | 'test'>) =>
    await forecastWords(rig.store.read, draft, {
      people: 1_000,
      from: now,
      zone: 'UTC',
      rehearsed,
    })
  const test = { recipients: 500, chosenAt: null }
  t.match(
    await said({ doneAt: '2026-12-01T10:00:00Z', heldUp: null, test }),
    /^Its test, 500 mails, has left at about 1 Dec 2026, 10:00 .* at the rates that mailbox providers take now. The other 500 wait/,
  )
  const chosenAt = '2026-12-01T09:00:00Z'
  t.match(
    await said({ doneAt: '2026-12-01T10:00:00Z', heldUp: null, test: { ...test, chosenAt } }),
    /chosen at about 1 Dec 2026, 09:00 .* Done at about 1 Dec 2026, 10:00 /,
  )
  const heldUp = { site: 'x.test', gate: 'warm-up', says: 'day 1' } as const
  t.equal(
    await said({ doneAt: null, heldUp, test }),
    'It would not be done within 30 days. It waits most for x.test: day 1.',
    'the worst is told too',
  )
})
