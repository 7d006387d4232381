import { type Command, Option } from 'commander'
import {
  createOperatorKey,
  deleteOperatorKey,
  findOperatorKey,
  listOperatorKeys,
  type OperatorKey,
} from '../accounts/index.js'
import { answering, answeringWith, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed } from './confirm.js'
import { withHints } from './limits.js'
import { asTyped, endTime, repeated } from './option-values.js'
import { jsonTime, remark, say, sayTable, shownTime, warn } from './output.js'
import { settingsOf } from './place.js'

/** `posthorn operator-key`: keys of the operator's API. Only this command makes them. */
export function operatorKeyCommands(program: Command): void {
  const key = program
    .command('operator-key')
    .description("keys of the operator's API: how the operator's own programs show who they are")
  addCommands(key, rows)
}

interface CreateOptions {
  network?: string[]
  expires?: (now: number) => number
}

const rows: readonly CommandRow[] = [
  {
    usage: 'create <name>',
    about: "make a key of the operator's API and show it, this once",
    options: [
      new Option('--network <cidr>', 'where its requests come from (repeatable)').argParser(
        repeated(asTyped),
      ),
      new Option(
        '--expires <when>',
        'a time (2027-01-31, or with an hour), or in how long (90d)',
      ).argParser(endTime('1m', '3650d')),
    ],
    help: `It opens /v1/operator/ on the private listener, where operator_api of [http.private] is on: accounts, people,
plans, pauses, what is held, the queue. Whoever has it can do nearly all that you can: give it a network and an end.

Example:
  $ posthorn operator-key create Billing --network 10.0.0.7 --expires 365d`,
    run: answeringWith((place) => ({ isOn: settingsOf(place).http.private.operatorApi }), create),
  },
  {
    usage: 'list',
    about: "show the keys of the operator's API",
    help: 'Example:\n  $ posthorn operator-key list',
    run: answering(list),
  },
  {
    usage: 'delete <id>',
    about: "delete a key of the operator's API; requests with it fail at once",
    options: askOptions(),
    help: 'Example:\n  $ posthorn operator-key delete 019a9c1e-5b7c-7d3a-9d51-2f6a4f0c8e11',
    run: answering(remove),
  },
]

const forMachines = (key: OperatorKey) => ({
  id: key.id,
  name: key.name,
  last4: key.last4,
  networks: key.networks,
  expiresAt: jsonTime(key.expiresAt),
  createdAt: jsonTime(key.createdAt),
  lastUsedAt: jsonTime(key.lastUsedAt),
})

/** The key is shown once and stored as a hash, as accounts' keys are. */
async function create(
  { isOn, ...deps }: CommandDeps & { isOn: boolean },
  name: string,
  { network, expires }: CreateOptions,
) {
  const expiresAt = expires?.(deps.clock.now()) ?? null
  const made = await createOperatorKey(deps, { name, networks: network ?? null, expiresAt })
  return {
    json: { ...forMachines(made), key: made.key },
    say() {
      say(made.key)
      remark('Keep it now: it is not stored and cannot be shown again.')
      if (!isOn) {
        warn(
          "the operator's API is off: set operator_api = true under [http.private] and restart the appliance",
        )
      }
    },
  }
}

async function list({ store: { read } }: CommandDeps) {
  const keys = await listOperatorKeys(read)
  return {
    json: { keys: keys.map(forMachines) },
    say: () =>
      sayTable(
        ['ID', 'NAME', 'ENDS IN', 'FROM', 'EXPIRES', 'CREATED', 'LAST USED'],
        keys.map((one) => [
          one.id,
          one.name,
          `…${one.last4}`,
          one.networks?.join(' ') ?? 'anywhere',
          one.expiresAt === null ? 'never' : shownTime(one.expiresAt),
          shownTime(one.createdAt),
          one.lastUsedAt === null ? 'never' : shownTime(one.lastUsedAt),
        ]),
        "No key of the operator's API; 'posthorn operator-key create NAME' makes one",
      ),
  }
}

/** A running appliance notices the removal within a second. */
async function remove(deps: CommandDeps, id: string, options: AskOptions) {
  const hints = { not_found: "'posthorn operator-key list' shows them" }
  return await withHints(hints, async () => {
    const key = await findOperatorKey(deps.store.read, id)
    const intent = {
      to: `delete the operator's key "${key.name}" (…${key.last4})`,
      facts: ['Requests with it fail from then on, and it cannot be restored'],
      counts: forMachines(key),
      how: 'moderate',
    } as const
    if (!(await confirmed(deps.place, options, intent))) return undefined
    await deleteOperatorKey(deps, key.id)
    return {
      json: { id: key.id, deleted: true },
      say: () => say(`The operator's key "${key.name}" is deleted`),
    }
  })
}
