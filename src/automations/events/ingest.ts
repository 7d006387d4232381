import type { ExpressionBuilder, UpdateResult } from 'kysely'
import { type Ending, endingOf, endRuns, makeRunTally, type RunTally } from '../../runs/index.js'
import { boundValue, cell, prepared, rowsOf, type Tables, type Tx } from '../../store/index.js'
import {
  appended,
  type FrozenVersion,
  hears,
  readableVersion,
  type Versions,
} from '../definition/index.js'
import {
  eventsById,
  eventsOf,
  historyJson,
  type LiveRow,
  meetAudience,
  stateOf,
  wakes,
} from '../runs/index.js'
import { readEngagement } from './engagement.js'
import { type IngestDeps, type NewEvent, storeEvents, type TakenEvent } from './store-events.js'
import { type StartedRun, startRuns } from './triggers.js'

/** What one event has set off. */
export interface IngestedEvent {
  /** Runs that were parked on it and go on. */
  resumed: number
  started: StartedRun[]
}

/**
 * Takes in events of an account, in order, inside one write: each is kept, ends the waits of runs that were there
 * before it, and starts runs, which never hear it. It starts none when `full`. The engine is to be rung after the
 * commit.
 */
export async function ingestEvents(
  tx: Tx,
  deps: IngestDeps,
  { accountId, now, full = false }: { accountId: string; now: number; full?: boolean },
  events: readonly NewEvent[],
): Promise<IngestedEvent[]> {
  const taken = await storeEvents(tx, accountId, now, events)
  const tally = makeRunTally()
  const heard = new Map<TakenEvent, IngestedEvent>()
  for (const round of roundsOf(taken)) {
    const resumed = await resolveWaits(tx, deps.versions, round, now, tally)
    const started = await startRuns(tx, deps, { accountId, now, full, tally }, round)
    for (const [place, event] of round.entries()) {
      heard.set(event, { resumed: resumed[place] ?? 0, started: started[place] ?? [] })
    }
  }
  await tally.write(tx)
  return taken.map((event) => heard.get(event) ?? { resumed: 0, started: [] })
}

/**
 * Events in rounds, each with at most one event of a contact: the contact's next event finds what this one has ended or
 * started. Almost always it is a single round.
 */
function roundsOf(events: readonly TakenEvent[]): TakenEvent[][] {
  const rounds: TakenEvent[][] = []
  const earlier = new Map<string, number>()
  for (const event of events) {
    const place = earlier.get(event.contact.id) ?? 0
    earlier.set(event.contact.id, place + 1)
    const round = rounds[place] ?? []
    round.push(event)
    rounds[place] = round
  }
  return rounds
}

/**
 * Wakes runs that are parked on these events (at most one of each contact), and ends or moves those whose exit rules or
 * goal name them.
 */
async function resolveWaits(
  tx: Tx,
  versions: Versions,
  taken: readonly TakenEvent[],
  now: number,
  tally: RunTally,
): Promise<number[]> {
  const resumed = taken.map(() => 0)
  const pairs = JSON.stringify(taken.map(({ contact, name }) => [contact.id, name]))
  const rows = [...(await parkedOn(tx, { pairs })), ...(await listening(tx, { pairs }))]
  if (rows.length === 0) return resumed
  const runs = new Map(rows.map((row) => [row.id, row]))
  const known = await eventsById(tx, rows.flatMap(eventsOf))
  const woken = new Map<string, number>()
  const moved = new Map<string, unknown[]>()
  const endings = new Map<string, Ending>()
  const frozen = new Map<LiveRow, FrozenVersion>()
  for (const row of runs.values()) {
    const { automation_id: automationId, version } = row
    const readable = await readableVersion(versions, tx, { automationId, version })
    if (readable !== undefined) frozen.set(row, readable)
  }
  const contacts = new Map(taken.map(({ contact }) => [contact.id, contact]))
  await meetAudience(
    tx,
    [...frozen].flatMap(([row, { asks }]) => {
      const contact = contacts.get(row.contact_id)
      return contact === undefined ? [] : [{ contact, asks }]
    }),
  )
  const mailOf = await readEngagement(
    tx,
    [...frozen].map(([row, version]) => ({ row, version })),
  )
  for (const [place, event] of taken.entries()) {
    for (const [row, version] of frozen) {
      if (row.contact_id !== event.contact.id) continue
      const { compiled } = version
      const state = stateOf(row, known)
      const trigger = known.get(row.trigger_event)
      // The event that began the run is gone: the engine fails the run when it is due.
      if (trigger === undefined) continue
      const mail = (key: string) => mailOf(row, version, key)
      const facts = { contact: event.contact, trigger, mail, now }
      const heard = hears(compiled, state, facts, event.stored)
      if (heard?.kind === 'exit') endings.set(row.id, endingOf(row, 'exited', heard.reason, now))
      else if (heard?.kind === 'goal') {
        const { stepId } = heard
        const line = { stepId: row.step_id, at: now, result: 'goal', eventId: event.stored.id }
        const history = historyJson(appended(state.history, [line]), row.started_at)
        moved.set(row.id, [row.id, stepId, JSON.stringify(heard.heard), history])
      } else if (row.wait_event === event.name) {
        if (!wakes(compiled, state, facts, event.stored)) continue
        woken.set(row.id, event.stored.id)
        resumed[place] = (resumed[place] ?? 0) + 1
      }
    }
  }
  const ended = await endRuns(tx, [...endings.values()], { at: now, tally })
  const atGoal = [...endings.values()].filter(
    ({ id, reason }) => reason === 'goal' && ended.has(id),
  )
  for (const id of [...atGoal.map((one) => one.id), ...moved.keys()]) {
    const row = runs.get(id)
    if (row !== undefined) tally.run(row.automation_id, 'reached', 1)
  }
  for (const { id, reason } of endings.values()) {
    const row = runs.get(id)
    if (row === undefined || !ended.has(id)) continue
    if (reason === 'exit_rule') tally.run(row.automation_id, 'by_event', 1)
    if (reason === 'goal') tally.run(row.automation_id, 'by_goal', 1)
  }
  if (woken.size > 0) await wake(tx, { json: JSON.stringify([...woken]), now })
  if (moved.size > 0) await jump(tx, { json: JSON.stringify([...moved.values()]), now })
  for (const id of [...woken.keys(), ...moved.keys()]) {
    const row = runs.get(id)
    if (row === undefined || row.status === 'running') continue
    tally.run(row.automation_id, 'waiting', -1)
    tally.run(row.automation_id, 'running', 1)
  }
  return resumed
}

/**
 * Runs that stand at a wait for this event, by contact and name: the index has them side by side.
 */
const parkedOn = prepared<{ pairs: string }, LiveRow>((db, { pairs }) =>
  db
    .selectFrom(rowsOf(pairs))
    .innerJoin('automation_live as live', (join) =>
      join.on('live.contact_id', '=', cell(0, 'text')).on('live.wait_event', '=', cell(1, 'text')),
    )
    .selectAll('live'),
)

/** Runs that an exit rule or a goal lets hear an event wherever they stand. */
const listening = prepared<{ pairs: string }, LiveRow>((db, { pairs }) =>
  db
    .selectFrom(rowsOf(pairs))
    .innerJoin('automation_listens as listens', (join) =>
      join.on('listens.contact_id', '=', cell(0, 'text')).on('listens.event', '=', cell(1, 'text')),
    )
    .innerJoin('automation_live as live', 'live.id', 'listens.run_id')
    .selectAll('live'),
)

// A run that is held stays held, and is due once it is released.
const lookedAt = (eb: ExpressionBuilder<Tables, 'automation_live'>, now: number) => ({
  due_at: eb.case().when('held_at', 'is', null).then(now).else(eb.ref('due_at')).end(),
  held_due_at: eb
    .case()
    .when('held_at', 'is', null)
    .then(null)
    .else(boundValue(now, 'integer'))
    .end(),
  status: 'running' as const,
  wait_event: null,
  seq: eb('seq', '+', 1),
  updated_at: now,
})

/**
 * Notes on the row which event woke the run: when the step is taken, that event is found, even if another came in
 * between.
 */
const wake = prepared<{ json: string; now: number }, UpdateResult>((db, { json, now }) =>
  db
    .updateTable('automation_live')
    .from(rowsOf(json))
    .set((eb) => ({ ...lookedAt(eb, now), woken_by: cell(1, 'integer') }))
    .where('automation_live.id', '=', cell(0, 'text')),
)

/** A goal takes a run to its step, wherever it stands; a run that is held stays held there. */
const jump = prepared<{ json: string; now: number }, UpdateResult>((db, { json, now }) =>
  db
    .updateTable('automation_live')
    .from(rowsOf(json))
    .set((eb) => ({
      ...lookedAt(eb, now),
      step_id: cell(1, 'integer'),
      heard: cell(2, 'text'),
      history: cell(3, 'text'),
      entered_at: null,
      woken_by: null,
      blocked: null,
    }))
    .where('automation_live.id', '=', cell(0, 'text')),
)
