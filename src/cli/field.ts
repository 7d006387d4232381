import { type Command, Option } from 'commander'
import * as operations from '../contact-fields/contract.js'
import {
  contactFieldsAnswer,
  createContactField,
  deleteContactField,
  deletedContactField,
  fieldTypes,
  requireContactField,
  shownContactField,
  updateContactField,
} from '../contact-fields/index.js'
import { answering, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { accountOption } from './database.js'
import { givenTo } from './given.js'
import { say, sayTable } from './output.js'

/** What any of the sub-commands may be given. */
interface Options {
  type?: string
  label?: string
  choice?: string[] | false
  recipientsMayEdit?: boolean
}

/** `posthorn field`: what an account calls the fields of its contacts. */
export function fieldCommands(program: Command): void {
  const field = program
    .command('field')
    .description('fields of contacts: what they are called, what they take, who may change them')
  addCommands(field, rows)
}

const typeOption = () => new Option('--type <type>', 'what it takes').choices(fieldTypes)
const choiceOption = () =>
  new Option('--choice <text...>', 'what may be chosen, of the type choice')

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    does: operations.listContactFields,
    about: 'show the fields of contacts',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn field list',
    run: answering(list),
  },
  {
    usage: 'add <name> <label>',
    does: operations.createContactField,
    about: 'describe a field: its name in metadata and merge tags, and what people read',
    options: [
      accountOption(),
      typeOption().default('text'),
      choiceOption(),
      new Option('--recipients-may-edit', 'recipients see it in the preference centre'),
    ],
    help: 'Example:\n  $ posthorn field add town Town --type choice --choice Lagos Abuja --recipients-may-edit',
    run: answering(add),
  },
  {
    usage: 'set <id>',
    does: operations.updateContactField,
    about: 'change a field',
    options: [
      accountOption(),
      new Option('--label <text>', 'what people read'),
      typeOption(),
      choiceOption(),
      new Option('--no-choice', 'without the choices that it has, to become of another type'),
      new Option('--recipients-may-edit', 'recipients see it in the preference centre'),
      new Option('--no-recipients-may-edit', 'recipients do not see it'),
    ],
    help: 'Example:\n  $ posthorn field set 01a1fc92-0000-7000-8000-5f0e1c2d3b4a --no-recipients-may-edit',
    run: answering(set),
  },
  {
    usage: 'delete <id>',
    does: operations.deleteContactField,
    about: 'delete the description of a field; what contacts have in it stays',
    options: [...askOptions(), accountOption()],
    help: 'Example:\n  $ posthorn field delete 01a1fc92-0000-7000-8000-5f0e1c2d3b4a',
    run: answering(remove),
  },
]

async function list({ store: { read }, account }: CommandDeps) {
  const json = await contactFieldsAnswer(read, (await account()).id)
  return {
    json,
    say: () =>
      sayTable(
        ['ID', 'NAME', 'LABEL', 'TYPE', 'RECIPIENTS MAY EDIT', 'CHOICES'],
        json.fields.map((one) => [
          one.id,
          one.name,
          one.label,
          one.type,
          one.recipientsMayEdit ? 'yes' : 'no',
          one.choices.join(', '),
        ]),
        "No field yet; 'posthorn field add NAME LABEL' describes one",
      ),
  }
}

async function add(deps: CommandDeps, name: string, label: string, options: Options) {
  const { type, choice: choices, recipientsMayEdit } = options
  const asked = { name, label, type, choices, recipientsMayEdit }
  const given = givenTo(operations.createContactField, asked)
  const made = await createContactField(deps, (await deps.account()).id, given)
  return {
    json: shownContactField(made),
    say: () => say(`Field "${made.label}" is made: ${made.id}`),
  }
}

async function set(deps: CommandDeps, id: string, options: Options) {
  const { label, type, choice, recipientsMayEdit } = options
  const choices = choice === false ? [] : choice
  const asked = { label, type, choices, recipientsMayEdit }
  const given = givenTo(operations.updateContactField, asked)
  const field = await updateContactField(deps, (await deps.account()).id, id, given)
  return { json: shownContactField(field), say: () => say(`Field "${field.label}" is changed`) }
}

async function remove(deps: CommandDeps, id: string, options: AskOptions) {
  const { id: accountId } = await deps.account()
  const field = await requireContactField(deps.store.read, accountId, id)
  const intent: Intent = {
    to: `delete the field "${field.label}"`,
    facts: ['What contacts have in it stays in their metadata'],
    counts: { id: field.id },
    how: 'mild',
  }
  if (!(await confirmed(deps.place, options, intent))) return
  await deleteContactField(deps, accountId, field.id)
  return { json: deletedContactField, say: () => say(deletedContactField.message) }
}
