import { Argument, Option } from 'commander'
import { counted } from '../amounts/index.js'
import * as operations from '../contacts/contract.js'
import {
  type BulkOrder,
  bulkDeeds,
  type ContactState,
  contactStates,
  findBulk,
  makeBulkTasks,
  seeFitting,
  shownBulk,
} from '../contacts/index.js'
import { OperatorError } from '../errors/index.js'
import { refuseInexact } from '../json/index.js'
import { silentLog } from '../log/index.js'
import { answeringWith } from './answering.js'
import type { CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { defaultCountry, jsonObject, type Settled } from './contact-one.js'
import { accountOption } from './database.js'
import { givenTo } from './given.js'
import { say } from './output.js'
import { plansOf } from './plan.js'

/** Which contacts are meant, and what is done with them. */
interface Options extends AskOptions {
  begins?: string
  list?: string
  segment?: string
  state?: ContactState
  all?: true
  target?: string
  metadata?: Record<string, unknown>
  note?: string
  trigger?: true
  confirm?: boolean
}

/** Work with all contacts that fit, as `POST /v1/contacts/bulk`. `listOf`: the list of an id or a name. */
export const contactBulkRow = (
  listOf: (read: Settled['store']['read'], accountId: string, named: string) => Promise<string>,
): CommandRow => ({
  usage: 'bulk',
  does: operations.changeContacts,
  about: 'do something with all contacts that fit: a task, which the appliance does',
  values: [new Argument('<do>', 'what is done').choices(bulkDeeds)],
  options: [
    new Option('--begins <text>', 'whose address, name or phone number begins so'),
    new Option('--list <id>', 'who is on this list, by its id or name'),
    new Option('--segment <id>', 'who is in this segment, by its id'),
    new Option('--state <state>', 'mailable, or why no marketing mail goes to them').choices(
      contactStates,
    ),
    new Option('--all', 'all contacts of the account: wanted where there is no filter'),
    new Option('--target <id>', 'of add and remove: the list, by its id or name'),
    new Option('--metadata <json>', 'of set: fields of your own').argParser(jsonObject),
    new Option('--note <text>', 'of unsubscribe: who asked for it; of add: how they agreed'),
    new Option('--trigger', 'of add: automations start for them'),
    new Option('--confirm', 'of add: they are asked by mail first; else as the list says'),
    new Option('--no-confirm', 'of add: nobody is asked, they have agreed already'),
    ...askOptions(),
    accountOption(),
  ],
  help: `Examples:
  $ posthorn contact bulk set --segment 01a1fc92-9915-7533-8296-04ee3d91dd72 --metadata '{"town": "Lagos"}'
  $ posthorn contact bulk remove --state bounced --target Readers

The appliance begins within seconds, or when it is started next; the dashboard shows how far it is.`,
  run: answeringWith(
    (place) => ({ ...defaultCountry(place), plans: plansOf(place) }),
    (deps, what: BulkOrder['do'], options: Options) => bulk(deps, listOf, what, options),
  ),
})

async function bulk(
  deps: Settled & { plans: ReturnType<typeof plansOf> },
  listOf: Parameters<typeof contactBulkRow>[0],
  what: BulkOrder['do'],
  options: Options,
) {
  const { read } = deps.store
  const { id: accountId } = await deps.account()
  const named = async (one: string | undefined) => one && (await listOf(read, accountId, one))
  const { begins: q, segment, state, all, metadata, note, trigger, confirm } = options
  const [list, target] = [await named(options.list), await named(options.target)]
  const asked = { do: what, q, list, segment, state, all, target, metadata, note, trigger, confirm }
  const given = givenTo(operations.changeContacts, asked)
  refuseInexact('metadata', given.metadata)
  if ([q, list, segment, state].every((one) => one === undefined) && !all) {
    const advice = 'name a filter, such as --list, or --all for every contact of the account'
    throw new OperatorError('It has no filter', { advice })
  }
  const search = { q, listId: list, segmentId: segment, state }
  const seen = await seeFitting(read, accountId, search, deps.defaultCountry)
  const { count, isAll } = seen
  const people = `${isAll ? '' : 'more than '}${counted(count, 'contact')}`
  const intent: Intent = {
    to: `${what} ${people}`,
    facts: [`${people} fit now; who comes later is left alone`],
    counts: { contacts: count, exact: isAll },
    how: 'moderate',
  }
  if (!(await confirmed(deps.place, options, intent))) return
  const tasks = makeBulkTasks({ ...deps, log: silentLog, askFirst: byAppliance })
  // Closed before the work begins: the appliance does it, with all that follows from it.
  await tasks.close()
  const order: BulkOrder = {
    do: what,
    search,
    target,
    metadata,
    note,
    trigger,
    confirm,
    by: 'command',
  }
  const id = await tasks.begin(accountId, order, 'command', { seen })
  const json = shownBulk(await findBulk(read, accountId, id))
  return { json, say: () => say(`It has begun as task ${json.id}, with ${people}.`) }
}

/** The appliance asks contacts for confirmation; a command only says what is to be done. */
const byAppliance = () => Promise.reject(new Error('Commands ask nobody by mail'))
