import { type JobRun, type JobStanding, jobStandings, readJobRecord } from '../calendar/index.js'
import { type Clock, hourMs } from '../clock/index.js'
import { type Config, type JobName, jobCatalogue } from '../config/index.js'
import type { NoticeKind, Raised } from '../notices/index.js'
import { type Store, sinceCommit } from '../store/index.js'

// An error of one night may pass; for a job that matters more, the first one is told.
const burningJobs = ['backup', 'backup-check', 'retention']
// A job that gets no turn for so long stands behind one that hangs, or that takes most of a night.
const waitsTooLongMs = 3 * hourMs

// Runs that a stop or a sleep has missed are caught up on sooner, one job after another.
const looksUntilOverdue = 60

/**
 * Looks, some six times a minute, at what is wrong with the jobs of the calendar: a job gets no turn, or its last run
 * went wrong or found something.
 */
export function makeJobLook({
  store,
  config,
  clock,
}: {
  store: Pick<Store, 'read' | 'commits'>
  config: Config
  clock: Clock
}): () => Promise<Raised[]> {
  const lateLooks = new Map<JobName, number>()
  const recorded = sinceCommit(store, () => readJobRecord(store.read))
  return async () => {
    const now = clock.now()
    const standings = jobStandings(await recorded(), config.jobs, now)
    return standings.flatMap((standing): Raised[] => {
      const { name, last, dueAt } = standing
      const isLate = dueAt !== null && now - dueAt > waitsTooLongMs && last?.result !== 'running'
      const looks = isLate ? (lateLooks.get(name) ?? 0) + 1 : 0
      lateLooks.set(name, looks)
      if (isLate && looks >= looksUntilOverdue) return [overdue(standing, standings, now - dueAt)]
      return last === undefined ? [] : lastRun(name, last)
    })
  }
}

/** Told with the job that is in its way, because jobs of a lane run one after another. */
function overdue({ name }: JobStanding, standings: readonly JobStanding[], forMs: number): Raised {
  const { lane } = jobCatalogue[name]
  const before = standings.find(
    (one) => one.last?.result === 'running' && jobCatalogue[one.name].lane === lane,
  )
  return {
    // Other jobs can catch up; what no backup holds is lost with the disk.
    kind: kindOf(name),
    key: name,
    severity: name === 'backup' ? 'burning' : 'daily',
    stage: 'overdue',
    text: [
      `The job ${name} is overdue`,
      `It has been due for ${Math.round(forMs / hourMs)} hours.`,
      before === undefined
        ? 'Nothing is in its way: the calendar does not start it.'
        : `The job ${before.name} is under way, and has to end first.`,
    ],
    fix: [`posthorn job show ${before?.name ?? name}`, 'sudo systemctl restart posthorn'],
  }
}

/** A problem that a good run has found is told apart from a run that failed. */
function lastRun(name: JobName, { result, error, problems }: JobRun): Raised[] {
  // The check says the same of the same backup again: another backup has to be made first.
  const again = name === 'backup-check' ? ['posthorn job run backup'] : []
  const fix = [`posthorn job show ${name}`, ...again, `posthorn job run ${name}`]
  const of = { kind: kindOf(name), key: name, fix }
  if (result === 'failed' || result === 'timed out') {
    const severity = burningJobs.includes(name) ? 'burning' : 'daily'
    return [{ ...of, severity, stage: 'failed', text: [`The job ${name} ${result}`, error ?? ''] }]
  }
  if (result !== 'done' || problems.length === 0) return []
  const text = [`The job ${name} has found something to look at`, ...problems]
  return [{ ...of, severity: 'daily', stage: `${problems.length} problems`, text }]
}

// An operator who has backups made elsewhere can silence these two alone.
const kindOf = (name: JobName): NoticeKind =>
  name === 'backup' || name === 'backup-check' ? 'backup' : 'job'
