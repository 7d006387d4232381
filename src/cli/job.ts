import { type Command, Option } from 'commander'
import type { JobAnswer } from '../app/questions.js'
import {
  type JobRun,
  type JobStanding,
  readJobStandings,
  runsOf,
  scheduleInWords,
  shownDuration,
} from '../calendar/index.js'
import { shownFor } from '../clock/index.js'
import { type JobName, jobCatalogue, jobNames } from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import { askAppliance } from './ask.js'
import { addCommands, type CommandRow } from './command-row.js'
import { withStore } from './database.js'
import { limitOption } from './option-values.js'
import {
  jsonTime,
  remark,
  say,
  sayFields,
  sayJson,
  sayTable,
  sayText,
  shownTime,
} from './output.js'
import { placeOf, settingsOf } from './place.js'

/** `posthorn job`: the calendar of the appliance. */
export function jobCommands(program: Command): void {
  const job = program
    .command('job')
    .description('periodic work of the appliance: when it is done, and how it went')
  addCommands(job, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    about: 'show the jobs, their schedule, their last run and when they are due next',
    help: `Example:
  $ posthorn job list --json | jq '.jobs[] | select(.last.result != "done") | .name'

[jobs] in the settings has the schedules.`,
    run: runList,
  },
  {
    usage: 'show <name>',
    about: 'show what a job does, and its last runs',
    options: [limitOption(20, 'so many runs')],
    help: 'Example:\n  $ posthorn job show optimize',
    run: runShow,
  },
  {
    usage: 'run <name>',
    about:
      'run a job now, in the running appliance; status 1 when it is not done well, or not set up',
    options: [new Option('--no-wait', 'return when it has begun, or stands in line')],
    help: 'Example:\n  $ posthorn job run optimize',
    run: runRun,
  },
]

/**
 * The schedule is read from the settings, the runs from the database: the command answers even
 * while no appliance runs.
 */
async function runList(_options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const { jobs: settings } = settingsOf(place)
  const jobs = await withStore(place, ({ store, clock }) =>
    readJobStandings(store.read, settings, clock.now()),
  )
  const { zone } = settings
  if (place.json) return sayJson({ zone, jobs: jobs.map(standingInJson) })
  sayTable(
    ['NAME', 'SCHEDULE', 'LAST RUN', 'RESULT', 'TOOK', 'NEXT DUE'],
    jobs.map((one) => [
      one.name,
      scheduleInWords(one.cron, zone),
      shownTime(one.last?.beganAt ?? null),
      one.last?.result ?? '-',
      shownDuration(one.last),
      one.dueAt === null ? '-' : `${shownTime(one.dueAt)}${one.isOverdue ? ' (overdue)' : ''}`,
    ]),
    'No job',
  )
  for (const { name, last } of jobs) {
    if (last?.result === 'not set up') sayText(`\n${name}: ${last.summary ?? ''}`)
  }
}

/** A job that has never run has no rows; it is still shown, with its schedule. */
async function runShow(given: string, options: { limit: number }, command: Command): Promise<void> {
  const place = placeOf(command)
  const name = jobNamed(given)
  const { jobs: settings } = settingsOf(place)
  const { standing, runs } = await withStore(place, async ({ store: { read }, clock }) => ({
    standing: (await readJobStandings(read, settings, clock.now())).find(
      (one) => one.name === name,
    ),
    runs: await runsOf(read, name, options.limit),
  }))
  if (standing === undefined) return
  const runsInJson = runs.map(runInJson)
  if (place.json) return sayJson({ ...standingInJson(standing), runs: runsInJson })
  sayFields({
    Name: name,
    'What it does': standing.what,
    Schedule: scheduleInWords(standing.cron, settings.zone),
    'Longest time': shownFor(jobCatalogue[name].limitMs),
    'Next due': shownTime(standing.dueAt),
  })
  say()
  sayTable(
    ['BEGAN', 'WAS DUE', 'TOOK', 'RESULT', 'WHAT IT SAID'],
    runs.map((run) => [
      shownTime(run.beganAt),
      run.dueAt === null ? 'by hand' : shownTime(run.dueAt),
      shownDuration(run),
      run.result,
      run.error ?? run.summary ?? '',
    ]),
    'It has not run yet',
  )
  for (const problem of runs[0]?.problems ?? []) sayText(`\n${problem}`)
}

/**
 * Jobs run inside the appliance, which keeps them from running beside themselves and beside others
 * of their lane. So the command asks the appliance over the control socket, and waits as long as
 * the job takes (a timeout of 0) without `--no-wait`.
 */
async function runRun(given: string, { wait }: { wait: boolean }, command: Command): Promise<void> {
  const place = placeOf(command)
  const name = jobNamed(given)
  if (wait && !place.json) remark(`Running ${name}: ${jobCatalogue[name].what}`)
  const answer = await askAppliance(place, { runJob: name, wait }, wait ? 0 : undefined)
  if (answer?.job === undefined) {
    throw new OperatorError(
      `No appliance answers for ${place.dataDir}. Jobs run inside it: start it ('systemctl start posthorn', or 'posthorn serve') and try again. If it was stopped just now, 'posthorn job show ${name}' tells how the run ended`,
    )
  }
  sayAnswer(name, answer.job, place.json)
}

/** Status 1 unless the run was `done`: cron jobs and deploy scripts look at nothing else. */
function sayAnswer(name: JobName, answer: JobAnswer, inJson: boolean): void {
  if (answer.kind === 'started') {
    const { behind = null } = answer
    if (inJson) sayJson({ name, started: behind === null, behind })
    else if (behind !== null) say(`${name} begins when ${behind} has ended.`)
    else say(`${name} has begun; 'posthorn job show ${name}' tells how it goes.`)
    return
  }
  if (answer.kind !== 'ended') throw new OperatorError(refusalOf(name, answer))
  const { run } = answer
  if (run.result !== 'done') process.exitCode = 1
  if (inJson) {
    sayJson(runInJson(run))
    return
  }
  const said =
    run.result === 'done'
      ? (run.summary ?? '')
      : `${name} ${run.result}: ${run.error ?? run.summary}`
  // These lines may hold words of other programs and servers.
  for (const line of [said, ...run.problems.map((problem) => `  ${problem}`)]) sayText(line)
}

/** Why the appliance did not run it. */
function refusalOf(name: JobName, answer: Exclude<JobAnswer, { kind: 'started' | 'ended' }>) {
  if (answer.kind === 'not begun') return `${name} could not begin: ${answer.cause}`
  if (answer.kind === 'unknown') {
    return `The running appliance has no job ${name} yet: it is starting, or holds what waited in a backup ('posthorn queue held'). Try again in a moment; restart it if it is of another version`
  }
  return `${name} is under way since ${shownTime(answer.since)}, and a job does not run beside itself; 'posthorn job show ${name}' tells when it has ended`
}

/** A job's name; OperatorError with all names for another. */
function jobNamed(given: string): JobName {
  const name = jobNames.find((one) => one === given)
  if (name !== undefined) return name
  throw new OperatorError(`There is no job ${given}; there are: ${jobNames.join(', ')}`)
}

/** A job for scripts, with its last run. */
const standingInJson = ({ last, dueAt, cron, ...one }: JobStanding) => ({
  name: one.name,
  what: one.what,
  cron,
  nextDueAt: jsonTime(dueAt),
  overdue: one.isOverdue,
  last: last === undefined ? null : runInJson(last),
})

/** A run for scripts. */
const runInJson = ({ dueAt, beganAt, endedAt, id: _, ...run }: JobRun) => ({
  ...run,
  dueAt: jsonTime(dueAt),
  beganAt: jsonTime(beganAt),
  endedAt: jsonTime(endedAt),
})
