import { type Command, Option } from 'commander'
import { counted } from '../amounts/index.js'
import {
  addPerson,
  disablePerson,
  enablePerson,
  invite,
  type ListedPerson,
  listPeople,
  type MemberRole,
  makeSetupLink,
  memberRoles,
  membershipsOf,
  personNamed,
  removeMember,
  resetPerson,
  setOperator,
  setRole,
  unbind,
} from '../people/index.js'
import { addCommands, type CommandRow } from './command-row.js'
import { accountOption, type CliDeps, chosenAccount, withStore } from './database.js'
import { linkAt, tunnelTo } from './first-link.js'
import { withHints } from './limits.js'
import { jsonTime, remark, say, sayJson, sayTable, shownTime } from './output.js'
import { type CommandPlace, placeOf, settingsOf } from './place.js'

/** Made anew for each command, as Commander keeps the value in the option. */
const roleOption = () =>
  new Option('--role <role>', 'what they may do in the account').choices(memberRoles)

/**
 * `posthorn user`: who may log in to the dashboard. It works even when nobody can log in any more.
 */
export function userCommands(program: Command): void {
  const user = program.command('user').description('people: who logs in at the dashboard')
  addCommands(user, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    about: 'show who can log in',
    options: [new Option('--address <begin>', 'only those whose address begins so')],
    help: 'Example:\n  $ posthorn user list --address ada',
    run: runList,
  },
  {
    usage: 'add <email>',
    about: 'let somebody log in; prints a link to choose a password, good for 15 minutes',
    options: [
      new Option('--name <name>', 'their name (default: the address)'),
      new Option('--operator', 'they run this appliance'),
      new Option('--account <id>', 'id or name of an account that they are in'),
      roleOption().default('owner'),
    ],
    help: `Examples:
  $ posthorn user add ada@example.com --operator
  $ posthorn user add eve@example.com --account 'City library' --role member`,
    run: runAdd,
  },
  {
    usage: 'invite <email>',
    about: 'print a link by which somebody joins an account, good for 7 days',
    options: [
      accountOption(),
      roleOption().default('member'),
      new Option('--operator', 'not into an account: they run this appliance'),
    ],
    help: 'Example:\n  $ posthorn user invite eve@example.com --role viewer',
    run: runInvite,
  },
  {
    usage: 'first',
    about: 'print a link that makes the first operator, good for a day',
    help: 'Example:\n  $ posthorn user first',
    run: runFirst,
  },
  {
    usage: 'reset <email>',
    about: 'print a link for a new password, good for 15 minutes',
    options: [
      new Option(
        '--mfa',
        'take app, passkeys and the name at a provider away, and end all sessions',
      ),
    ],
    help: 'Example:\n  $ posthorn user reset ada@example.com --mfa',
    run: runReset,
  },
  {
    usage: 'unbind <email>',
    about: 'forget by which name the provider of dashboard.oidc knows a person; their sessions end',
    help: 'Example:\n  $ posthorn user unbind ada@example.com',
    run: runUnbind,
  },
  {
    usage: 'role <email> <role>',
    about: 'set the role of a person in an account: owner, member, viewer, or none',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn user role eve@example.com owner',
    run: runRole,
  },
  {
    usage: 'disable <email>',
    about: 'let a person log in no more; their sessions end at once',
    help: 'Example:\n  $ posthorn user disable eve@example.com',
    run: runDisable,
  },
  {
    usage: 'enable <email>',
    about: 'let a disabled person log in again',
    help: 'Example:\n  $ posthorn user enable eve@example.com',
    run: runEnable,
  },
  {
    usage: 'operator <email>',
    about: 'make somebody an operator of this appliance; they have to log in again',
    options: [new Option('--remove', 'take the rights of an operator from them')],
    help: 'Example:\n  $ posthorn user operator eve@example.com --remove',
    run: runOperator,
  },
]

/** All people, with their accounts: an appliance has hundreds of them at most. */
async function runList({ address }: { address?: string }, command: Command): Promise<void> {
  const place = placeOf(command)
  const people = await withStore(place, async ({ store: { read } }) => {
    const listed: (ListedPerson & { in: string[] })[] = []
    for (const person of await listPeople(read, { startsWith: address ?? '', limit: 10_000 })) {
      const memberships = await membershipsOf(read, person.id)
      listed.push({
        ...person,
        in: memberships.map(({ accountName, role }) => `${accountName} (${role})`),
      })
    }
    return listed
  })
  if (place.json) return sayJson(people.map(shown))
  sayTable(
    ['ADDRESS', 'NAME', 'IS', 'ACCOUNTS', 'SECOND FACTOR', 'LAST LOG-IN'],
    people.map((one) => [
      one.email,
      one.name,
      wordsOf(one),
      one.in.join(', '),
      factorsOf(one),
      shownTime(one.lastLoginAt),
    ]),
    "Nobody can log in yet; 'posthorn user first' makes a link for the first operator",
  )
}

/** Words for what somebody is: operator, disabled and so on. */
const wordsOf = ({ isOperator, isDisabled, isProved, isBound }: ListedPerson) =>
  [
    isOperator ? 'operator' : '',
    isDisabled ? 'disabled' : '',
    isProved ? '' : 'address not proved',
    isBound ? 'known to the provider' : '',
  ]
    .filter((word) => word !== '')
    .join(', ')

/** The factors that are asked for beside the password. */
const factorsOf = ({ hasTotp, passkeys }: ListedPerson) =>
  [hasTotp ? 'app' : '', passkeys > 0 ? counted(passkeys, 'passkey') : '']
    .filter((word) => word !== '')
    .join(', ') || 'none'

/** A person for scripts. */
const shown = (person: ListedPerson) => ({
  ...person,
  createdAt: jsonTime(person.createdAt),
  lastLoginAt: jsonTime(person.lastLoginAt),
})

/** The new user chooses the password: no command ever has one. */
async function runAdd(email: string, options: AddOptions, command: Command): Promise<void> {
  const place = placeOf(command)
  const { name = email, operator, account, role } = options
  const { path } = await withStore(place, async (deps) => {
    const membership =
      account === undefined
        ? undefined
        : { accountId: (await chosenAccount(deps.store.read, account)).id, role }
    return await addPerson(deps, { email, name, isOperator: operator === true, membership })
  })
  sayLink(place, path, 'It is good once, for 15 minutes: they choose a password there.')
}

/** Options of `user add`. */
interface AddOptions {
  name?: string
  operator?: true
  account?: string
  role: MemberRole
}

/** The link proves nothing about the address: it is printed here, and not mailed. */
async function runInvite(email: string, options: InviteOptions, command: Command): Promise<void> {
  const place = placeOf(command)
  const { path } = await withStore(place, async (deps) => {
    const inviter = { id: null, name: 'The operator', isOperator: true }
    if (options.operator) {
      return await invite(deps, { accountId: null, email, role: 'operator', inviter })
    }
    const { id: accountId } = await chosenAccount(deps.store.read, options.account)
    return await invite(deps, { accountId, email, role: options.role, inviter })
  })
  sayLink(place, path, 'It is good once, for 7 days; nothing was mailed.')
}

/** Options of `user invite`. */
interface InviteOptions {
  account?: string
  role: MemberRole
  operator?: true
}

/** For an appliance that nobody can log in to yet. Each link ends the previous one. */
async function runFirst(_options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const path = await withStore(place, ({ store, clock }) =>
    store.write((tx) => makeSetupLink(tx, clock.now())),
  )
  sayLink(
    place,
    path,
    'It is good once, for a day; a link that was made before does not work any more.',
  )
}

/** For somebody who is locked out. The authenticator and passkeys stay unless --mfa is given. */
async function runReset(email: string, { mfa }: { mfa?: true }, command: Command): Promise<void> {
  const place = placeOf(command)
  const { path } = await withPerson(place, email, (deps, id) =>
    resetPerson(deps, id, { withFactors: mfa === true }),
  )
  sayLink(place, path, 'It is good once, for 15 minutes.')
}

/** For somebody whose name at the provider has changed, or now belongs to somebody else. */
async function runUnbind(email: string, _options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const unbound = await withPerson(place, email, (deps, id) =>
    deps.store.write(async (tx) => await unbind(tx, id)),
  )
  if (place.json) return sayJson({ email, unbound })
  say(
    unbound === 0
      ? `No provider knew ${email}`
      : `The next log-in of ${email} by the provider is a first one; their sessions have ended`,
  )
}

/** Sets a role in one account; 'none' removes the person from it. */
async function runRole(
  email: string,
  role: string,
  options: { account?: string },
  command: Command,
): Promise<void> {
  const wanted = [...memberRoles, 'none' as const].find((one) => one === role)
  if (wanted === undefined) {
    command.error(`error: a role is one of ${memberRoles.join(', ')}, none`)
  }
  const place = placeOf(command)
  const account = await withPerson(place, email, async (deps, id) => {
    const chosen = await chosenAccount(deps.store.read, options.account)
    await deps.store.write((tx) =>
      wanted === 'none'
        ? removeMember(tx, chosen.id, id)
        : setRole(tx, chosen.id, id, wanted, deps.clock.now()),
    )
    return chosen.name
  })
  if (place.json) return sayJson({ email, role: wanted, account })
  say(`${email} is ${wanted === 'none' ? 'no longer' : `now ${wanted}`} in "${account}"`)
}

/** Deletes nothing: the audit log still names the person. */
async function runDisable(email: string, _options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  await withPerson(place, email, disablePerson)
  if (place.json) return sayJson({ email, disabled: true })
  say(`${email} cannot log in any more; 'posthorn user enable' lets them in again`)
}

/** The person's password and factors stay as they were. */
async function runEnable(email: string, _options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  await withPerson(place, email, enablePerson)
  if (place.json) return sayJson({ email, disabled: false })
  say(`${email} can log in again`)
}

/** The person has to log in again, as the operator's pages require more than an account's. */
async function runOperator(
  email: string,
  { remove }: { remove?: true },
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const isOperator = remove !== true
  await withPerson(place, email, (deps, id) => setOperator(deps, id, isOperator))
  if (place.json) return sayJson({ email, operator: isOperator })
  say(`${email} is ${isOperator ? 'now' : 'no longer'} an operator`)
}

/** Runs `work` for the person of an address. */
const withPerson = <T>(
  place: CommandPlace,
  email: string,
  work: (deps: CliDeps, id: string) => Promise<T>,
): Promise<T> =>
  withStore(place, (deps) =>
    withHints({ not_found: "'posthorn user list' shows them" }, async () =>
      work(deps, (await personNamed(deps.store.read, email)).id),
    ),
  )

/** Writes only the link to stdout, so that it can be piped on. */
function sayLink(place: CommandPlace, path: string, what: string): void {
  const url = linkAt(place, path)
  if (place.json) sayJson({ url })
  else {
    say(url)
    remark(what)
    const tunnel = tunnelTo(url, settingsOf(place).outbound.heloName)
    if (tunnel !== undefined) remark(`From another machine, after this command there: ${tunnel}`)
  }
}
