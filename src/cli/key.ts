import { type Command, Option } from 'commander'
import * as operations from '../accounts/contract.js'
import {
  type ApiKey,
  createKey,
  deletedKey,
  deleteKey,
  findKey,
  hasOtherFullKey,
  type KeyScope,
  keyScopes,
  limitsIn,
  listKeys,
  shownKey,
  updateKey,
} from '../accounts/index.js'
import { shownCount } from '../amounts/index.js'
import { isoTime } from '../clock/index.js'
import { answering, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { accountOption } from './database.js'
import { givenTo } from './given.js'
import { forceOption, plansUnlessForced, withForceHint, withHints } from './limits.js'
import { asTyped, endTime, repeated } from './option-values.js'
import { remark, say, sayTable, shownTime, warn } from './output.js'

/** What any of the sub-commands may be given. */
interface KeyOptions {
  account?: string
  force?: boolean
  scope: KeyScope
  domain?: string[]
  network?: string[]
  expires?: (now: number) => number
  perHour?: string
  perMinute?: string
}

/** Options of `change`: `any` and `never` remove a limit. */
interface ChangeOptions extends Omit<KeyOptions, 'scope'> {
  name?: string
  scope?: KeyScope
}

/** `posthorn key`: the API keys of one account. */
export function keyCommands(program: Command): void {
  const key = program.command('key').description('API keys: how an application shows who it is')
  addCommands(key, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'create <name>',
    does: operations.createKey,
    about: 'make an API key and show it, this once',
    options: [
      accountOption(),
      new Option('--scope <scope>', 'all; only sending; only reading; only to the test inbox')
        .choices(keyScopes)
        .default('full'),
      new Option(
        '--domain <name>',
        'of a sending or test key: a domain it may send from (repeatable)',
      ).argParser(repeated(asTyped)),
      new Option('--network <cidr>', 'where its requests come from (repeatable)').argParser(
        repeated(asTyped),
      ),
      // From a minute, in which a key can be tried out, to ten years.
      new Option(
        '--expires <when>',
        'a time (2027-01-31, or with an hour), or in how long (90d)',
      ).argParser(endTime('1m', '3650d')),
      ...rateOptions(),
      forceOption(),
    ],
    help: `Examples:
  $ posthorn key create 'Web shop'
  $ posthorn key create Printer --scope sending --domain example.com --network 10.0.0.0/24 --per-hour 200
  $ posthorn key create CI --scope test
  $ KEY=$(posthorn key create ci --expires 90d --json | jq -r .key)`,
    run: answering(create),
  },
  {
    usage: 'list',
    does: operations.listKeys,
    about: 'show the API keys of an account',
    options: [accountOption()],
    help: "Example:\n  $ posthorn key list --account 'City library'",
    run: answering(list),
  },
  {
    usage: 'change <id>',
    does: operations.updateKey,
    about: 'rename an API key or change its limits, from its next request on',
    options: [
      accountOption(),
      new Option('--name <name>', 'another name').argParser(asTyped),
      new Option('--scope <scope>', 'all; only sending; only reading').choices(keyScopes),
      new Option(
        '--domain <name>',
        'of a sending key: a domain it may send from (repeatable); any: all',
      ).argParser(repeated(asTyped)),
      new Option(
        '--network <cidr>',
        'where its requests come from (repeatable); any: anywhere',
      ).argParser(repeated(asTyped)),
      new Option(
        '--expires <when>',
        'a time (2027-01-31, or with an hour), or in how long (90d)',
      ).argParser(endTime('1m', '3650d')),
      ...rateOptions(),
    ],
    help: `What is not given stays as it is.

Examples:
  $ posthorn key change 019a9c1e-5b7c-7d3a-9d51-2f6a4f0c8e11 --per-hour 500 --per-minute 60
  $ posthorn key change 019a9c1e-5b7c-7d3a-9d51-2f6a4f0c8e11 --network any --per-hour any`,
    run: answering(change),
  },
  {
    usage: 'delete <id>',
    does: operations.deleteKey,
    about: 'delete an API key; requests with it fail at once',
    options: [...askOptions(), accountOption()],
    help: 'Example:\n  $ posthorn key delete 019a9c1e-5b7c-7d3a-9d51-2f6a4f0c8e11',
    run: answering(remove),
  },
]

/** How many mails a key may hand in; a function, as Commander keeps values in the option itself. */
function rateOptions(): Option[] {
  return [
    new Option('--per-hour <mails>', 'how many mails it may hand in within an hour; any: no limit'),
    new Option('--per-minute <mails>', 'how many within a minute; any: no limit'),
  ]
}

/** Passed on as in a request of the API, which refuses a wrong number by the field's name. */
const mailsOf = (typed: string | undefined) =>
  typed === undefined || typed === 'any' || !/^\d+$/.test(typed) ? typed : Number(typed)

const ratesIn = ({ perHour, perMinute }: Pick<KeyOptions, 'perHour' | 'perMinute'>) => ({
  perHour: mailsOf(perHour),
  perMinute: mailsOf(perMinute),
})

/**
 * The key is shown once and stored as a hash: whoever reads the database or a backup cannot send
 * with it.
 */
async function create(deps: CommandDeps, name: string, options: KeyOptions) {
  const { id: accountId } = await deps.account()
  const plans = plansUnlessForced(deps.place, options)
  const { scope, domain: domains, network: networks, expires } = options
  const expiresAt = expires && isoTime(expires(deps.clock.now()))
  const given = givenTo(operations.createKey, {
    name,
    scope,
    domains,
    networks,
    expiresAt,
    ...ratesIn(options),
  })
  const limits = limitsIn(given)
  const made = await withForceHint(() => createKey(deps, accountId, given.name, { plans, limits }))
  return {
    json: { ...shownKey(made), key: made.key },
    say() {
      say(made.key)
      remark('Keep it now: it is not stored and cannot be shown again.')
    },
  }
}

/** Shows what tells the keys apart: name, last four characters, last use. */
async function list({ store: { read }, account }: CommandDeps) {
  const keys = await listKeys(read, (await account()).id)
  return {
    json: { keys: keys.map(shownKey) },
    say: () =>
      sayTable(
        ['ID', 'NAME', 'ENDS IN', 'MAY', 'FROM', 'MAILS', 'EXPIRES', 'CREATED', 'LAST USED'],
        keys.map((one) => [
          one.id,
          one.name,
          `…${one.last4}`,
          [one.scope, ...(one.domains ?? [])].join(' '),
          one.networks?.join(' ') ?? 'anywhere',
          mailsWords(one),
          one.expiresAt === null ? 'never' : shownTime(one.expiresAt),
          shownTime(one.createdAt),
          one.lastUsedAt === null ? 'never' : shownTime(one.lastUsedAt),
        ]),
        "No API key yet; 'posthorn key create NAME' makes one",
      ),
  }
}

/** How many mails it may hand in, in words. */
function mailsWords({ perHour, perMinute }: ApiKey): string {
  const limits = [
    ...(perHour === null ? [] : [`${shownCount(perHour)}/h`]),
    ...(perMinute === null ? [] : [`${shownCount(perMinute)}/min`]),
  ]
  return limits.join(' ') || 'any number'
}

/** Changes the given limits; `any` removes a list. */
async function change(deps: CommandDeps, id: string, options: ChangeOptions) {
  const { id: accountId } = await deps.account()
  const { name, scope, domain, network, expires } = options
  const listOrAny = (given: string[] | undefined) =>
    given?.length === 1 && given[0] === 'any' ? 'any' : given
  const given = givenTo(operations.updateKey, {
    name,
    scope,
    domains: listOrAny(domain),
    networks: listOrAny(network),
    expiresAt: expires && isoTime(expires(deps.clock.now())),
    ...ratesIn(options),
  })
  const changes = { ...limitsIn(given), ...(given.name !== undefined && { name: given.name }) }
  return await withHints({ not_found: "'posthorn key list' shows them" }, async () => {
    const key = await updateKey(deps, accountId, id, changes)
    return {
      json: shownKey(key),
      say: () => say(`Key "${key.name}" (…${key.last4}) is changed: ${mailsWords(key)} of mails`),
    }
  })
}

/**
 * A running appliance remembers keys and notices the change within a second (`accounts/authenticate.ts`).
 */
async function remove(deps: CommandDeps, id: string, options: AskOptions) {
  const { read } = deps.store
  const account = await deps.account()
  return await withHints({ not_found: "'posthorn key list' shows them" }, async () => {
    const key = await findKey(read, account.id, id)
    const isLast = async () =>
      key.scope === 'full' && !(await hasOtherFullKey(read, account.id, key.id, deps.clock.now()))
    const intent = deletionOf(key, account.name, await isLast())
    if (!(await confirmed(deps.place, options, intent))) return
    await deleteKey(deps, account.id, key.id)
    // Looked up again, as the question may have waited for long.
    if (await isLast()) {
      warn("it was the last key with all rights; 'posthorn key create' makes another")
    }
    return { json: deletedKey(id), say: () => say(`Key ${id} is deleted`) }
  })
}

/**
 * Deleting the last full key locks the account out of its own API. An operator may do it, as they
 * can make another, and is told so.
 */
const deletionOf = (key: ApiKey, account: string, isLast: boolean): Intent => ({
  to: `delete the API key "${key.name}" (…${key.last4}) of "${account}"`,
  facts: [
    'Requests with it fail from then on, and it cannot be restored',
    key.lastUsedAt === null ? 'It was never used' : `It was last used ${shownTime(key.lastUsedAt)}`,
    ...(isLast ? ['It is the last key with all rights'] : []),
  ],
  counts: { ...shownKey(key), isLast },
  how: 'moderate',
})
