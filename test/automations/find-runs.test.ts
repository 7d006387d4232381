// Issue 47: all that is asked of runs holds together, page by page.
import t from 'tap'
import { findRuns, type RunsFilter } from '../../src/automations/index.js'
import { openEngine, send, trigger } from '../support/automation-rig.js'
import { endedRow, waitingRow } from '../support/run-rows.js'

t.test('filters hold together, and pages of them have each run once', async (t) => {
  const rig = await openEngine(t)
  const { read } = rig.store
  const id = await rig.enabled([trigger(), send('one'), send('two')])
  const all = Array.from({ length: 6_000 }, (_, n) => n)
  const stepOf = (n: number) => (n % 4 === 0 ? 2 : 1)
  const of = { account_id: rig.accountId, automation_id: id }
  await rig.store.write(async (tx) => {
    for (let at = 0; at < all.length; at += 500) {
      const some = all.slice(at, at + 500)
      const ended = some.filter((n) => n % 2 === 0)
      await tx
        .insertInto('automation_runs')
        .values(
          ended.map((n) =>
            endedRow(of, n, {
              ...(n % 100 === 0 && { contact_id: 'c7' }),
              step_id: stepOf(n),
              status: 'exited' as const,
              reason: n % 1_000 === 0 ? 'goal' : 'unsubscribed',
            }),
          ),
        )
        .execute()
      await tx
        .insertInto('automation_live')
        .values(
          some
            .filter((n) => n % 2 === 1)
            .map((n) =>
              waitingRow(of, n, {
                step_id: n % 3 === 0 ? 2 : 1,
                ...(n % 5 === 0 ? { blocked: n % 25 === 0 ? 'skip quota' : 'quota' } : {}),
                ...(n % 35 === 0 ? { held_at: 1, held_reason: 'a restore' } : {}),
              }),
            ),
        )
        .execute()
    }
  })
  const paged = async (filter: RunsFilter) => {
    const found: number[] = []
    let before: string | undefined
    for (let pages = 0; pages < 1_000; pages++) {
      const { runs, next } = await findRuns(read, id, filter, { limit: 7, before })
      found.push(...runs.map(({ startedAt }) => startedAt))
      if (next === undefined) break
      before = next
    }
    return found
  }
  const expected = (fits: (n: number) => boolean) => all.filter(fits).reverse()
  const live = ['running', 'waiting'] as const
  const cases: [RunsFilter, (n: number) => boolean][] = [
    [{ statuses: live, stepIds: [2] }, (n) => n % 2 === 1 && n % 3 === 0],
    [{ statuses: ['exited'], stepIds: [2] }, (n) => n % 4 === 0],
    [{ statuses: ['exited'], reason: 'goal' }, (n) => n % 1_000 === 0],
    [{ statuses: ['exited'], reason: 'goal', stepIds: [1] }, () => false],
    [{ statuses: ['exited'], reason: 'unsubscribed', stepIds: [1] }, (n) => n % 4 === 2],
    [{ wait: 'quota' }, (n) => n % 2 === 1 && n % 5 === 0 && n % 35 !== 0],
    [{ wait: 'quota', stepIds: [2] }, (n) => n % 30 === 15 && n % 35 !== 0],
    [{ wait: 'held', stepIds: [1] }, (n) => n % 70 === 35 && n % 3 !== 0],
    [{ wait: 'quota', statuses: ['exited'] }, () => false],
    [{ statuses: live, reason: 'goal' }, () => false],
    [{ stepIds: [] }, () => false],
    [{ contactId: 'c7' }, (n) => n === 7 || n % 100 === 0],
    [{ contactId: 'c7', stepIds: [2] }, (n) => n % 100 === 0],
    [{ contactId: 'c7', statuses: ['exited'], reason: 'goal' }, (n) => n % 1_000 === 0],
    [{ contactId: 'c35', wait: 'held' }, (n) => n === 35],
    [{ contactId: 'c35', wait: 'quota' }, () => false],
    [{ contactId: null }, () => false],
  ]
  for (const [filter, fits] of cases) {
    t.same(await paged(filter), expected(fits), JSON.stringify(filter))
  }
})
