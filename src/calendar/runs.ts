import { type JobRunRow, type Read, storedObject, storedTexts, type Tx } from '../store/index.js'

/** What a job says of its run. */
export interface JobResult {
  /** One plain sentence. */
  summary: string
  /** The job had nothing to do because a setting is missing; the summary names it. */
  notSetUp?: true
  /** What the operator has to look at, a sentence each, with the command that mends it. */
  problems?: readonly string[]
  figures?: Readonly<Record<string, number>>
}

/** One run of a job, under way or over. */
export interface JobRun {
  id: number
  name: string
  /** When the run was due; null: somebody started it by hand. */
  dueAt: number | null
  beganAt: number
  /** Null while the run is under way, and for a run that ended with the process at an unknown time. */
  endedAt: number | null
  result: JobRunRow['result']
  summary: string | null
  problems: readonly string[]
  figures: Readonly<Record<string, number>>
  error: string | null
}

export interface EndOfRun {
  endedAt: number
  result: Exclude<JobRunRow['result'], 'running'>
  /** What the job said before it ended, if it did. */
  said?: JobResult | undefined
  error?: string | undefined
}

/** How many runs of each job are kept. */
const keptRuns = 100

/** Notes that a run begins, and forgets the oldest of the job; returns the run's id. */
export async function beginRun(
  tx: Tx,
  { name, dueAt, beganAt }: { name: string; dueAt: number | null; beganAt: number },
): Promise<number> {
  const { id } = await tx
    .insertInto('job_runs')
    .values({
      name,
      due_at: dueAt,
      began_at: beganAt,
      ended_at: null,
      result: 'running',
      summary: null,
      problems: '[]',
      figures: '{}',
      error: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await tx
    .deleteFrom('job_runs')
    .where('name', '=', name)
    .where('id', '<=', (eb) =>
      eb
        .selectFrom('job_runs')
        .select('id')
        .where('name', '=', name)
        .orderBy('id', 'desc')
        .offset(keptRuns)
        .limit(1),
    )
    .execute()
  return id
}

/** Writes down how a run ended; `error` where it failed. */
export async function endRun(tx: Tx, id: number, end: EndOfRun): Promise<void> {
  const { said } = end
  await tx
    .updateTable('job_runs')
    .set({
      ended_at: end.endedAt,
      result: end.result,
      summary: said?.summary ?? null,
      problems: JSON.stringify(said?.problems ?? []),
      figures: JSON.stringify(said?.figures ?? {}),
      error: end.error ?? null,
    })
    .where('id', '=', id)
    .execute()
}

/** The latest runs of a job, the newest first. */
export async function runsOf(read: Read, name: string, atMost = keptRuns): Promise<JobRun[]> {
  const rows = await read
    .selectFrom('job_runs')
    .selectAll()
    .where('name', '=', name)
    .orderBy('id', 'desc')
    .limit(atMost)
    .execute()
  return rows.map(runOf)
}

/** The last run of each job that has run. */
export async function lastRuns(read: Read): Promise<Map<string, JobRun>> {
  const rows = await read
    .selectFrom('job_runs')
    .selectAll()
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('job_runs')
        .select(({ fn }) => fn.max('id').as('id'))
        .groupBy('name'),
    )
    .execute()
  return new Map(rows.map((row) => [row.name, runOf(row)]))
}

type StoredRun = { [K in keyof JobRunRow]: K extends 'id' ? number : JobRunRow[K] }

const runOf = (row: StoredRun): JobRun => ({
  id: row.id,
  name: row.name,
  dueAt: row.due_at,
  beganAt: row.began_at,
  endedAt: row.ended_at,
  result: row.result,
  summary: row.summary,
  error: row.error,
  problems: storedTexts(row.problems) ?? [],
  figures: storedObject<number>(row.figures),
})

/**
 * At the start: ends the rows of runs that were under way at a kill. Returns, by the job's name, the due time of each
 * last run that a kill or a stop has cut off, to be made up for. A run that was cut off twice is not among them: it may
 * be what brings the process down.
 */
export async function settleLostRuns(tx: Tx): Promise<Map<string, number>> {
  await tx
    .updateTable('job_runs')
    .set({ result: 'cut off', error: 'The appliance ended while the job was under way' })
    .where('result', '=', 'running')
    .execute()
  const lost = new Map<string, number>()
  for (const [name, { result, dueAt }] of await lastRuns(tx)) {
    if (result !== 'cut off' || dueAt === null) continue
    const { tries } = await tx
      .selectFrom('job_runs')
      .select(({ fn }) => fn.countAll<number>().as('tries'))
      .where('name', '=', name)
      .where('due_at', '=', dueAt)
      .executeTakeFirstOrThrow()
    if (tries < 2) lost.set(name, dueAt)
  }
  return lost
}
