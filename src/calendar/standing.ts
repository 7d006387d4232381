import { type Config, type JobName, jobCatalogue, jobNames, readSchedule } from '../config/index.js'
import type { Read } from '../store/index.js'
import { readHandled } from './due-times.js'
import { type JobRun, lastRuns } from './runs.js'

/** How a job stands: what commands, the doctor and the pages show of it. */
export interface JobStanding {
  name: JobName
  what: string
  /** Its cron expression; null: it is off. */
  cron: string | null
  /** The last run, which may be under way. */
  last: JobRun | undefined
  /** In the past while it waits for its turn, or while no appliance runs; null: it is off. */
  dueAt: number | null
  /** It should have run more than two of its periods ago. */
  isOverdue: boolean
}

/** In the order of the catalogue. */
export async function readStanding(
  read: Read,
  settings: Config['jobs'],
  now: number,
): Promise<JobStanding[]> {
  const handled = await readHandled(read)
  const last = await lastRuns(read)
  return jobNames.map((name) => {
    const cron = settings[name]
    const standing = { name, what: jobCatalogue[name].what, last: last.get(name) }
    if (cron === 'off') return { ...standing, cron: null, dueAt: null, isOverdue: false }
    const schedule = readSchedule(cron, settings.zone)
    const known = handled.get(name)
    const dueAt = schedule.next(known?.schedule === schedule.text ? known.until : now)
    return { ...standing, cron, dueAt, isOverdue: now - dueAt > 2 * schedule.period(dueAt) }
  })
}
