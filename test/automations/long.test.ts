import t, { type Test } from 'tap'
import { countHeld, listRuns, liveFigures, type RunStatus } from '../../src/automations/index.js'
import { openEngine, send, trigger } from '../support/automation-rig.js'
import { endedRow, waitingRow } from '../support/run-rows.js'
import { turnsDuring } from '../support/turns.js'

/** Runs by their number: live ones, but for those that have ended. */
async function openMany(t: Test, runs: number, ended: ReadonlyMap<number, RunStatus>) {
  const rig = await openEngine(t)
  const id = await rig.enabled([trigger(), send('one')])
  const of = { account_id: rig.accountId, automation_id: id }
  const live = Array.from({ length: runs }, (_, n) => n).filter((n) => !ended.has(n))
  await rig.store.write(async (tx) => {
    for (let at = 0; at < live.length; at += 1_000) {
      const rows = live.slice(at, at + 1_000).map((n) =>
        waitingRow(of, n, {
          held_due_at: n,
          ...(n % 2 === 0 ? { blocked: 'quota' } : {}),
          ...(n % 3 === 0
            ? { held_at: 1, held_reason: n % 9 === 0 ? 'a fault' : 'a restore' }
            : {}),
        }),
      )
      await tx.insertInto('automation_live').values(rows).execute()
    }
    for (const [n, status] of ended) {
      const row = endedRow(of, n, { reason: null, status: status as 'failed' })
      await tx.insertInto('automation_runs').values(row).execute()
    }
  })
  return { read: rig.store.read, id }
}

t.test(
  'runs of a rare status are looked for some at a time, and all of them are found',
  async (t) => {
    const failed = [3, 1_900, 1_901, 4_998]
    const ended = new Map(failed.map((n) => [n, 'failed' as const]))
    const { read, id } = await openMany(t, 5_000, ended)
    const pages: number[][] = []
    let before: string | undefined
    do {
      const asked = { statuses: ['failed', 'running'] as const, limit: 2, before, most: 1_000 }
      const { runs, next } = await listRuns(read, id, asked)
      pages.push(runs.map((run) => run.startedAt))
      before = next
    } while (before !== undefined)
    t.same(pages.flat(), failed.toReversed())
    t.ok(pages.length > 3, 'a page ends where it has looked at its most')
    t.ok(pages.some((page) => page.length === 0))
    const all = { statuses: ['failed', 'running'] as const, limit: 9, most: 1e9 }
    const { value, turns } = await turnsDuring(() => listRuns(read, id, all))
    t.same([value.runs.length, value.next], [4, undefined])
    t.ok(turns >= 5, `${turns} turns for others`)
  },
)

t.test('runs that are under way and those that have ended are listed in one order', async (t) => {
  const ended = new Map([...Array(60).keys()].map((n) => [n * 3, 'completed' as const]))
  const { read, id } = await openMany(t, 200, ended)
  const seen: number[] = []
  const statuses = ['waiting', 'completed'] as const
  let before: string | undefined
  do {
    const { runs, next } = await listRuns(read, id, { statuses, limit: 7, before })
    seen.push(...runs.map((run) => run.startedAt))
    before = next
  } while (before !== undefined)
  t.same(seen, [...Array(200).keys()].toReversed())
})

t.test('runs that are blocked or held are counted some at a time', async (t) => {
  const { read, id } = await openMany(t, 12_000, new Map())
  const figures = await turnsDuring(() => liveFigures(read))
  t.same([...figures.value.blocked].sort(), [
    ['held', 4_000],
    ['quota', 6_000],
  ])
  t.ok(figures.turns >= 1, `${figures.turns} turns for others`)
  const held = await turnsDuring(() => countHeld(read))
  t.match(
    held.value.sort((a, b) => a.runs - b.runs),
    [
      { automationId: id, reason: 'a fault', runs: 1_334, oldestDueAt: 0 },
      { automationId: id, reason: 'a restore', runs: 2_666, oldestDueAt: 3 },
    ],
  )
  t.ok(held.turns >= 2, `${held.turns} turns for others`)
})
