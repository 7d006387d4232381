import { type Command, Option } from 'commander'
import * as operations from '../topics/contract.js'
import { createdTopic, createTopic, topicsAnswer } from '../topics/index.js'
import { answering, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { accountOption } from './database.js'
import { givenTo } from './given.js'
import { wholeNumber } from './option-values.js'
import { say, sayTable, shownTime } from './output.js'

/** What any of the sub-commands may be given. */
interface Options {
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

// More than anybody has topics. A place may be below 0, so that a new topic comes first.
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
    run: answering(add),
  },
  {
    usage: 'list',
    does: operations.listTopics,
    about: 'show the topics of an account',
    options: [accountOption(), new Option('--archived', 'archived ones too')],
    help: 'Example:\n  $ posthorn topic list',
    run: answering(list),
  },
]

/** A topic at a place of the preference centre; equal places are in the order of names. */
async function add(deps: CommandDeps, name: string, { description, position }: Options) {
  const given = givenTo(operations.createTopic, { name, description, position })
  const made = await createTopic(deps, (await deps.account()).id, given)
  return {
    json: createdTopic(made),
    say: () => say(`Topic "${made.name}" is made: ${made.id}`),
  }
}

/** In the order in which recipients see them. */
async function list({ store: { read }, account }: CommandDeps, { archived }: Options) {
  const json = await topicsAnswer(read, (await account()).id, archived)
  return {
    json,
    say: () =>
      sayTable(
        ['ID', 'NAME', 'POSITION', 'CREATED', 'DESCRIPTION'],
        json.topics.map((one) => [
          one.id,
          one.archived ? `${one.name} (archived)` : one.name,
          String(one.position),
          shownTime(Date.parse(one.createdAt)),
          one.description,
        ]),
        "No topic yet; 'posthorn topic add NAME' makes one",
      ),
  }
}
