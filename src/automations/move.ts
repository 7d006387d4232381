import type { UpdateResult } from 'kysely'
import { type Clock, pause } from '../clock/index.js'
import { OperatorError } from '../errors/index.js'
import { cell, prepared, type Read, rowsOf, type Store, type Tx } from '../store/index.js'
import type { Automation } from './automation.js'
import { historyJson, readHistory } from './live.js'

/** What a move came to, or would: how many runs go to the newest version, and who cannot. */
export interface Moved {
  version: number
  moved: number
  /** Runs whose step the newest version does not have, or has as another type; by its key. */
  staying: { step: string; runs: number }[]
}

// Some milliseconds of the turn to write, and a rest in which others have theirs.
const perWrite = 200
const restMs = 20

/**
 * Takes waiting runs of older versions to the newest frozen one, each to the step with the same key and
 * type; their timers stay. With `dryRun` it only says what it would do.
 */
export async function moveRuns(
  { store, clock }: { store: Store; clock: Clock },
  { id }: Automation,
  { dryRun }: { dryRun: boolean },
): Promise<Moved> {
  const version = await newestFrozen(store.read, id)
  const steps = await stepsOf(store.read, { id })
  const targets = new Map(
    steps.filter((one) => one.version === version).map((one) => [`${one.key} ${one.type}`, one.id]),
  )
  const byId = new Map(steps.map((one) => [one.id, one]))
  const staying = new Map<string, number>()
  let moved = 0
  for (let after = ''; ; ) {
    const rows = await olderAfter(store.read, { id, version, after, limit: perWrite })
    const last = rows.at(-1)
    if (last === undefined) break
    const changes: [id: string, seq: number, stepId: number][] = []
    for (const row of rows) {
      const step = byId.get(row.stepId)
      const target = step && targets.get(`${step.key} ${step.type}`)
      const key = step?.key ?? ''
      if (target === undefined) staying.set(key, (staying.get(key) ?? 0) + 1)
      else changes.push([row.id, row.seq, target])
    }
    moved += dryRun
      ? changes.length
      : await store.write((tx) => moveSome(tx, changes, version, clock.now()))
    after = last.id
    if (!dryRun) await pause(clock, restMs)
  }
  return { version, moved, staying: [...staying].map(([step, runs]) => ({ step, runs })) }
}

async function newestFrozen(read: Read, id: string): Promise<number> {
  const { version } = await read
    .selectFrom('automation_versions')
    .select((eb) => eb.fn.max('version').as('version'))
    .where('automation_id', '=', id)
    .where('frozen_at', 'is not', null)
    .executeTakeFirstOrThrow()
  if (version === null) throw new OperatorError('The automation was never enabled: it has no runs')
  return version
}

const stepsOf = prepared<
  { id: string },
  { id: number; version: number; key: string; type: string }
>((db, { id }) =>
  db
    .selectFrom('automation_steps')
    .select(['id', 'version', 'key', 'type'])
    .where('automation_id', '=', id),
)

const olderAfter = prepared<
  { id: string; version: number; after: string; limit: number },
  { id: string; seq: number; stepId: number }
>((db, { id, version, after, limit }) =>
  db
    .selectFrom('automation_live')
    .select(['id', 'seq', 'step_id as stepId'])
    .where('automation_id', '=', id)
    .where('id', '>', after)
    .where('version', '<', version)
    .where('status', '=', 'waiting')
    .orderBy('id')
    .limit(limit),
)

/** Those that are still where they were; each gets a line in its history. */
async function moveSome(
  tx: Tx,
  changes: readonly [id: string, seq: number, stepId: number][],
  version: number,
  now: number,
): Promise<number> {
  const rows = await unchanged(tx, { json: JSON.stringify(changes) })
  const lines = rows.map(({ id, stepId, history, startedAt }) => {
    const line = { stepId, at: now, result: `moved:v${version}` }
    const all = [...readHistory(history, startedAt), line]
    return [id, stepId, historyJson(all, startedAt)]
  })
  if (lines.length > 0) await change(tx, { json: JSON.stringify(lines), version, now })
  return lines.length
}

const unchanged = prepared<
  { json: string },
  { id: string; stepId: number; history: string; startedAt: number }
>((db, { json }) =>
  db
    .selectFrom(rowsOf(json))
    .innerJoin('automation_live as live', (join) =>
      join.on('live.id', '=', cell<string>(0)).on('live.seq', '=', cell<number>(1)),
    )
    .select(['live.id', 'history', 'started_at as startedAt'])
    .select(cell<number>(2).as('stepId')),
)

const change = prepared<{ json: string; version: number; now: number }, UpdateResult>(
  (db, { json, version, now }) =>
    db
      .updateTable('automation_live')
      .from(rowsOf(json))
      .set((eb) => ({
        version,
        step_id: cell<number>(1),
        history: cell<string>(2),
        seq: eb('seq', '+', 1),
        updated_at: now,
      }))
      .where('automation_live.id', '=', cell<string>(0)),
)
