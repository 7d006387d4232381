import { Option } from 'commander'
import { counted, shownCount } from '../amounts/index.js'
import * as operations from '../automations/contract.js'
import {
  type Automation,
  archiveAutomation,
  disableAutomation,
  duplicateAutomation,
  enableAutomation,
  enabledAnswer,
  findAnyAutomation,
  type HeldRelease,
  madeAnswer,
  pauseAutomation,
  releases,
  resumeAutomation,
  shownState,
} from '../automations/index.js'
import { readBilling } from '../billing/index.js'
import type { Operation } from '../contract/index.js'
import { answering, type CommandDeps } from './answering.js'
import { statusOf } from './automation-show.js'
import type { CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { say } from './output.js'
import { plansOf } from './plan.js'
import { withRenderer } from './template.js'

/** What any of the verbs may be given. */
interface Options extends AskOptions {
  overdue?: HeldRelease
}

/** One verb. `apply` answers as the API does, or with what it released. */
interface Change {
  name: string
  does?: Operation
  about: string
  help: string
  /** What the change takes with it, where the command asks first. */
  intent?: (automation: Automation, overdue: HeldRelease) => Intent | undefined
  apply: (
    deps: CommandDeps,
    automation: Automation,
    overdue: HeldRelease,
  ) => Promise<{ released?: number } | object>
  done: (automation: Automation, changed: { released?: number }) => string
}

/**
 * One row a verb: what it does, what it asks before, what it says after. A table keeps the verbs
 * alike in options, JSON and questions, which a function for each would not.
 */
const changes: readonly Change[] = [
  {
    name: 'enable',
    does: operations.enableAutomation,
    about: 'enable an automation: its event starts runs of its present version',
    help: '$ posthorn automation enable Welcome',
    async apply({ store, clock, place }, { account_id, id }) {
      const billing = await readBilling(store.read, plansOf(place), account_id)
      const enabled = await withRenderer({ store, clock }, (renderer) =>
        enableAutomation({ store, clock, renderer }, billing, id),
      )
      return await enabledAnswer(store.read, enabled)
    },
    done: ({ version }) => `Enabled: its event starts runs of version ${version} from now on`,
  },
  {
    name: 'disable',
    does: operations.disableAutomation,
    about: 'start no more runs; those under way finish',
    help: '$ posthorn automation disable Welcome',
    apply: async (deps, { account_id, id }) =>
      shownState(await disableAutomation(deps, account_id, id)),
    done: ({ running, waiting }) =>
      `Disabled: nothing starts it; ${runs(running + waiting)} under way will finish`,
  },
  {
    name: 'archive',
    does: operations.archiveAutomation,
    about: 'end an automation for good: its runs are cancelled',
    help: `$ posthorn automation archive Welcome

This cannot be undone. What has become mail in the queue leaves: 'posthorn queue' is for that.`,
    intent: ({ id, name, running, waiting }) => ({
      to: `end the automation "${name}" for good`,
      facts: [`Runs that are cancelled where they are: ${shownCount(running + waiting)}`],
      counts: { id, runs: running + waiting },
      how: 'moderate',
    }),
    apply: async (deps, { account_id, id }) =>
      shownState(await archiveAutomation(deps, account_id, id)),
    done: ({ running, waiting }) =>
      running + waiting === 0
        ? 'Archived: all of its runs are cancelled'
        : `Archived: a running appliance cancels the other ${runs(running + waiting)} within minutes`,
  },
  {
    name: 'pause',
    about:
      'pause an automation: no run takes a step until it is resumed; events still start and wake runs',
    help: `$ posthorn automation pause Welcome

A step that is being taken now may still end. 'posthorn automation resume' lets it go on.`,
    async apply(deps, automation) {
      await pauseAutomation(deps, automation)
      return {}
    },
    done: ({ id, running, waiting }) =>
      `Paused: no run takes a step (${runs(running + waiting)} under way) until 'posthorn automation resume ${id}'`,
  },
  {
    name: 'resume',
    about: 'let a paused automation go on, and runs that were held after a restore',
    help: `$ posthorn automation resume Welcome --overdue shift

What fell due meanwhile:
  shift  every timer goes on by as long as the pause was (the default)
  now    each overdue run takes its step now
  skip   overdue runs go on now, but the mails that they would make are passed over`,
    intent: ({ id, name, running, waiting }, overdue) =>
      overdue === 'shift'
        ? undefined
        : {
            to: `let "${name}" go on, and ${overdue === 'now' ? 'take all overdue steps at once' : 'pass over the mails that are overdue'}`,
            facts: [`It has ${runs(running + waiting)} under way`],
            counts: { id, overdue, runs: running + waiting },
            how: 'mild',
          },
    apply: (deps, automation, overdue) => resumeAutomation(deps, automation, overdue),
    done: (_automation, { released = 0 }) =>
      `It goes on; ${runs(released)} released. A running appliance sees it within 5 seconds`,
  },
]

/** `automation duplicate`, which is no verb of the table: it makes another automation. */
export const duplicateAutomationRow: CommandRow = {
  usage: 'duplicate <automation>',
  does: operations.duplicateAutomation,
  about: 'copy an automation, with its steps and settings as they are now; the copy is disabled',
  options: [new Option('--draft', 'copy its draft, too, where it has one')],
  help: 'Example:\n  $ posthorn automation duplicate Welcome\n  $ posthorn automation duplicate Welcome --draft',
  run: answering(async (deps: CommandDeps, named: string, { draft }: { draft?: true }) => {
    const { store, clock, place } = deps
    const { account_id, id } = await findAnyAutomation(store.read, named)
    const plans = plansOf(place)
    const billing = await readBilling(store.read, plans, account_id)
    const withDraft = draft === true
    const made = await duplicateAutomation({ store, clock, plans }, billing, id, undefined, {
      withDraft,
    })
    return { json: madeAnswer(made), say: () => say(`${made.id} is disabled: “${made.name}”`) }
  }),
}

/** `automation enable`, `disable`, `archive`, `pause` and `resume`. */
export const changeAutomationRows: readonly CommandRow[] = changes.map((change) => ({
  usage: `${change.name} <automation>`,
  does: change.does,
  about: change.about,
  options: [
    ...(change.intent === undefined ? [] : askOptions()),
    ...(change.name === 'resume' ? [overdueOption()] : []),
  ],
  help: `Example:\n  ${change.help}`,
  run: answering((deps, named: string, options: Options) => apply(change, deps, named, options)),
}))

/**
 * Only `resume` needs it. After a pause of days the timers of all runs are overdue, and all these
 * steps at once would mail people at a time that nobody chose.
 */
function overdueOption(): Option {
  const about = 'what becomes of steps that are overdue'
  return new Option('--overdue <how>', about).choices([...releases]).default(releases[0])
}

/**
 * Only writes the change into the database: the running appliance finds it there within seconds, or
 * at its next start. So the command works the same whether an appliance runs or not.
 */
async function apply(change: Change, deps: CommandDeps, named: string, options: Options) {
  const { overdue = 'shift' } = options
  const found = await findAnyAutomation(deps.store.read, named)
  const intent = change.intent?.(found, overdue)
  if (intent && !(await confirmed(deps.place, options, intent))) return
  const changed = await change.apply(deps, found, overdue)
  const automation = await findAnyAutomation(deps.store.read, found.id)
  const { id, name } = automation
  const own = { id, name, status: statusOf(automation), ...changed }
  return {
    json: change.does === undefined ? own : changed,
    say: () => say(change.done(automation, changed)),
  }
}

/** `1 run`, `1,204 runs`. */
export const runs = (count: number) => counted(count, 'run')
