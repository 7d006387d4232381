import { Option } from 'commander'
import { counted, shownCount } from '../amounts/index.js'
import * as operations from '../broadcasts/contract.js'
import {
  type Broadcast,
  cancelledBroadcast,
  leftToCancel,
  pauseBroadcast,
  pausedBroadcast,
  resumeBroadcast,
  resumedBroadcast,
  stopBroadcast,
} from '../broadcasts/index.js'
import { pause } from '../clock/index.js'
import type { Operation } from '../contract/index.js'
import { OperatorError } from '../errors/index.js'
import { answering, type CommandDeps } from './answering.js'
import { chosenBroadcast } from './broadcast-show.js'
import type { CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import type { CliDeps } from './database.js'
import { remark, say } from './output.js'

/** `reason`: what the account is told. */
interface Options extends AskOptions {
  reason?: string
}

/**
 * The result of a verb: the mails that it reached, and the mails that were being sent meanwhile.
 */
interface Changed {
  mails: number
  inFlight: number
}

/** One verb on a campaign. */
interface Change {
  name: string
  does: Operation
  about: string
  help: string
  reason?: string
  /** What the change takes with it, where the command asks first. */
  intent?: (broadcast: Broadcast) => Intent
  /** What the API answers. */
  answer: (id: string) => object
  /** Says what happened to this many mails. */
  done: (mails: string) => string
  apply: (
    deps: CliDeps,
    broadcast: Broadcast,
    how: { reason: string; onProgress: (seen: number) => void },
  ) => Promise<Changed>
}

/**
 * Each verb tells how many mails it reached, and separately how many were being sent at that
 * moment: SMTP cannot call a mail back after its final dot (RFC 5321 §4.1.1.4).
 */
const changes: readonly Change[] = [
  {
    name: 'pause',
    does: operations.pauseBroadcast,
    about: 'pause a campaign: no more mails of it are made, and none leaves',
    help: `$ posthorn broadcast pause 01a1fc92-9915-7533-8296-04ee3d91dd72 --reason 'wrong link'

The account sees the reason. 'posthorn broadcast resume' lets the campaign go on.`,
    reason: 'paused by the operator',
    answer: pausedBroadcast,
    done: (mails) => `Paused; ${mails} held`,
    apply: async (deps, broadcast, how) => {
      const { held, inFlight } = await pauseBroadcast(deps, broadcast, how)
      return { mails: held, inFlight }
    },
  },
  {
    name: 'resume',
    does: operations.resumeBroadcast,
    about: 'let a paused campaign go on',
    help: '$ posthorn broadcast resume 01a1fc92-9915-7533-8296-04ee3d91dd72',
    answer: resumedBroadcast,
    done: (mails) => `It goes on; ${mails} released. A running appliance sees it within 30 seconds`,
    apply: async (deps, broadcast, { onProgress }) => {
      const { released } = await resumeBroadcast(deps, broadcast, { onProgress })
      return { mails: released, inFlight: 0 }
    },
  },
  {
    name: 'cancel',
    does: operations.cancelBroadcast,
    about: 'end a campaign, also one that is sending: mails that have not left never will',
    help: `$ posthorn broadcast cancel 01a1fc92-9915-7533-8296-04ee3d91dd72

This cannot be undone. What was not made into mail is given back to the account's plan.`,
    intent: (broadcast) => {
      const { waiting, unmade } = leftToCancel(broadcast)
      return {
        to: `end the campaign "${broadcast.subject}"`,
        facts: [
          `Mails that wait and will never leave: ${shownCount(waiting)}`,
          `Mails that are not made yet and never will be: ${shownCount(unmade)}`,
        ],
        counts: { id: broadcast.id, waiting, unmade },
        how: 'moderate',
      }
    },
    answer: cancelledBroadcast,
    done: (mails) => `Cancelled; ${mails} will not leave`,
    apply: async (deps, broadcast, { onProgress }) => {
      const { cancelled, inFlight } = await stopBroadcast(deps, broadcast, { onProgress })
      return { mails: cancelled, inFlight }
    },
  },
]

// The command waits 20 seconds in all for mails in flight: most attempts take seconds, and hanging
// ones may take minutes.
const inFlightLooks = 10
const betweenLooksMs = 2_000

/** `broadcast pause`, `resume` and `cancel`. */
export const changeBroadcastRows: readonly CommandRow[] = changes.map((change) => ({
  usage: `${change.name} <id>`,
  does: change.does,
  // An operator also has to know how many mails the verb reached.
  adds: ['mails', 'inFlight'],
  about: change.about,
  options: [
    ...(change.intent === undefined ? [] : askOptions()),
    ...(change.reason === undefined
      ? []
      : [new Option('--reason <text>', 'why, for the account too').default(change.reason)]),
  ],
  help: `Example:\n  ${change.help}`,
  run: answering((deps, id: string, options: Options) => apply(change, deps, id, options)),
}))

/**
 * A campaign may have a million mails. They are changed in small writes between which other mail
 * goes on; an interrupted command has done a part, and can be run again.
 */
async function apply(change: Change, deps: CommandDeps, id: string, options: Options) {
  const { reason = '-' } = options
  if (!/^\P{Cc}{1,200}$/u.test(reason.trim())) {
    throw new OperatorError('The reason must have 1 to 200 characters and no control characters')
  }
  const onProgress = (seen: number) => {
    // About every second or two.
    if (seen % 50_000 === 0 && process.stderr.isTTY) remark(`${shownCount(seen)} so far`)
  }
  const found = await chosenBroadcast(deps.store.read, id)
  if (change.intent && !(await confirmed(deps.place, options, change.intent(found)))) return
  const how = { reason: reason.trim(), onProgress }
  const changed = await change.apply(deps, found, how)
  // A mail in flight may be deferred, and would then leave at its next attempt.
  for (let look = 0; look < inFlightLooks && changed.inFlight > 0; look++) {
    if (look === 0) remark(`${shownCount(changed.inFlight)} in flight: waiting for them to end`)
    await pause(deps.clock, betweenLooksMs)
    const again = await change.apply(deps, found, how)
    changed.mails += again.mails
    changed.inFlight = again.inFlight
  }
  return {
    json: { ...change.answer(found.id), ...changed },
    say() {
      say(change.done(counted(changed.mails, 'mail')))
      if (changed.inFlight === 0) return
      remark(
        `${shownCount(changed.inFlight)} still in flight: they may arrive; what their servers put off does not leave`,
      )
    },
  }
}
