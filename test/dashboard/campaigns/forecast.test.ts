// Issue 44: when a draft will be done, with a test of versions and with each recipient's own clock.
import t from 'tap'
import { forecastWords } from '../../../src/dashboard/campaigns/forecast.js'
import { openCampaigns } from '../../support/campaigns.js'
import { FakeClock } from '../../support/clock.js'

const now = Date.parse('2026-12-01T08:00:00Z')
const versions = { variants: [{ subject: 'A' }, { subject: 'B' }], rate: 1_000 }

t.test('a test of versions: it leaves, then the decision, then the rest', async (t) => {
  const rig = await openCampaigns(t, { clock: new FakeClock(now) })
  const of = async (variantTest: object) => {
    const draft = await rig.create({ ...versions, variantTest }, { draft: true })
    return await forecastWords(rig.store.read, draft, { people: 10_000, now, zone: 'UTC' })
  }
  t.equal(
    await of({ share: 20, decideAfter: 4 }),
    'Its test, 2,000 mails, has left at about 1 Dec 2026, 10:00:00 (UTC); the version for the rest is chosen at about 1 Dec 2026, 14:00:00 (UTC). Done at about 1 Dec 2026, 22:00:00 (UTC): 10,000 mails in all, at its rate of 1,000 an hour.',
  )
  t.match(await of({ share: 20, decideAfter: 'by hand' }), /The other 8,000 wait until you choose/)
  t.match(await of({ share: 100 }), /^Done at about 1 Dec 2026, 18:00:00 /)
})

t.test('each recipient’s own clock: from the first of them to the last', async (t) => {
  const rig = await openCampaigns(t, { clock: new FakeClock(now) })
  const own = { scheduledAt: '2026-12-03T09:00:00+01:00', localTimeOf: 'Europe/Berlin' }
  const draft = await rig.create(own, { draft: true })
  const said = async (of = draft) =>
    await forecastWords(rig.store.read, of, { people: 600, now, zone: 'UTC' })
  t.equal(await said(), undefined, 'there is nobody yet')
  for (const timeZone of ['Africa/Lagos', 'America/New_York', 'nonsense']) {
    await rig.add(`${timeZone.length}@x.test`, { metadata: { timeZone } })
  }
  t.equal(
    await said(),
    'By each recipient’s own clock: the first get it from 3 Dec 2026, 08:00:00 (UTC) on, the last by 3 Dec 2026, 14:00:00 (UTC).',
  )
  const variantTest = { share: 50, decideAfter: 4 }
  const tried = await rig.create(
    { ...own, ...versions, rate: undefined, variantTest },
    { draft: true },
  )
  t.equal(
    await said(tried),
    'By each recipient’s own clock. Its test, 300 mails: the first get it from 3 Dec 2026, 08:00:00 (UTC) on, the last by 3 Dec 2026, 14:00:00 (UTC); the version for the rest is chosen at about 3 Dec 2026, 18:00:00 (UTC). The rest get it when their clocks next show that hour, from 4 Dec 2026, 08:00:00 (UTC) to 4 Dec 2026, 14:00:00 (UTC).',
  )
})

t.test('versions before the first campaign leave as fast as rehearsed', async (t) => {
  const rig = await openCampaigns(t, { clock: new FakeClock(now) })
  const variantTest = { share: 50, decideAfter: 'by hand' } as const
  const given = { ...versions, rate: undefined, variantTest }
  const draft = await rig.create(given, { draft: true })
  const rehearse = async () => ({ doneAt: '2026-12-01T10:00:00Z', heldUp: null })
  t.match(
    await forecastWords(rig.store.read, draft, { people: 1_000, now, zone: 'UTC', rehearse }),
    /^Its test, 500 mails, has left at about 1 Dec 2026, 09:00:00 .* as fast as rehearsed of 500 an hour/,
  )
})
