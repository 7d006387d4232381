import { findAccount } from '../accounts/index.js'
import { counted, shownCount } from '../amounts/index.js'
import { getAutomation } from '../automations/contract.js'
import {
  type Automation,
  type AutomationDefinition,
  automationStanding,
  type Backfill,
  dateWords,
  detailAnswer,
  findAnyAutomation,
  findBackfill,
  readDefinition,
  type StepStanding,
  type Waits,
} from '../automations/index.js'
import { answering, type CommandDeps } from './answering.js'
import type { CommandRow } from './command-row.js'
import { jsonTime, remark, say, sayFields, sayTable, shownTime } from './output.js'

/** `automation show`. */
export const showAutomationRows: readonly CommandRow[] = [
  {
    usage: 'show <automation>',
    does: getAutomation,
    adds: ['accountId', 'standing', 'waits', 'backfill'],
    about: 'show what an automation does, and how many runs are at each step',
    help: `Example:
  $ posthorn automation show Welcome

HERE is how many runs stand at the step now, ENTERED how many have come to it.`,
    run: answering(show),
  },
]

/**
 * All of it is read in one look at the database: figures of different moments would contradict each
 * other while runs go on.
 */
async function show({ store: { read } }: CommandDeps, named: string) {
  const one = await findAnyAutomation(read, named)
  const { definition } = await readDefinition(read, one.id, one.version)
  const account = await findAccount(read, one.account_id)
  const backfill = await findBackfill(read, one.id)
  const answer = await detailAnswer(read, one)
  const { steps, waits } = await automationStanding(read, one)
  return {
    json: {
      ...answer,
      accountId: account.id,
      standing: steps.map(stepForMachines),
      waits,
      backfill: backfill === undefined ? null : backfillForMachines(backfill),
    },
    say() {
      sayFields({
        Automation: one.name,
        Id: one.id,
        Account: `${account.name} (${account.id})`,
        Status: statusOf(one),
        Version: String(one.version),
        'Begins with': beginningOf(definition),
        ...(one.paused_at === null ? {} : { Paused: shownTime(one.paused_at) }),
        Contacts: `${shownCount(one.enrolled)} have entered`,
        Running: shownCount(one.running),
        Waiting: shownCount(one.waiting),
        Completed: shownCount(one.completed),
        Exited: shownCount(one.exited),
        Failed: shownCount(one.failed),
        Cancelled: shownCount(one.cancelled),
        ...(backfill === undefined ? {} : { 'Start over a list': shownBackfill(backfill) }),
      })
      say()
      sayTable(stepTitles, steps.map(stepCells), '')
      sayWaits(one, waits)
    },
  }
}

/** What starts a run. */
function beginningOf({ steps }: AutomationDefinition): string {
  const [trigger] = steps.flatMap((step) => (step.type === 'trigger' ? [step.config] : []))
  if (trigger === undefined) return ''
  const { date, filter, eventName } = trigger
  const what = date === undefined ? eventName : dateWords(date)
  return filter === undefined ? what : `${what}, if its filter holds`
}

/**
 * HERE is counted from the runs themselves; the others are counters, which a version has from its first enabling on.
 */
const stepTitles = [
  'VERSION',
  'STEP',
  'TYPE',
  'HERE',
  'ENTERED',
  'SKIPPED',
  'FAILED',
  'MAILS',
  'DELIVERED',
  'BOUNCED',
  'OPENED',
  'CLICKED',
  'OUTCOME',
]

/**
 * Mails are counted only at steps that send; elsewhere a zero would read as if something had
 * failed.
 */
function stepCells({ version, key, type, counts, present }: StepStanding): string[] {
  const before = [String(version), key, type, shownCount(present)]
  if (counts === null) return [...before, ...stepTitles.slice(before.length).map(() => '-')]
  const { entered, skipped, failed } = counts
  const mails = [counts.mails, counts.delivered, counts.bounced, counts.opened, counts.clicked]
  return [
    ...before,
    ...[entered, skipped, failed].map(shownCount),
    ...(type === 'send_email' ? mails.map(shownCount) : mails.map(() => '-')),
    outcomeOf(type, counts),
  ]
}

/** How many runs went each way at a step with two ways. */
function outcomeOf(type: string, counts: NonNullable<StepStanding['counts']>): string {
  const { met, not_met, received, timed_out } = counts
  if (type === 'condition') return `${shownCount(met)} met, ${shownCount(not_met)} not`
  if (type !== 'wait_for_event') return ''
  return `${shownCount(received)} received, ${shownCount(timed_out)} timed out`
}

/** Held runs need a decision and blocked ones need none, so each is told with what happens next. */
function sayWaits({ id }: Automation, waits: readonly Waits[]): void {
  if (waits.length === 0) return
  say()
  sayTable(
    ['RUNS', 'STATE', 'WHY'],
    waits.map(({ kind, reason, runs }) => [shownCount(runs), kind, reason]),
    '',
  )
  if (waits.some(({ kind }) => kind === 'held')) {
    remark(`'posthorn automation resume ${id} --overdue shift|now|skip' releases what is held`)
  }
  if (waits.some(({ kind }) => kind === 'blocked')) {
    remark("What is blocked goes on by itself; 'posthorn automation runs' says when")
  }
}

/** How far the start over a list has come. */
function shownBackfill({ list_id, seen, started, per_hour, ended_at }: Backfill): string {
  const far = `list ${list_id}, ${shownCount(started)} started of ${counted(seen, 'contact')}`
  return ended_at === null
    ? `${far} so far, ${shownCount(per_hour)} an hour`
    : `${far}, ended ${shownTime(ended_at)}`
}

/** Columns in snake_case stay inside: JSON has the names of the API. */
const backfillForMachines = ({ list_id, per_hour, seen, started, ...times }: Backfill) => ({
  listId: list_id,
  perHour: per_hour,
  seen,
  started,
  createdAt: jsonTime(times.created_at),
  nextAt: jsonTime(times.next_at),
  endedAt: jsonTime(times.ended_at),
})

/** Shows 'paused', which an operator set, beside the status that the account set. */
export const statusOf = ({ status, paused_at: pausedAt }: Automation) =>
  pausedAt === null ? status : `${status}, paused`

/** The ids of rows are left out: they mean nothing outside of the database. */
function stepForMachines({ version, key, type, counts, present }: StepStanding) {
  if (counts === null) return { version, key, type, present }
  const { id: _id, automation_id: _automation, ...rest } = counts
  return { ...rest, present }
}
