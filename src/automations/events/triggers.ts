import type { RunTally } from '../../runs/index.js'
import { cell, prepared, type Read, rowsOf, type Tx } from '../../store/index.js'
import { suppressionsAmong } from '../../suppression/index.js'
import {
  departureOf,
  type FrozenVersion,
  limits,
  readableVersion,
  staysOn,
  type Versions,
} from '../definition/index.js'
import { type EntryRefusal, inLastHour, meetAudience, refusalOf } from '../runs/index.js'
import { type Entry, insertRuns, type NewRun, pairOf, type Trigger } from './insert-runs.js'
import type { IngestDeps, TakenEvent } from './store-events.js'

/** What an event came to in an automation that it can start. */
export interface StartedRun {
  automationId: string
  name: string
  started: boolean
  /** The run that is live now; null where there is none. */
  runId: string | null
  reason?: EntryRefusal
}

/** An event at an automation that it can start: what it comes to. */
interface Judged {
  /** The event's place among those that came together. */
  place: number
  event: TakenEvent
  trigger: Trigger
  version: FrozenVersion
  entry: Entry | undefined
  /** The run that is live already. */
  running: string | undefined
  reason: EntryRefusal | undefined
}

/**
 * What events come to at the automations that they can start, without starting anything. No two of the events are of
 * one contact.
 */
export async function judgeStarts(
  read: Read,
  versions: Versions,
  { accountId, now }: { accountId: string; now: number },
  events: readonly TakenEvent[],
  triggers: readonly Trigger[],
): Promise<Judged[]> {
  if (triggers.length === 0) return []
  // Looked up once for each name, not for each event: a batch has a hundred of them.
  const byName = new Map<string, { trigger: Trigger; version: FrozenVersion }[]>()
  for (const trigger of triggers) {
    const version = await readableVersion(versions, read, trigger)
    if (version === undefined) continue
    byName.set(trigger.event, [...(byName.get(trigger.event) ?? []), { trigger, version }])
  }
  const starters = events.filter(({ name }) => byName.has(name))
  const pairs = JSON.stringify(
    starters.flatMap(({ contact, name }) =>
      (byName.get(name) ?? []).map(({ trigger }) => [contact.id, trigger.automationId]),
    ),
  )
  const live = new Map((await liveAmong(read, { pairs })).map((row) => [pairOf(row), row.id]))
  const entries = new Map(
    (await entriesAmong(read, { pairs })).map((row): [string, Entry] => [pairOf(row), row]),
  )
  const addresses = [...new Set(starters.map(({ contact }) => contact.email))]
  const reasons = await suppressionsAmong(read, accountId, addresses)
  await meetAudience(
    read,
    starters.flatMap(({ contact, name }) =>
      (byName.get(name) ?? []).map(({ version: { asks } }) => ({ contact, asks })),
    ),
  )
  const judged: Judged[] = []
  for (const [place, event] of events.entries()) {
    for (const { trigger, version } of byName.get(event.name) ?? []) {
      const pair = pairOf({ contactId: event.contact.id, automationId: trigger.automationId })
      const entry = entries.get(pair)
      const running = live.get(pair)
      const tooDeep = (event.depth ?? 0) > limits.depth ? 'limit' : undefined
      const reason =
        tooDeep ??
        refusalOf(version.compiled, {
          contact: event.contact,
          event: event.stored,
          occurredAt: event.occurredAt,
          departed: departureOf(reasons, event.contact.email),
          running: running !== undefined,
          before: entry && { ...entry, startsInLastHour: startsBefore(entry, now).length },
          now,
        })
      judged.push({ place, event, trigger, version, entry, running, reason })
    }
  }
  return judged
}

/**
 * Starts the automations that the events start, or only `only` of them. Answers what each event came to, in the order
 * of the automations. No two of the events are of one contact.
 */
export async function startRuns(
  tx: Tx,
  { ids, versions }: IngestDeps,
  { accountId, now, full = false, tally }: Starting,
  events: readonly TakenEvent[],
  only?: Trigger,
): Promise<StartedRun[][]> {
  const answers = events.map((): StartedRun[] => [])
  const names = JSON.stringify([...new Set(events.map(({ name }) => name))].map((name) => [name]))
  const triggers = only === undefined ? await triggersOf(tx, { accountId, names }) : [only]
  const begun: NewRun[] = []
  const entries = new Map<string, Entry>()
  for (const judged of await judgeStarts(tx, versions, { accountId, now }, events, triggers)) {
    const { place, event, trigger, version, entry, running } = judged
    const reason = judged.reason ?? (full ? 'limit' : undefined)
    const { automationId, name } = trigger
    const answer = { automationId, name, started: reason === undefined }
    if (reason !== undefined) {
      answers[place]?.push({ ...answer, runId: running ?? null, reason })
      continue
    }
    const id = ids.uuid()
    const stepId = version.compiled.trigger.id
    const { listens } = version
    const outlives = staysOn(version.compiled, 'unsubscribed') ? 1 : 0
    begun.push({ id, trigger, stepId, event, listens, outlives })
    entries.set(pairOf({ contactId: event.contact.id, automationId }), entered(entry, now))
    if (entry === undefined) tally.run(automationId, 'enrolled', 1)
    tally.run(automationId, 'running', 1)
    tally.step(stepId, 'entered')
    answers[place]?.push({ ...answer, runId: id })
  }
  if (begun.length > 0) await insertRuns(tx, accountId, begun, entries, now)
  return answers
}

/** The starts of the last hour. */
const startsBefore = ({ starts, lastStartedAt }: Entry, now: number): number[] =>
  inLastHour([...(starts === null ? [] : JSON.parse(starts)), lastStartedAt], now)

/** The starts of the last hour are kept: many of one contact are a loop, such as an automation that starts itself. */
function entered(before: Entry | undefined, now: number): Entry {
  const starts = before === undefined ? [] : startsBefore(before, now)
  return {
    runs: (before?.runs ?? 0) + 1,
    lastStartedAt: now,
    starts: starts.length === 0 ? null : JSON.stringify(starts),
  }
}

/** For which account and when runs are started. */
interface Starting {
  accountId: string
  now: number
  /** As many runs are live as are allowed. */
  full?: boolean
  tally: RunTally
}

/** The enabled automations of an account that begin with one of these events (JSON: [[name], …]). */
export const triggersOf = prepared<{ accountId: string; names: string }, Trigger>(
  (db, { accountId, names }) =>
    db
      .selectFrom(rowsOf(names))
      .innerJoin('automation_triggers as triggers', (join) =>
        join.on('triggers.account_id', '=', accountId).on('triggers.event', '=', cell(0, 'text')),
      )
      .innerJoin('automations', 'automations.id', 'triggers.automation_id')
      .select(['triggers.event', 'automation_id as automationId', 'triggers.version', 'name'])
      .orderBy('automation_id'),
)

/** A contact goes through an automation once at a time (interface.md: `already_running`). */
const liveAmong = prepared<
  { pairs: string },
  { id: string; contactId: string; automationId: string }
>((db, { pairs }) =>
  db
    .selectFrom(rowsOf(pairs))
    .innerJoin('automation_live as live', (join) =>
      join
        .on('live.contact_id', '=', cell(0, 'text'))
        .on('live.automation_id', '=', cell(1, 'text')),
    )
    .select(['live.id', 'contact_id as contactId', 'automation_id as automationId']),
)

/** Whether and when a contact has been through before, also where those runs were deleted. */
const entriesAmong = prepared<
  { pairs: string },
  Entry & { contactId: string; automationId: string }
>((db, { pairs }) =>
  db
    .selectFrom(rowsOf(pairs))
    .innerJoin('automation_entries as entries', (join) =>
      join
        .on('entries.contact_id', '=', cell(0, 'text'))
        .on('entries.automation_id', '=', cell(1, 'text')),
    )
    .select(['contact_id as contactId', 'automation_id as automationId', 'runs'])
    .select(['last_started_at as lastStartedAt', 'starts']),
)
