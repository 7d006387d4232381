import { Argument, type Command, Option } from 'commander'
import { counted } from '../amounts/index.js'
import { checkOpen, readBilling } from '../billing/index.js'
import * as operations from '../contacts/contract.js'
import {
  changeList,
  createList,
  deletedList,
  deleteList,
  listAnswer,
  listLists,
  onlyOnList,
  shownList,
} from '../contacts/index.js'
import { answering, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { listOf } from './contact.js'
import { accountOption } from './database.js'
import { givenTo } from './given.js'
import { forceOption, plansUnlessForced, withForceHint } from './limits.js'
import { say, sayFields, sayTable, shownTime } from './output.js'

/** `posthorn list`: the lists of an account's contacts. */
export function listCommands(program: Command): void {
  const list = program
    .command('list')
    .alias('lists')
    .description('lists of contacts, whom campaigns and automations are for')
  addCommands(list, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    does: operations.listContactLists,
    about: 'show the lists of an account',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn list list',
    run: answering(list),
  },
  {
    usage: 'show <list>',
    does: operations.getContactList,
    about: 'show a list, by its id or name, and how it grows',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn list show Readers',
    run: answering(show),
  },
  {
    usage: 'create <name>',
    does: operations.createContactList,
    about: 'make a list',
    options: [
      new Option(
        '--double-opt-in',
        'whoever is added one by one, by the API or a page, is asked by mail first',
      ),
      accountOption(),
      forceOption(),
    ],
    help: 'Example:\n  $ posthorn list create Readers --double-opt-in',
    run: answering(create),
  },
  {
    usage: 'rename <list> <name>',
    does: operations.renameContactList,
    about: 'give a list another name',
    options: [accountOption()],
    help: "Example:\n  $ posthorn list rename Readers 'Readers of 2026'",
    run: answering(rename),
  },
  {
    usage: 'double-opt-in <list>',
    values: [new Argument('<state>', 'on or off').choices(['on', 'off'])],
    does: operations.renameContactList,
    about: 'say whether who is put on a list is asked by mail first',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn list double-opt-in Readers on',
    run: answering(setDoubleOptIn),
  },
  {
    usage: 'delete <list>',
    does: operations.deleteContactList,
    about: 'delete a list, with the contacts who are on no other, for good',
    options: [...askOptions(), accountOption()],
    help: 'Example:\n  $ posthorn list delete Readers\n\nSuppressions and the consent record stay.',
    run: answering(remove),
  },
]

async function list({ store: { read }, account }: CommandDeps) {
  const lists = await listLists(read, (await account()).id)
  return {
    json: { lists: lists.map(shownList) },
    say: () =>
      sayTable(
        ['ID', 'NAME', 'CONTACTS', 'MADE'],
        lists.map((one) => [one.id, one.name, String(one.contactCount), shownTime(one.createdAt)]),
        "No list yet; 'posthorn list create' makes one",
      ),
  }
}

async function show({ store: { read }, clock, account }: CommandDeps, named: string) {
  const { id: accountId } = await account()
  const listId = await listOf(read, accountId, named)
  const json = await listAnswer(read, accountId, listId, clock.now())
  const sum = (of: 'joined' | 'left') => json.days.reduce((total, day) => total + day[of], 0)
  return {
    json,
    say: () =>
      sayFields({
        Id: json.id,
        Name: json.name,
        Contacts: String(json.contactCount),
        'Double opt-in': json.doubleOptIn ? 'wanted' : 'not wanted',
        Made: shownTime(Date.parse(json.createdAt)),
        'Joined in 13 weeks': String(sum('joined')),
        'Left in 13 weeks': String(sum('left')),
      }),
  }
}

async function create(
  deps: CommandDeps,
  given: string,
  options: { force?: boolean; doubleOptIn?: true },
) {
  const { doubleOptIn = false } = options
  const settings = givenTo(operations.createContactList, { name: given, doubleOptIn })
  const { id: accountId } = await deps.account()
  const plans = plansUnlessForced(deps.place, options)
  const made = await withForceHint(async () => {
    if (plans) checkOpen(await readBilling(deps.store.read, plans, accountId))
    return await createList(deps, accountId, settings)
  })
  return {
    json: { id: made.id, name: made.name },
    say: () => say(`List "${made.name}" is made: ${made.id}`),
  }
}

async function rename(deps: CommandDeps, named: string, given: string) {
  const changes = givenTo(operations.renameContactList, { name: given })
  const { id: accountId } = await deps.account()
  const listId = await listOf(deps.store.read, accountId, named)
  const json = shownList(await changeList(deps, accountId, listId, changes))
  return { json, say: () => say(`The list is now "${json.name}".`) }
}

async function setDoubleOptIn(deps: CommandDeps, named: string, state: 'on' | 'off') {
  const doubleOptIn = state === 'on'
  const { id: accountId } = await deps.account()
  const listId = await listOf(deps.store.read, accountId, named)
  const json = shownList(await changeList(deps, accountId, listId, { doubleOptIn }))
  const then = doubleOptIn ? 'is asked by mail first' : 'is on it at once'
  return { json, say: () => say(`Who is put on "${json.name}" ${then}.`) }
}

/** Says first which contacts go with the list, as they are gone for good. */
async function remove(deps: CommandDeps, named: string, options: AskOptions) {
  const { read } = deps.store
  const { id: accountId } = await deps.account()
  const listId = await listOf(read, accountId, named)
  const { name, contactCount } = await listAnswer(read, accountId, listId, deps.clock.now())
  const only = await onlyOnList(read, listId)
  const share =
    only.of === undefined ? '' : ` of ${counted(only.of, 'contact')} that were looked at`
  const intent: Intent = {
    to: `delete the list "${name}" for good`,
    facts: [
      `${counted(contactCount, 'contact')} are on it`,
      `${counted(only.count, 'contact')}${share} are on no other list and are deleted for good`,
      'Suppressions and the consent record stay',
    ],
    counts: { id: listId, contacts: contactCount, onNoOther: only.count },
    how: { typed: name },
  }
  if (!(await confirmed(deps.place, options, intent))) return
  await deleteList(deps, accountId, listId)
  return { json: deletedList(listId), say: () => say(`List "${name}" is deleted.`) }
}
