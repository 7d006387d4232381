import {
  type JobRun,
  readJobStandings,
  runsOf,
  scheduleInWords,
  shownDuration,
} from '../../calendar/index.js'
import { shownFor } from '../../clock/index.js'
import { type JobName, jobCatalogue, jobNames } from '../../config/index.js'
import { ApiError } from '../../errors/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorVisit } from '../shell/visit.js'
import type { OperatorPageDeps } from './deps.js'

/** `/operator/jobs`: periodic work, its runs, and a button for a run now; like `posthorn job`. */
export function jobPages(pages: OperatorPages, deps: OperatorPageDeps): void {
  pages.get('/jobs', 'operator.read', (visit) => listPage(deps, visit))
  pages.get('/jobs/:name', 'operator.read', (visit) => jobPage(deps, visit))
  pages.post('/jobs/:name/run', { action: 'operator.write', sudo: true }, async ({ params }) => {
    const name = nameOf(params.name)
    return startJob(deps, name, `/operator/jobs/${name}`)
  })
}

const runTones = { done: 'good', running: 'none', 'not set up': 'none' } as const
/** `not set up` is not a failure: the operator may have no backups, for example. */
const toneOf = (result: JobRun['result']): 'good' | 'bad' | 'none' =>
  result in runTones ? runTones[result as keyof typeof runTones] : 'bad'

/** All jobs of the calendar, also those that are off. */
async function listPage({ store, config }: OperatorPageDeps, { now }: OperatorVisit) {
  const jobs = await readJobStandings(store.read, config.jobs, now)
  const view = {
    now,
    rows: jobs.map(({ name, what, cron, last, dueAt, isOverdue }) => ({
      name,
      what,
      schedule: scheduleInWords(cron, config.jobs.zone),
      dueAt,
      isOverdue,
      lastAt: last?.beganAt ?? null,
      result: last?.result ?? '',
      tone: last === undefined ? ('none' as const) : toneOf(last.result),
      took: shownDuration(last),
    })),
  }
  return page('operator/jobs', view, { title: 'Jobs', wide: true })
}

const runsShown = 50

/** One job, with its last runs. */
async function jobPage({ store, config }: OperatorPageDeps, { params, now, may }: OperatorVisit) {
  const name = nameOf(params.name)
  const { what, limitMs } = jobCatalogue[name]
  const standing = (await readJobStandings(store.read, config.jobs, now)).find(
    (one) => one.name === name,
  )
  const runs = await runsOf(store.read, name, runsShown)
  const view = {
    now,
    name,
    what,
    mayRun: may('operator.write'),
    longest: shownFor(limitMs),
    schedule: scheduleInWords(standing?.cron ?? null, config.jobs.zone),
    dueAt: standing?.dueAt ?? null,
    isUnderWay: runs[0]?.result === 'running',
    problems: [...(runs[0]?.problems ?? [])],
    runs: runs.map((run) => ({
      beganAt: run.beganAt,
      dueAt: run.dueAt,
      result: run.result,
      tone: toneOf(run.result),
      took: shownDuration(run),
      said: run.error ?? run.summary ?? '',
    })),
  }
  return page('operator/job', view, { title: `Job ${name}` })
}

/** Begins a job, or says why it does not begin. */
export async function startJob(
  { running }: OperatorPageDeps,
  name: JobName,
  to: string,
): Promise<PageAnswer> {
  // The page does not wait for the end: a job may take hours, and its run is a row of the list.
  const started = await running.runJob(name)
  if (started.kind === 'not begun')
    throw new ApiError('conflict', `${name} could not begin: ${started.cause}`)
  if (started.kind === 'unknown')
    throw new ApiError('not_found', `The appliance has no job ${name} now`)
  if (started.kind === 'under way') {
    const message = `${name} is under way already, and a job does not run beside itself`
    throw new ApiError('conflict', message)
  }
  const behind = started.kind === 'started' ? started.behind : undefined
  return redirect(to, {
    flash: behind === undefined ? `${name} has begun` : `${name} begins when ${behind} has ended`,
    audit: { action: 'job.run', target: name },
  })
}

/** The job that a path names; throws a 404. */
function nameOf(given = ''): JobName {
  const name = jobNames.find((one) => one === given)
  if (name === undefined) throw new ApiError('not_found', 'There is no such job')
  return name
}
