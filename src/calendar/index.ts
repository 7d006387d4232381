/**
 * The calendar of everything periodic: when each job of the catalogue (`config`) is due, and how its runs went. What
 * must hold: no job runs beside itself; every run leaves a row; a clock that jumps starts nothing twice, and delays
 * nothing longer than the job's own period. `app/calendar.ts` keeps the calendar and starts the threads.
 */
export {
  type Handled,
  handledAfterSetBack,
  handledAtStart,
  type JobStanding,
  jobStandings,
  keepHandled,
  readHandled,
  readJobRecord,
  readJobStandings,
  scheduleInWords,
  shownDuration,
} from './due-times.js'
export {
  beginRun,
  type EndOfRun,
  endRun,
  type JobResult,
  type JobRun,
  lastRuns,
  runsOf,
  settleLostRuns,
} from './runs.js'
