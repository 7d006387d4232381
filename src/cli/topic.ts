import { type Command, Option } from 'commander'
import * as operations from '../topics/contract.js'
import { createdTopic, createTopic, topicsAnswer } from '../topics/index.js'
import { addCommands, type CommandRow } from './command-row.js'
import { accountOption, chosenAccount, withStore } from './database.js'
import { givenTo } from './given.js'
import { wholeNumber } from './option-values.js'
import { say, sayJson, sayTable, shownTime } from './output.js'
import { placeOf } from './place.js'

/** What any of the sub-commands may be given. */
interface Options {
  account?: string
  description?: string
  position?: number
  archived?: boolean
}

/** `posthorn topic`: the topics of one account. */
export function topicCommands(program: Command): void {
  const topic = program
    .command('topic')
    .description('kinds of marketing mail, which recipients can leave one by one')
  addCommands(topic, rows)
}

// More than anybody has topics; a place may be below 0, so that a new one comes first.
const maxPlace = 1_000_000

const rows: readonly CommandRow[] = [
  {
    usage: 'add <name>',
    does: operations.createTopic,
    about: 'make a topic',
    options: [
      accountOption(),
      new Option('--description <text>', 'what recipients read about it'),
      new Option('--position <number>', 'its place in the preference centre')
        .default(0)
        .argParser(wholeNumber(-maxPlace, maxPlace)),
    ],
    help: "Example:\n  $ posthorn topic add 'New books' --description 'Once a month'",
    run: runAdd,
  },
  {
    usage: 'list',
    does: operations.listTopics,
    about: 'show the topics of an account',
    options: [accountOption(), new Option('--archived', 'archived ones too')],
    help: 'Example:\n  $ posthorn topic list',
    run: runList,
  },
]

/** A topic at a place of the preference centre; equal places are in the order of names. */
async function runAdd(name: string, options: Options, command: Command): Promise<void> {
  const place = placeOf(command)
  const { description, position } = options
  const given = givenTo(operations.createTopic, { name, description, position })
  const made = await withStore(place, async (deps) => {
    const { id } = await chosenAccount(deps.store.read, options.account)
    return createTopic(deps, id, given)
  })
  if (place.json) return sayJson(createdTopic(made))
  say(`Topic "${made.name}" is made: ${made.id}`)
}

/** In the order in which recipients see them. */
async function runList(options: Options, command: Command): Promise<void> {
  const place = placeOf(command)
  const answer = await withStore(place, async ({ store: { read } }) => {
    const { id } = await chosenAccount(read, options.account)
    return topicsAnswer(read, id, options.archived)
  })
  if (place.json) return sayJson(answer)
  sayTable(
    ['ID', 'NAME', 'POSITION', 'CREATED', 'DESCRIPTION'],
    answer.topics.map((one) => [
      one.id,
      one.archived ? `${one.name} (archived)` : one.name,
      String(one.position),
      shownTime(Date.parse(one.createdAt)),
      one.description,
    ]),
    "No topic yet; 'posthorn topic add NAME' makes one",
  )
}
