// interface.md: scheduledAt, DELETE /v1/emails/:id/cancel, States and transitions.
import t from 'tap'
import { cancelScheduled } from '../../src/emails/index.js'
import { parseScheduledAt } from '../../src/emails/schedule.js'
import { FakeClock } from '../support/clock.js'
import { outboundRig } from '../support/outbound.js'
import { startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const good = { from: 'a@sender.test', to: 'ann@example.com', subject: 'Later', html: '<p>x</p>' }
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

t.test('200 with scheduledAt: { id, status: "scheduled", scheduledAt, message }', async (t) => {
  const scheduledAt = inAnHour()
  const { status, json } = await posthorn.send({ ...good, scheduledAt })
  t.equal(status, 200)
  t.match(json, { id: String, status: 'scheduled', scheduledAt, message: String })
  const email = await posthorn.email(json.id)
  t.match(email, { status: 'scheduled', scheduledAt, sentAt: null })
  t.equal(email.recipients[0]?.nextAttemptAt, scheduledAt)
})

t.test('scheduledAt invalid, past or over 90 days: 400 { error }', async (t) => {
  const cases = [
    'tomorrow',
    '2026-13-01T00:00:00Z',
    '2027-02-30T00:00:00Z',
    '',
    '1700000000',
    '2020-01-01T00:00:00Z',
    new Date(Date.now() - 1).toISOString(),
    new Date(Date.now() + 91 * 86_400_000).toISOString(),
  ]
  for (const scheduledAt of cases) {
    const { status, json } = await posthorn.send({ ...good, scheduledAt })
    t.match(
      { status, json },
      { status: 400, json: { code: 'validation_error', error: /^scheduledAt / } },
      scheduledAt,
    )
  }
})

t.test('forms of ISO 8601', async (t) => {
  const now = Date.parse('2026-11-21T12:00:00Z')
  const cases: [string, string][] = [
    ['2026-12-01T10:00:00Z', '2026-12-01T10:00:00.000Z'],
    ['2026-12-01T10:00:00.5Z', '2026-12-01T10:00:00.500Z'],
    ['2026-12-01T10:00:00.123456789Z', '2026-12-01T10:00:00.123Z'],
    ['2026-12-01T10:00+01:00', '2026-12-01T09:00:00.000Z'],
    ['2026-12-01T10:00:00-0530', '2026-12-01T15:30:00.000Z'],
    ['2026-12-01T10:00:00', '2026-12-01T10:00:00.000Z'],
  ]
  for (const [given, expected] of cases) {
    t.equal(new Date(parseScheduledAt(given, now) ?? 0).toISOString(), expected, given)
  }
  t.throws(() => parseScheduledAt('2026-12-01T10:00:00+25:00', now))
  t.throws(() => parseScheduledAt('2026-12-01', now), 'a date is no moment')
  t.equal(
    parseScheduledAt(new Date(now + 90 * 86_400_000).toISOString(), now),
    now + 90 * 86_400_000,
    '90 days exactly',
  )
})

t.test('cancel: scheduled becomes cancelled, and stays so', async (t) => {
  const { json } = await posthorn.send({ ...good, scheduledAt: inAnHour() })
  const path = `/v1/emails/${json.id}/cancel`
  t.match(await posthorn.call('DELETE', path), {
    status: 200,
    json: { message: 'Scheduled email cancelled' },
  })
  const email = await posthorn.email(json.id)
  t.match(email, {
    status: 'cancelled',
    recipients: [{ status: 'cancelled', attempts: 0, nextAttemptAt: null }],
  })
  t.match(await posthorn.call('DELETE', path), {
    status: 400,
    json: { code: 'validation_error', error: /cancelled/ },
  })
})

t.test('cancel of an immediate mail: 400; of none: 404; of a foreign one: 404', async (t) => {
  const { json } = await posthorn.send(good)
  const path = `/v1/emails/${json.id}/cancel`
  t.match(await posthorn.call('DELETE', path), { status: 400, json: { error: String } })
  t.match(await posthorn.call('DELETE', '/v1/emails/nope/cancel'), {
    status: 404,
    json: { code: 'not_found' },
  })
  const other = await posthorn.addAccount('Another')
  const scheduled = await posthorn.send({ ...good, scheduledAt: inAnHour() })
  const foreign = `/v1/emails/${scheduled.json.id}/cancel`
  t.match(await posthorn.call('DELETE', foreign, { key: other.apiKey }), {
    status: 404,
    json: { code: 'not_found' },
  })
})

t.test('a scheduled mail leaves at its time and not before', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock })
  const scheduledAt = new Date(clock.now() + 3_600_000).toISOString()
  const id = await rig.send({ to: 'a@one.test', scheduledAt })
  await clock.advance(3_599_000)
  t.equal((await rig.email(id)).status, 'scheduled')
  t.equal(rig.mx.sessions.length, 0)
  await clock.advance(1_000)
  const email = await rig.becomes(id, 'delivered')
  t.equal(email.sentAt, scheduledAt)
  t.match(rig.mx.messages[0]?.raw.toString(), /^Date: Sat, 21 Nov 2026 13:00:00 \+0000\r$/m)
})

t.test('cancel racing with dispatch: never both cancelled and claimed', async (t) => {
  const clock = new FakeClock()
  const rig = await outboundRig(t, { clock, stopped: true })
  const outcomes = new Set<string>()
  for (let i = 0; i < 60; i++) {
    const scheduledAt = new Date(clock.now() + 1_000).toISOString()
    const id = await rig.send({ to: 'a@one.test', scheduledAt })
    await clock.advance(1_000)
    const take = () => rig.take('one.test', 1)
    const cancel = () =>
      cancelScheduled({ store: rig.store, clock, backlog: rig.backlog }, rig.accountId, id).then(
        () => true,
        () => false,
      )
    const [claimed, cancelled] =
      i % 2 === 0
        ? await Promise.all([take(), cancel()])
        : ((await Promise.all([cancel(), take()])).reverse() as [unknown[], boolean])
    t.not(claimed.length === 1, cancelled, 'exactly one of the two')
    t.equal((await rig.email(id)).status, cancelled ? 'cancelled' : 'sending')
    outcomes.add(cancelled ? 'cancelled' : 'claimed')
    await rig.store.write((tx) => tx.deleteFrom('queue').execute())
  }
  t.same([...outcomes].sort(), ['cancelled', 'claimed'])
})
