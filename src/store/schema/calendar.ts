import { integer, type RowOf, table, text } from './table.js'

/** A job of the calendar that is not off. */
const jobs = table('jobs', {
  name: text().primaryKey(),
  /** The job's cron expression and zone: when they change, no earlier run is due. */
  schedule: text(),
  /** Due times up to this one are dealt with. */
  handled_until: integer(),
})

/** The last runs of each job of the calendar. */
const jobRuns = table(
  'job_runs',
  {
    id: integer().numberedKey(),
    name: text(),
    /** Null: started by hand. */
    due_at: integer().orNull(),
    began_at: integer(),
    /** Null while it is under way, and for one that ended with the process. */
    ended_at: integer().orNull(),
    result: text<'running' | 'done' | 'not set up' | 'failed' | 'timed out' | 'cut off'>(),
    /** One sentence. */
    summary: text().orNull(),
    /** JSON: an array of sentences. */
    problems: text(),
    /** JSON: numbers by name. */
    figures: text(),
    error: text().orNull(),
  },
  { indexes: { job_runs_name: ['name', 'id'] } },
)

export interface JobRunRow extends RowOf<typeof jobRuns> {}

export const calendarTables = [jobs, jobRuns] as const
