import { Argument, type Command, Option } from 'commander'
import { type Account, findAccount } from '../accounts/index.js'
import { controlSocket, isSocketPath } from '../app/files.js'
import {
  type BillingState,
  findPlan,
  type Plans,
  readBilling,
  readHandedIn,
  readUsage,
  setBillingState,
  setMarketingPlan,
  setPlan,
  suspend,
  unsuspend,
} from '../billing/index.js'
import { summarise } from '../deliveries/index.js'
import { OperatorError } from '../errors/index.js'
import type { Tx } from '../store/index.js'
import { askAppliance } from './ask.js'
import type { CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { type CliDeps, withStore } from './database.js'
import { say, sayFields, sayJson } from './output.js'
import { becomeOwner, type CommandPlace, placeOf } from './place.js'
import { plansOf, shownLimit } from './plan.js'

const states = ['active', 'past_due', 'expired'] as const

/** What an account may send. Everything is read from the database, so it holds from the next request on. */
export const accountBillingRows: readonly CommandRow[] = [
  {
    usage: 'billing <account>',
    about: 'show the plans, the state and the usage of an account',
    help: "Example:\n  $ posthorn account billing 'City library'",
    run: runBilling,
  },
  {
    usage: 'set-plan <account> <plan>',
    about: 'give an account another email plan, by name or id',
    help: "Example:\n  $ posthorn account set-plan 'City library' Growth",
    run: changePlan((plans, name) => findPlan(plans.email, name), setPlan),
  },
  {
    usage: 'set-marketing-plan <account> <plan>',
    about: 'give an account another marketing plan, by name or id; none ends marketing',
    help: "Example:\n  $ posthorn account set-marketing-plan 'City library' 'Marketing Plus'",
    run: changePlan(
      (plans, name) => (name.toLowerCase() === 'none' ? null : findPlan(plans.marketing, name)),
      setMarketingPlan,
    ),
  },
  {
    usage: 'set-billing-state <account>',
    about: 'set the state of a subscription',
    values: [new Argument('<state>', 'past_due sends on, expired does not').choices(states)],
    help: "Example:\n  $ posthorn account set-billing-state 'City library' past_due",
    run: changeTo((_, state: BillingState) => (tx, id) => setBillingState(tx, id, state)),
  },
  {
    usage: 'suspend <account>',
    about: 'stop all sending of an account until it is unsuspended',
    options: [
      ...askOptions(),
      new Option('--reason <text>', 'a note for operators').default('no reason was noted'),
    ],
    help: "Example:\n  $ posthorn account suspend 'City library' --reason 'sends spam, ticket 7'",
    run: runSuspend,
  },
  {
    usage: 'unsuspend <account>',
    about: 'let a suspended account send again',
    help: "Example:\n  $ posthorn account unsuspend 'City library'",
    run: runUnsuspend,
  },
]

/**
 * What the API would refuse, and why, is decided by these figures: plan, state and what is used of
 * the month, the day, and the hour and the minute where the plan limits them (all in UTC).
 */
async function runBilling(idOrName: string, _options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const plans = plansOf(place)
  const standing = await withStore(place, (deps) => standingOf(deps, plans, idOrName))
  if (place.json) return sayJson(standing)
  sayStanding(standing)
}

/**
 * A suspension stops everything of an account: sends are refused with 403 `account_suspended`, and
 * what is queued waits. It is reversible, so it asks a mild question (`confirm.ts`).
 */
function runSuspend(
  idOrName: string,
  options: { reason: string } & AskOptions,
  command: Command,
): Promise<void> {
  return change(command, idOrName, () => (tx, id) => suspend(tx, id, options.reason), {
    options,
    intent: (deps, found) => stopOf(deps, found, 'suspend'),
  })
}

/** Runs a command `<account> <plan>`; the plan is found before the database is opened. */
function changePlan<P extends { id: string; name: string } | null>(
  find: (plans: Plans, name: string) => P,
  set: (tx: Tx, accountId: string, plan: P) => Promise<void>,
) {
  return async (account: string, name: string, _options: unknown, command: Command) => {
    const place = placeOf(command)
    const plan = find(plansOf(place), name)
    if (plan !== null) await refuseUnread(place, plan)
    await change(command, account, () => (tx, id) => set(tx, id, plan))
  }
}

/**
 * The appliance reads plans at its start. An account whose plan it does not know has the caps of an account without a
 * plan. An appliance that starts or stops at this moment does not answer.
 */
async function refuseUnread(place: CommandPlace, plan: { id: string; name: string }) {
  const { dataDir } = place
  const answer = await askAppliance(place, { plans: true })
  if (answer?.plans?.includes(plan.id)) return
  if (answer?.plans !== undefined) {
    throw new OperatorError(
      `The running appliance has not read the plan "${plan.name}": restart it first (systemctl restart posthorn)`,
    )
  }
  // No appliance can be asked; the operator is told of the plan.
  if (!isSocketPath(controlSocket(dataDir))) return
  becomeOwner(place)
  const { isServed } = await import('../app/lock.js')
  if (!isServed(dataDir)) return
  throw new OperatorError(
    `An appliance serves ${dataDir} and does not say whether it has read the plan "${plan.name}". Run this again when it has started or stopped; if that does not help, restart it (systemctl restart posthorn)`,
  )
}

/** Runs a command `<account> <value>`; `changing` judges the value before the database is opened. */
function changeTo<Value extends string>(changing: (plans: Plans, value: Value) => Change) {
  return (idOrName: string, value: Value, _options: unknown, command: Command): Promise<void> =>
    change(command, idOrName, (plans) => changing(plans, value))
}

/** Does not ask first, as nothing is lost. */
function runUnsuspend(idOrName: string, _options: unknown, command: Command): Promise<void> {
  return change(command, idOrName, () => unsuspend)
}

type Change = (tx: Tx, accountId: string) => Promise<void>

/** Checks the arguments, changes the account, and shows how it then stands. */
async function change(
  command: Command,
  idOrName: string,
  changing: (plans: Plans) => Change,
  asking?: {
    options: AskOptions
    intent: (deps: CliDeps, account: Account) => Promise<Intent>
  },
): Promise<void> {
  const place = placeOf(command)
  // Before the database is opened: a plan that does not exist is refused at once, with the names of
  // the plans that do.
  const plans = plansOf(place)
  const changeAccount = changing(plans)
  const standing = await withStore(place, async (deps) => {
    const account = await findAccount(deps.store.read, idOrName)
    const { id } = account
    // Only what stops mail asks; a plan is changed back as easily as it was changed.
    const intent = await asking?.intent(deps, account)
    if (intent && !(await confirmed(place, asking?.options ?? {}, intent))) return
    await deps.store.write((tx) => changeAccount(tx, id))
    return await standingOf(deps, plans, id)
  })
  if (standing === undefined) return
  if (place.json) return sayJson(standing)
  sayStanding(standing)
}

/**
 * What stops when an account is suspended or paused. The mail goes on later, so the question is asked only at a
 * terminal.
 */
export async function stopOf(
  { store, clock }: CliDeps,
  { id, name }: Account,
  verb: 'suspend' | 'pause',
  marketing = false,
): Promise<Intent> {
  const { classes } = await summarise(store.read, { accountId: id }, { now: clock.now(), lanes: 0 })
  const stopped = classes.filter((row) => !marketing || row.class !== 'transactional')
  const waiting = stopped.reduce((all, row) => all + row.waiting, 0)
  return {
    to: `${verb} ${marketing ? 'the marketing of ' : ''}the account "${name}"`,
    facts: [
      marketing ? 'Its campaigns and marketing sends are refused' : 'Its sends are refused',
      `Deliveries that wait until 'posthorn account un${verb}': ${waiting}`,
    ],
    counts: { id, name, waiting },
    how: 'mild',
  }
}

type Standing = Awaited<ReturnType<typeof standingOf>>

/**
 * Read in one go with one clock: the month and the day of the usage must belong to the same moment.
 */
async function standingOf({ store: { read }, clock }: CliDeps, plans: Plans, idOrName: string) {
  const account = await findAccount(read, idOrName)
  const { accountId: _, ...billing } = await readBilling(read, plans, account.id)
  const now = clock.now()
  const [used, lately] = [
    await readUsage(read, account.id, now),
    await readHandedIn(read, account.id, now),
  ]
  return { ...named(account), ...billing, usage: { ...used, ...lately } }
}

/** The part of an account that every answer begins with. */
const named = ({ id, name }: Account) => ({ id, name })

/**
 * The figures for people. A limit of `null` means that there is none; then only the figure is
 * shown.
 */
function sayStanding({ name, plan, marketingPlan, usage, ...rest }: Standing): void {
  const { state, suspended, paused, marketingPaused } = rest
  const of = (used: number, limit: number | null) =>
    `${used.toLocaleString('en')} of ${shownLimit(limit)}`
  sayFields({
    Account: name,
    Plan: plan.name,
    'This month': of(usage.monthMails, plan.monthlyLimit),
    Today: plan.dailyLimit === null ? String(usage.dayMails) : of(usage.dayMails, plan.dailyLimit),
    ...(plan.perHour !== null && { 'This hour': of(usage.hourMails, plan.perHour) }),
    ...(plan.perMinute !== null && { 'This minute': of(usage.minuteMails, plan.perMinute) }),
    'Marketing plan': marketingPlan?.name ?? 'none',
    ...(marketingPlan && {
      'Campaign mails': of(usage.monthCampaignMails, marketingPlan.monthlySendLimit),
    }),
    Billing: state,
    Suspended: suspended ?? 'no',
    Paused: paused ?? 'no',
    'Marketing paused': marketingPaused ?? 'no',
  })
  if (suspended !== null || state === 'expired' || paused !== null) say('It sends nothing.')
}
