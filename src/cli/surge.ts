import { type Command, Option } from 'commander'
import { counted, shownCount } from '../amounts/index.js'
import { surgeSettings } from '../app/surges.js'
import * as operations from '../surges/contract.js'
import {
  decideSurge,
  findAnySurge,
  openSurges,
  type Surge,
  type SurgeDecision,
  shownSurge,
  surgesOf,
} from '../surges/index.js'
import { answering, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed } from './confirm.js'
import { accountOption } from './database.js'
import { withHints } from './limits.js'
import { remark, say, sayTable, shownTime } from './output.js'
import { settingsOf } from './place.js'

/** `posthorn surge`: mail that is held because there is far more of it than usual. */
export function surgeCommands(program: Command): void {
  const surge = program
    .command('surge')
    .description('mail that is held as it is far more than usual, to people who never got any')
  addCommands(surge, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    does: operations.listSurges,
    isDefault: true,
    about: 'show the surges that wait for a decision, or all of one account',
    options: [accountOption(), new Option('--open', 'only those that wait for a decision')],
    help: `Example:
  $ posthorn surge list --account 'City library'

Without an account each of --json has its accountId beside it.`,
    run: answering(list),
  },
  {
    usage: 'release <id>',
    does: operations.releaseSurge,
    adds: ['accountId'],
    about: 'let what a surge has held leave; for a day none is looked for',
    options: askOptions(),
    help: 'Example:\n  $ posthorn surge release 01a1fc92-0000-7000-8000-0a1b2c3d4e5f',
    run: answering(decide('released')),
  },
  {
    usage: 'fail <id>',
    does: operations.failSurge,
    adds: ['accountId'],
    about: 'give up what a surge has held: it is never sent',
    options: askOptions(),
    help: `Example:
  $ posthorn surge fail 01a1fc92-0000-7000-8000-0a1b2c3d4e5f

Delete the key first that has handed it in ('posthorn key delete'), or the next surge begins at once.`,
    run: answering(decide('failed')),
  },
]

const mostListed = 100

const forMachines = (surge: Surge) => ({ ...shownSurge(surge), accountId: surge.accountId })

async function list(
  { store: { read }, account, place }: CommandDeps,
  options: { account?: string; open?: true },
) {
  const isOfOne = options.account !== undefined
  const found = isOfOne
    ? await surgesOf(read, (await account()).id, { limit: mostListed })
    : await openSurges(read, mostListed)
  const surges = options.open ? found.filter(({ decision }) => decision === null) : found
  return {
    json: { surges: surges.map(isOfOne ? shownSurge : forMachines) },
    say() {
      sayTable(
        ['ID', 'ACCOUNT', 'BEGAN', 'MAILS AT FIRST', 'USUALLY', 'HELD', 'FROM', 'DECIDED'],
        surges.map((one) => [
          one.id,
          one.accountName,
          shownTime(one.beganAt),
          shownCount(one.mails),
          shownCount(one.usual),
          shownCount(one.held),
          fromOf(one),
          one.decision === null ? 'no' : `${one.decision} by ${one.decidedBy}`,
        ]),
        isOfOne ? 'The account never had a surge' : 'No surge waits for a decision',
      )
      if (surgeSettings(settingsOf(place)).minimum === 0) {
        remark(
          "None is looked for: outbound.route is 'sandbox', or protection.surges.minimum is 0.",
        )
      }
    },
  }
}

/** The key and the address that most of the mail came from. */
function fromOf({ sources }: Surge): string {
  const [first] = sources.toSorted((a, b) => b.mails - a.mails)
  if (first === undefined) return ''
  const more = sources.length > 1 ? ` and ${sources.length - 1} more` : ''
  return `${first.keyName ?? 'automation or no key'} ${first.address}${more}`.trim()
}

function decide(decision: SurgeDecision) {
  return async (deps: CommandDeps, id: string, options: AskOptions) =>
    await withHints({ not_found: "'posthorn surge list' shows them" }, async () => {
      const { place, clock } = deps
      const surge = await findAnySurge(deps.store.read, id)
      const held = counted(surge.held, 'held delivery', 'held deliveries')
      const intent = {
        to: decision === 'released' ? `let ${held} leave` : `give up ${held}`,
        facts: [
          `They are of the account "${surge.accountName}", from ${fromOf(surge)}`,
          decision === 'released'
            ? 'Mail that has left cannot be taken back, and for a day no surge of the account is looked for'
            : 'They are never sent',
        ],
        counts: { held: surge.held },
        how: 'moderate',
      } as const
      if (surge.decision === null && !(await confirmed(place, options, intent))) return undefined
      const how = { decision, by: 'the operator', now: clock.now() }
      const decided = await deps.store.write((tx) => decideSurge(tx, id, how))
      return {
        json: forMachines(decided),
        say() {
          say(decision === 'released' ? `${held}: they leave` : `${held}: they are given up`)
          remark('The appliance does it in the background, or at its next start.')
        },
      }
    })
}
