// A clock that was a day ahead and is set back: what it put off does not wait for that day.
import t from 'tap'
import { dueAfterSetBack, never, release } from '../../src/deliveries/index.js'
import { day, openMailLog } from '../support/mail-log.js'

t.test(
  'after a clock was set back mail is due by the new time, as it would have been',
  async (t) => {
    const { accept, store, clock } = await openMailLog(t, { plan: 'Unlimited' })
    const before = clock.now()
    const [deferred = '', held = '', leased = '', later = ''] = await accept([{}, {}, {}, {}])
    const [resumed = '', resumedTried = ''] = await accept([{}, {}])
    const [chosen = '', chosenHeld = ''] = await accept([
      { scheduledAt: before + 3 * day },
      { scheduledAt: before + 3 * day },
    ])
    clock.jump(day)
    const [untried = ''] = await accept([{}])
    const [chosenAhead = ''] = await accept([{ scheduledAt: clock.now() + day }])
    const put = (email: string, values: object) =>
      store.write((tx) =>
        tx.updateTable('queue').set(values).where('email_id', '=', email).execute(),
      )
    const ahead = clock.now()
    const tried = { attempts: 1, last_attempt_at: ahead, due_at: ahead + 300_000 }
    await put(deferred, tried)
    const holding = { held_at: ahead, held_reason: 'x', due_at: never }
    // Of a campaign that went on while the clock was ahead.
    await put(resumed, { due_at: ahead })
    await put(resumedTried, { attempts: 1, last_attempt_at: before, due_at: ahead })
    await put(held, { ...tried, ...holding, held_due_at: ahead + 300_000 })
    await put(chosenHeld, { ...holding, held_due_at: before + 3 * day })
    await put(leased, { ...tried, lease: 0 })
    await put(later, { attempts: 1, last_attempt_at: before, due_at: before + 3_600_000 })
    clock.setBack(day)
    const now = clock.now()
    const going = dueAfterSetBack(
      { store, clock, longestMs: 4 * 3_600_000 },
      new AbortController().signal,
    )
    let isDone = false
    void going.then(() => {
      isDone = true
    })
    while (!isDone) await clock.advance(20)
    t.equal(await going, 5)
    const due = async (email: string) =>
      (
        await store.read
          .selectFrom('queue')
          .select('due_at')
          .where('email_id', '=', email)
          .executeTakeFirstOrThrow()
      ).due_at
    for (const email of [deferred, untried, resumed, resumedTried]) {
      const at = await due(email)
      t.ok(at >= now && at < now + 1_000)
    }
    t.equal(await due(held), never, 'it stays held')
    t.equal(await due(leased), ahead + 300_000, 'its attempt is under way')
    t.equal(await due(later), before + 3_600_000, 'put off by the right time')
    t.equal(await due(chosen), before + 3 * day)
    t.equal(await due(chosenAhead), ahead + day)
    const rows = () => store.read.selectFrom('queue').selectAll().where('held_at', 'is not', null)
    const expiry = new Map((await rows().execute()).map((row) => [row.id, row.expires_at]))
    const all = await rows().execute()
    const released = clock.now()
    const ids = all.map(({ id }) => id)
    await store.write((tx) => release(tx, ids, { now: released }))
    t.ok((await due(held)) <= released, 'due as soon as it is released')
    t.equal(await due(chosenHeld), before + 3 * day)
    const after = await store.read.selectFrom('queue').selectAll().where('id', 'in', ids).execute()
    for (const { id, expires_at: at } of after) t.equal(at, expiry.get(id), 'no time is taken off')
  },
)
