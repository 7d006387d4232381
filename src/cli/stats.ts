import type { Command } from 'commander'
import { ApiError, OperatorError } from '../errors/index.js'
import { getStats, questionFields } from '../stats/contract.js'
import {
  type Figures,
  questionOf,
  readStats,
  type Stats,
  type StatsGroup,
  type StatsInput,
} from '../stats/index.js'
import { answering, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { accountOption } from './database.js'
import { fieldOptions } from './field-options.js'
import { remark, say, sayTable } from './output.js'

/** Options of `posthorn stats`. */
interface Options extends Omit<StatsInput, 'groupBy' | 'broadcastId'> {
  by?: string
  broadcast?: string
}

/** `posthorn stats`: the figures of one account, by the function of `GET /v1/stats`. */
export const statsCommand = (program: Command) => addCommands(program, rows)

const rows: readonly CommandRow[] = [
  {
    usage: 'stats',
    does: getStats,
    about: 'figures over time: sent, delivered, bounced, opened, by day and more',
    options: [
      accountOption(),
      ...fieldOptions(questionFields, {
        groupBy: '--by <groups>',
        broadcastId: '--broadcast <id>',
      }),
    ],
    help: `Examples:
  $ posthorn stats --from 2026-11-01 --to 2026-11-30
  $ posthorn stats --by provider --type marketing
  $ posthorn stats --by day,domain --json

Every figure counts on the day, UTC, when it happened. BOUNCED has hard and soft ones; OPENED and CLICKED
are mails that a person opened or clicked in, machines left out. --json has all figures, and rates.`,
    run: answering(stats),
  },
]

async function stats({ store: { read }, clock, account }: CommandDeps, options: Options) {
  const { by: groupBy, broadcast: broadcastId, ...rest } = options
  const { id } = await account()
  const json = await readStats(read, id, asked({ ...rest, groupBy, broadcastId }, clock.now()))
  if (!json.upToDate) {
    remark('The log of an older version is still being counted; the figures are not complete yet')
  }
  return { json, say: () => show(json) }
}

/** The question in the API's form; its faults are told by the names of the options. */
function asked(input: StatsInput, now: number) {
  try {
    return questionOf(input, now)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const message = error.message.replaceAll(/`(\w+)`/g, (_, name: string) => optionOf(name))
    throw new OperatorError(message)
  }
}

/** The API's `groupBy` is `--by` here; every other option has the field's name. */
const optionOf = (name: string) => (name === 'groupBy' ? '--by' : `--${name}`)

/** The total has each mail once; a mail with several tags is in several groups. */
function show({ from, to, groupBy, groups, total }: Stats): void {
  say(`${from} to ${to}, UTC`)
  sayTable(
    [...groupBy.map((name) => name.toUpperCase()), ...columns],
    [
      ...groups.map((group) => [...groupBy.map((name) => nameOf(group, name)), ...cells(group)]),
      [...groupBy.map((_, place) => (place === 0 ? 'total' : '')), ...cells(total)],
    ],
    'Nothing was sent',
  )
}

// The figures that fit on a line; --json has all.
const columns = [
  'MAILS',
  'ACCEPTED',
  'DELIVERED',
  'BOUNCED',
  'DEFERRED',
  'COMPLAINED',
  'UNSUBSCRIBED',
  'OPENED',
  'CLICKED',
]

/** The figures of a line. A dash stands for a figure that has no meaning for the groups. */
const cells = (figures: Figures) =>
  [
    figures.mails,
    figures.accepted,
    figures.delivered,
    figures.bouncedHard + figures.bouncedSoft,
    figures.deferred,
    figures.complained,
    figures.unsubscribed,
    figures.openedUnique,
    figures.clickedUnique,
  ].map((count) => (count === null ? '-' : String(count)))

/** What a group is called in one of its columns. */
function nameOf(group: StatsGroup, name: Stats['groupBy'][number]): string {
  if (name === 'day') return group.day ?? ''
  if (group.other) return '(other)'
  if (name === 'tag') return group.tag ? `${group.tag.name}:${group.tag.value}` : ''
  return (name === 'broadcast' ? group.broadcastId : group[name]) ?? '(none)'
}
