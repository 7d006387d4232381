import { type Command, Option } from 'commander'
import { audienceUses } from '../broadcasts/index.js'
import { OperatorError } from '../errors/index.js'
import * as operations from '../segments/contract.js'
import {
  createSegment,
  deleteSegment,
  listSegments,
  segmentAnswer,
  shownSegment,
} from '../segments/index.js'
import { answering, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { accountOption } from './database.js'
import { givenTo } from './given.js'
import { say, sayFields, sayTable, shownTime } from './output.js'

/** What any of the sub-commands may be given. */
interface Options {
  rule?: string
}

/** `posthorn segment`: an account's saved rules about people. */
export function segmentCommands(program: Command): void {
  const segment = program
    .command('segment')
    .description('saved rules about people, and how many they hold for')
  addCommands(segment, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    does: operations.listSegments,
    about: 'show the segments of an account',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn segment list',
    run: answering(list),
  },
  {
    usage: 'show <id>',
    does: operations.getSegment,
    about: 'show a segment: its rule, both numbers, and what uses it',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn segment show 01a1fc92-9915-7533-8296-04ee3d91dd72',
    run: answering(show),
  },
  {
    usage: 'create <name>',
    does: operations.createSegment,
    about: 'make a segment, whose people the appliance then looks for',
    options: [
      accountOption(),
      new Option('--rule <json>', 'whom it holds for, as the API has it').makeOptionMandatory(),
    ],
    help: `Example:
  $ posthorn segment create Lagos --rule '{"field": "contact.metadata.town", "operator": "eq", "value": "Lagos"}'`,
    run: answering(create),
  },
  {
    usage: 'delete <id>',
    does: operations.deleteSegment,
    about: 'delete a segment; its people stay',
    options: [...askOptions(), accountOption()],
    help: 'Example:\n  $ posthorn segment delete 01a1fc92-9915-7533-8296-04ee3d91dd72',
    run: answering(remove),
  },
]

async function list({ store: { read }, account }: CommandDeps) {
  const segments = (await listSegments(read, (await account()).id)).map(shownSegment)
  return {
    json: { segments },
    say: () =>
      sayTable(
        ['ID', 'NAME', 'PEOPLE', 'GET MAIL', 'STATE', 'UP TO DATE'],
        segments.map((one) => [
          one.id,
          one.name,
          String(one.count),
          String(one.mailable),
          one.state,
          shownTime(Date.parse(one.asOf)),
        ]),
        "No segment yet; 'posthorn segment create' makes one",
      ),
  }
}

async function show({ store: { read }, account }: CommandDeps, id: string) {
  const json = await segmentAnswer(read, (await account()).id, id, audienceUses)
  const uses = json.usedBy.map((use) => `${use.kind} "${use.name}"`).join(', ')
  return {
    json,
    say: () =>
      sayFields({
        id: json.id,
        name: json.name,
        rule: JSON.stringify(json.rule),
        people: String(json.count),
        'get mail': String(json.mailable),
        unsubscribed: String(json.unsubscribed),
        bounced: String(json.bounced),
        complained: String(json.complained),
        suppressed: String(json.suppressed),
        state: json.state,
        'names what is gone': json.broken.join('; ') || '-',
        'used by': uses || '-',
      }),
  }
}

async function create(deps: CommandDeps, name: string, { rule = '' }: Options) {
  const given = givenTo(operations.createSegment, { name, rule: ruleOf(rule) })
  const made = await createSegment(deps, (await deps.account()).id, given)
  return {
    json: shownSegment(made),
    say: () => say(`Segment "${made.name}" is made: ${made.id}`),
  }
}

function ruleOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new OperatorError('--rule must be a rule as JSON', { cause })
  }
}

async function remove(deps: CommandDeps, id: string, options: AskOptions) {
  const { id: accountId } = await deps.account()
  const segment = await segmentAnswer(deps.store.read, accountId, id, audienceUses)
  const intent: Intent = {
    to: `delete the segment "${segment.name}"`,
    facts: [`${segment.count} people are in it, who stay`],
    counts: { id: segment.id, people: segment.count },
    how: 'mild',
  }
  if (!(await confirmed(deps.place, options, intent))) return
  const gone = await deleteSegment({ ...deps, usesOf: audienceUses }, accountId, segment.id)
  return {
    json: { message: 'Segment deleted; its people stay' },
    say: () => say(`Segment "${gone.name}" is deleted; its people stay`),
  }
}
