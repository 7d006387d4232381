import { fork } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { askForReport, dayIn, tellBurning, tellDaily } from '../../src/notices/index.js'
import { makeTempDir } from '../support/store.js'
import { hourMs, minuteMs, openRig } from './rig.js'

t.test('what burns is mailed within about a minute, together with what follows', async (t) => {
  const { deps, clock, raise, mails } = await openRig(t)
  await raise()
  t.equal(await tellBurning(deps), false, 'others may follow')
  await clock.advance(30_000)
  await raise({ kind: 'backup', key: 'nightly', text: 'The backup failed' })
  await clock.advance(30_000)
  t.equal(await tellBurning(deps), true)
  t.equal(await tellBurning(deps), false)
  const [mail, ...others] = await mails()
  t.same(others, [])
  t.match(mail, { recipient: 'ops@example.org', subject: /^\[mail\.example\.net\] BURNS: / })
  t.match(mail?.subject, /\(\+1 more\)$/)
  t.match(mail?.text, /The disk fills[\s\S]*Fix: df -h/)
  t.match(mail?.text, /The backup failed/)
  t.match(mail?.extras, /Auto-Submitted/)
})

t.test('what burns on is told at once only once, what is daily not at all', async (t) => {
  const { deps, clock, raise, mails } = await openRig(t)
  await raise()
  await raise({ kind: 'webhook', key: 'w', severity: 'daily' })
  for (let hours = 0; hours < 20; hours++) {
    await clock.advance(hourMs)
    await raise()
    await tellBurning(deps)
  }
  t.equal((await mails()).length, 1)
})

t.test('what comes and goes is told at once every six hours at most', async (t) => {
  const { deps, clock, raise, settle, mails } = await openRig(t)
  for (let minutes = 0; minutes < 24 * 60; minutes += 20) {
    await raise()
    await clock.advance(10 * minuteMs)
    await tellBurning(deps)
    await settle()
    await clock.advance(10 * minuteMs)
  }
  const at = (await mails()).map(({ created_at: time }) => time)
  t.ok(at.length >= 3 && at.length <= 4, `${at.length} mails`)
  t.ok(at.every((time, i) => i === 0 || time - (at[i - 1] ?? 0) >= 6 * hourMs))
})

t.test('beyond the mails of a day it waits for the mail of the day, which says so', async (t) => {
  const { deps, clock, raise, mails } = await openRig(t, { burningPerDay: 2 })
  for (const key of ['a', 'b', 'c']) {
    await raise({ key, text: `${key} burns` })
    await clock.advance(2 * minuteMs)
    await tellBurning(deps)
  }
  const told = await mails()
  t.equal(told.length, 2)
  t.notMatch(told[0]?.text, /last mail at once/)
  t.match(told[1]?.text, /last mail at once for 24 hours/)
  t.match(await tellDaily(deps), /BURNS: c burns \(\+2 more\)/)
})

t.test('what customers bring about leaves half of the mails to what is our own', async (t) => {
  const { deps, clock, raise, mails } = await openRig(t)
  const burns = async (raised: Parameters<typeof raise>[0]) => {
    await raise(raised)
    await clock.advance(2 * minuteMs)
    return await tellBurning(deps)
  }
  const told: boolean[] = []
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
    told.push(await burns({ kind: 'domain-record', key, text: `${key} lacks its record` }))
  }
  t.same(told, [true, true, true, false, false, false, false])
  t.equal(await burns({ text: 'The disk fills' }), true)
  const last = (await mails()).at(-1)
  t.match(last?.text, /The disk fills/)
  t.match(last?.text, /g lacks its record/, 'what waited is in it')
  t.equal(await burns({ kind: 'account-paused', key: 'h' }), false)
  t.equal(await burns({ kind: 'thread', key: 'io' }), true)
})

t.test('of few mails at once customers have half at most, of one none', async (t) => {
  for (const [burningPerDay, most] of [
    [1, 0],
    [3, 1],
  ] as const) {
    const { deps, clock, raise } = await openRig(t, { burningPerDay })
    let told = 0
    for (const key of ['a', 'b', 'c']) {
      await raise({ kind: 'account-paused', key, text: `${key} is paused` })
      await clock.advance(2 * minuteMs)
      if (await tellBurning(deps)) told++
    }
    t.equal(told, most)
    await raise({ text: 'The disk fills' })
    await clock.advance(2 * minuteMs)
    t.ok(await tellBurning(deps))
  }
})

t.test('the mail of the day says what is new, what still is, and what is settled', async (t) => {
  const { deps, clock, raise, settle, mails } = await openRig(t)
  t.equal(await tellDaily(deps), undefined, 'nothing to say')
  await raise({ severity: 'daily', text: ['The disk fills', 'slowly'] })
  await raise({ kind: 'webhook', key: 'w', severity: 'daily', text: 'A webhook is off' })
  t.match(await tellDaily(deps), /A webhook is off \(\+1 more\)|The disk fills \(\+1 more\)/)
  await raise({ kind: 'webhook', key: 'x', severity: 'daily', text: 'Another is off' })
  t.equal(await tellDaily(deps), undefined, 'one mail a day')
  await clock.advance(24 * hourMs)
  await settle()
  await tellDaily(deps)
  const [, second] = await mails()
  t.match(second?.subject, /\] Another is off \(\+1 more\)$/)
  t.match(second?.text, /New\n=+\n\n\* Another is off[\s\S]*Still so\n=+\n\n\* A webhook is off/)
  t.match(second?.text, /Settled\n=+\n\n\* The disk fills \(Sat 21 Nov 12:00 until Sun 22 Nov/)
  await clock.advance(24 * hourMs)
  t.equal(await tellDaily(deps), undefined, 'nothing new, nothing that burns')
  await clock.advance(6 * 24 * hourMs)
  t.match(await tellDaily(deps), /\(\+1 more\)/, 'a reminder each week')
})

t.test('what burned and was settled is an all clear, and nothing else a reason', async (t) => {
  const { deps, clock, raise, settle, mails } = await openRig(t)
  await raise()
  await raise({ kind: 'webhook', key: 'w', severity: 'daily' })
  await settle()
  await settle('webhook', 'w')
  t.match(await tellDaily(deps), /\] All clear: The disk fills$/)
  t.notMatch((await mails())[0]?.text, /webhook/)
  await clock.advance(24 * hourMs)
  t.equal(await tellDaily(deps), undefined)
})

t.test('what is silenced is in no mail', async (t) => {
  const { deps, clock, store, raise } = await openRig(t, { silence: ['failover'] })
  await raise({ kind: 'failover', key: '*' })
  await raise()
  const until = clock.now() + 24 * hourMs
  const silence = { silenced_until: until }
  await store.write((tx) =>
    tx.updateTable('notices').set(silence).where('kind', '=', 'disk').execute(),
  )
  await clock.advance(2 * minuteMs)
  t.equal(await tellBurning(deps), false)
  t.equal(await tellDaily(deps), undefined)
  await clock.advance(24 * hourMs)
  t.equal(await tellBurning(deps), true, 'the silence is over')
})

t.test('the weekly report is in the mail of the day, which it does not make two', async (t) => {
  const { deps, clock, mails } = await openRig(t)
  const report = async () => ({ text: 'Sent: 5', html: '<p>Sent: 5</p>' })
  await askForReport(deps)
  await askForReport(deps)
  t.match(await tellDaily(deps, report), /\] The week in mail$/)
  t.equal(await tellDaily(deps, report), undefined)
  await askForReport(deps)
  t.equal(await tellDaily(deps, report), undefined, "today's mail has left")
  await clock.advance(24 * hourMs)
  t.match(await tellDaily(deps, report), /\] The week in mail$/)
  t.match(await mails(), [{ text: /^Sent: 5$/m }, { html: /<p>Sent: 5<\/p>/ }])
})

t.test('days are those of the zone, over both changes of its clocks', async (t) => {
  const zone = 'Europe/Berlin'
  for (const start of ['2026-03-27T05:00:00Z', '2026-10-23T05:00:00Z']) {
    const { deps, clock, raise, mails } = await openRig(t, { zone, start })
    await raise()
    for (let hours = 0; hours < 24 * 4; hours++) {
      await tellDaily(deps)
      await clock.advance(hourMs)
    }
    const days = (await mails()).map(({ created_at: at }) => dayIn(zone, at))
    t.equal(new Set(days).size, days.length, 'one a day')
    t.ok(days.length === 5, `${days.length} days were begun`)
  }
})

t.test('a clock that jumps a day back and forth brings no second mail of a day', async (t) => {
  const { deps, clock, raise, mails } = await openRig(t)
  await raise()
  await tellDaily(deps)
  await clock.advance(24 * hourMs)
  await tellDaily(deps)
  clock.setBack(24 * hourMs)
  t.equal(await tellDaily(deps), undefined)
  await clock.advance(24 * hourMs)
  t.equal(await tellDaily(deps), undefined)
  t.equal((await mails()).length, 2)
})

t.test('names of others are text in the mail, whatever they are', async (t) => {
  const { deps, clock, raise, mails } = await openRig(t)
  const name = '<img src=x onerror=alert(1)>"\'&\r\nBcc: all@victim.test\r\n\r\n.\r\n'
  await raise({ text: [`"${name}" is paused`, name], fix: name, key: name })
  await clock.advance(2 * minuteMs)
  await tellBurning(deps)
  const [mail] = await mails()
  t.notMatch(mail?.subject, /[\r\n]/)
  t.notMatch(mail?.html, /<img/)
  t.match(mail?.html, /&#60;img src=x onerror=alert\(1\)&#62;&#34;&#39;&#38; Bcc: all/)
  t.notMatch(mail?.text, /^Bcc:/m)
})

t.test('whatever happens in a month, mails are bounded and nothing is told twice', async (t) => {
  for (const seed of [1, 2, 3]) {
    const burningPerDay = 3
    const { deps, clock, raise, settle, mails } = await openRig(t, { burningPerDay })
    const random = randomOf(seed)
    const kinds = ['disk', 'thread', 'backup', 'failover', 'webhook', 'job'] as const
    for (let at = 0; at < 30 * 24 * 60; ) {
      const kind = kinds[Math.floor(random() * kinds.length)] ?? 'disk'
      const key = `k${Math.floor(random() * 3)}`
      const severity = random() < 0.5 ? 'burning' : 'daily'
      if (random() < 0.6) await raise({ kind, key, severity, text: `${kind} ${key}` })
      else await settle(kind, key)
      const minutes = Math.ceil(random() * 180)
      at += minutes
      await clock.advance(minutes * minuteMs)
      await tellBurning(deps)
      if (random() < 0.3) await tellDaily(deps)
    }
    const sent = await mails()
    const daily = await deps.store.read.selectFrom('notice_mails').select(['day', 'kind']).execute()
    const days = daily.filter((one) => one.kind === 'daily').map(({ day }) => day)
    t.equal(new Set(days).size, days.length, 'one daily mail a day')
    const times = sent.map(({ created_at: time }) => time)
    const most = Math.max(
      ...times.map((from) => times.filter((x) => x >= from && x < from + 24 * hourMs).length),
    )
    t.ok(most <= burningPerDay + 2, `${most} mails in 24 hours`)
    t.ok(sent.length > 20, `${sent.length} mails`)
  }
})

t.test('a kill between the raise and the mail leaves it told once', async (t) => {
  const dataDir = makeTempDir(t)
  const { deps, clock, raise, mails, store } = await openRig(t, { dataDir })
  for (let i = 0; i < 5; i++) await raise({ key: `k${i}` })
  await clock.advance(2 * minuteMs)
  // Killed in the transaction that writes the mail, then at once after its commit.
  for (const when of ['within', 'after']) {
    const child = fork(new URL('./die-telling.js', import.meta.url), [
      dataDir,
      when,
      String(clock.now()),
    ])
    const [, signal] = await once(child, 'exit')
    t.equal(signal, 'SIGKILL')
    t.equal((await mails()).length, when === 'within' ? 0 : 1)
  }
  t.equal(await tellBurning(deps), false)
  t.equal((await mails()).length, 1)
  const rows = await store.read.selectFrom('notice_mails').selectAll().execute()
  t.equal(rows.length, 1)
})

/** Mulberry32, so that a failure comes again. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
