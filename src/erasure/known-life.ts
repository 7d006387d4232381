import { isoTime } from '../clock/index.js'
import { type Read, storedJson } from '../store/index.js'

// Rows of one person in one look; a page of the API and a file are both read a look at a time.
const perLook = 200

/** The runs of automations that a contact is or was in: first the ended ones, then the live ones. */
export async function runsKnown(read: Read, contactId: string) {
  const live = await read
    .selectFrom('automation_live as run')
    .innerJoin('automations', 'automations.id', 'run.automation_id')
    .select(['run.id', 'automation_id', 'name', 'run.status', 'started_at', 'due_at'])
    .select(['wait_event', 'heard', 'waits'])
    .where('contact_id', '=', contactId)
    .orderBy('automation_id')
    .limit(perLook)
    .execute()
  const ended = await read
    .selectFrom('automation_runs as run')
    .innerJoin('automations', 'automations.id', 'run.automation_id')
    .select(['run.id', 'automation_id', 'name', 'run.status', 'reason', 'started_at', 'ended_at'])
    .where('contact_id', '=', contactId)
    .orderBy('run.id')
    .limit(mostRuns)
    .execute()
  return [
    ...ended.map((run) => ({
      id: run.id,
      automationId: run.automation_id,
      automation: run.name,
      status: run.status,
      reason: run.reason,
      startedAt: isoTime(run.started_at),
      endedAt: isoTime(run.ended_at),
    })),
    ...live.map((run) => ({
      id: run.id,
      automationId: run.automation_id,
      automation: run.name,
      status: run.status,
      reason: null,
      startedAt: isoTime(run.started_at),
      endedAt: null,
      waitsFor: run.wait_event,
      heard: storedJson(run.heard) ?? null,
      received: storedJson(run.waits) ?? null,
    })),
  ]
}

const mostRuns = 10_000

/** An event of a contact, as their file has it. */
export interface HeardEvent {
  name: string
  payload: unknown
  at: string
  occurredAt: string | null
}

/** The events of a contact, by name and then the oldest first, a look at a time. */
export async function* eventsKnown(read: Read, contactId: string): AsyncGenerator<HeardEvent[]> {
  for (let after = { name: '', id: 0 }; ; ) {
    const rows = await read
      .selectFrom('automation_events')
      .select(['id', 'name', 'payload', 'at', 'occurred_at'])
      .where('contact_id', '=', contactId)
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('name', 'id'), '>', tuple(after.name, after.id)),
      )
      .orderBy('name')
      .orderBy('id')
      .limit(perLook)
      .execute()
    yield rows.map(({ name, payload, at, occurred_at }) => ({
      name,
      payload: storedJson(payload) ?? null,
      at: isoTime(at),
      occurredAt: isoTime(occurred_at),
    }))
    const last = rows.at(-1)
    if (last === undefined || rows.length < perLook) return
    after = last
  }
}
