import { type Command, Option } from 'commander'
import { type ApiKey, listKeys } from '../accounts/index.js'
import { counted } from '../amounts/index.js'
import { applianceKeyFile } from '../app/files.js'
import { openResolver } from '../app/resolver.js'
import { domainUses } from '../automations/index.js'
import { openApplianceKey } from '../config/index.js'
import * as operations from '../domains/contract.js'
import {
  addDomain,
  type Domain,
  deleteDomain,
  deletedDomain,
  domainRecords,
  findDomain,
  listDomains,
  oldRecords,
  recordSettingsOf,
  refuseDomainInUse,
  rotateDomain,
  shownCheck,
  shownDomain,
  toPublish,
  verifyDomain,
} from '../domains/index.js'
import type { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import { domainSwitches } from '../tracking/index.js'
import { answering, answeringWith, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { accountOption } from './database.js'
import { sayChecks, sayOldRecords, sayRecords, unknownDomain } from './domain-records.js'
import { forceOption, plansUnlessForced, withForceHint, withHints } from './limits.js'
import { say, sayFields, sayNext, sayTable, shownTime, warn } from './output.js'
import { type CommandPlace, settingsOf } from './place.js'
import { domainTrackingRows } from './tracking.js'

/** What any of the sub-commands may be given. */
interface DomainOptions {
  trust?: boolean
  force?: boolean
}

/** The settings, whose values the records of a domain name. */
const settled = (place: CommandPlace) => ({ settings: settingsOf(place) })
type Settled = CommandDeps & ReturnType<typeof settled>

const trustText = 'take it as verified because you say so (sandbox, split-horizon DNS)'

/** `posthorn domain`: the sending domains of one account. */
export function domainCommands(program: Command): void {
  const domain = program
    .command('domain')
    .description('sending domains, their DKIM keys and DNS records')
  addCommands(domain, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'add <name>',
    does: operations.addDomain,
    about: 'add a domain, make its DKIM keys, show the DNS records to publish',
    options: [accountOption(), new Option('--trust', trustText), forceOption()],
    help: 'Example:\n  $ posthorn domain add example.com',
    run: answeringWith(settled, add),
  },
  {
    usage: 'list',
    does: operations.listDomains,
    about: 'show the domains of an account',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn domain list --json',
    run: answering(list),
  },
  {
    usage: 'show <name>',
    does: operations.getDomain,
    about: 'show a domain and its DNS records',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn domain show example.com --json | jq -r .zone',
    run: answeringWith(settled, show),
  },
  {
    usage: 'verify <name>',
    does: operations.verifyDomain,
    about: 'look the DNS records up; status 1 while the required one is not there',
    options: [accountOption(), new Option('--trust', trustText)],
    help: 'Example:\n  $ posthorn domain verify example.com',
    run: answeringWith(settled, verify),
  },
  {
    usage: 'rotate <name>',
    does: operations.rotateDomain,
    about: 'replace the DKIM keys of a domain; --now: the key in use has leaked',
    options: [
      ...askOptions(),
      accountOption(),
      new Option('--now', 'the key in use signs no more at once, and is forgotten'),
    ],
    help: `Examples:
  $ posthorn domain rotate example.com
  $ posthorn domain rotate example.com --now

New keys are made beside those in use, and their records shown. Once they are seen in the DNS, which is looked for
every two minutes, mail is signed with them and the private keys before them are forgotten. Nothing waits meanwhile.`,
    run: answeringWith(settled, rotate),
  },
  {
    usage: 'delete <name>',
    does: operations.deleteDomain,
    about: 'delete a domain and its keys; refused while mail or a campaign from it is waiting',
    options: [...askOptions(), accountOption()],
    help: 'Example:\n  $ posthorn domain delete example.com',
    run: answering(remove),
  },
  ...domainTrackingRows,
]

/**
 * The keys are made here and sealed with the appliance key, so adding a domain needs that key and
 * not only the database.
 */
async function add(deps: Settled, name: string, options: DomainOptions) {
  const { place, settings } = deps
  const { id } = await deps.account()
  const key = openApplianceKey(applianceKeyFile(place.dataDir))
  const given = { trust: options.trust === true, plans: plansUnlessForced(place, options) }
  const added = await withForceHint(() => addDomain({ ...deps, key }, id, name, given))
  const records = await recordSettingsOf(deps.store.read, settings)
  return {
    json: { ...shownDomain(added), ...toPublish(added, records, deps.clock.now()) },
    say() {
      say(`${added.name} is added${added.trusted ? ' and trusted' : ''}.`)
      sayRecords(domainRecords(added, records))
      if (added.status === 'verified') return
      if (settings.outbound.heloName === 'localhost') {
        warn(
          'outbound.helo_name is still "localhost", and two of these records name it: set it, then see posthorn domain show',
        )
      }
      sayNext(`\nWhen they are published: posthorn domain verify ${added.name}`)
    },
  }
}

/** The account's domains; without --account those of the only account. */
async function list({ store: { read }, account }: CommandDeps) {
  const domains = await listDomains(read, (await account()).id)
  const shown = await Promise.all(domains.map((domain) => shownIn(read, domain)))
  return {
    json: { domains: shown },
    say: () =>
      sayTable(
        ['NAME', 'STATUS', 'CREATED', 'CHECKED'],
        domains.map((row) => [
          row.name,
          statusOf(row),
          shownTime(row.createdAt),
          row.checkedAt === null ? 'never' : shownTime(row.checkedAt),
        ]),
        "No domain yet; 'posthorn domain add NAME' adds one",
      ),
  }
}

/** A domain as it stood at the last check; `verify` checks again. */
async function show({ store: { read }, clock, account, settings }: Settled, name: string) {
  const { id } = await account()
  const found = await withHints(unknownDomain, () => findDomain(read, id, name))
  const records = await recordSettingsOf(read, settings)
  return {
    json: { ...(await shownIn(read, found)), ...toPublish(found, records, clock.now()) },
    say() {
      sayFields({
        Name: found.name,
        Status: statusOf(found),
        'Signs with': signsWith(found),
        ...(found.next.length === 0 ? {} : { 'To come': rotationOf(found) }),
        'Return path': found.returnPath ? 'its own' : "the appliance's",
        ...(found.trackingHost === null ? {} : { 'Links lead through': linkHost(found) }),
        Created: shownTime(found.createdAt),
        Checked: shownTime(found.checkedAt),
      })
      sayRecords(domainRecords(found, records))
      sayOldRecords(oldRecords(found, clock.now()))
    },
  }
}

/**
 * Checks now and stores the result, as the page and the API do: sending goes by what the command
 * shows.
 */
async function verify(deps: Settled, name: string, options: DomainOptions) {
  const { id } = await deps.account()
  const resolver = openResolver(deps.settings.dns, deps.clock)
  const settings = await recordSettingsOf(deps.store.read, deps.settings)
  const looking = { ...deps, resolver, settings }
  const trust = options.trust === true
  const { domain: found, records } = await withHints(unknownDomain, () =>
    verifyDomain(looking, id, name, { trust }),
  )
  const good = found.trusted || records.every(({ required, state }) => !required || state === 'ok')
  if (!good) process.exitCode = 1
  return {
    json: { ...(await shownIn(deps.store.read, found)), records: records.map(shownCheck) },
    say: () => sayChecks(found, records),
  }
}

/** Makes new keys. The keys in use sign until the new records are seen, or stop at once if they have leaked. */
async function rotate(deps: Settled, name: string, options: AskOptions & { now?: true }) {
  const { place, settings, clock } = deps
  const { read } = deps.store
  const { id } = await deps.account()
  const atOnce = options.now === true
  const found = await withHints(unknownDomain, () => findDomain(read, id, name))
  const intent: Intent = {
    to: `replace the DKIM keys of ${found.name} at once`,
    facts: [
      'The keys in use sign no more and are forgotten',
      'Before the new records are seen its mail leaves without a signature of its own, and many receivers refuse or junk that',
    ],
    counts: { name: found.name },
    how: 'moderate',
  }
  if (atOnce && !(await confirmed(place, options, intent))) return undefined
  const key = openApplianceKey(applianceKeyFile(place.dataDir))
  const rotated = await rotateDomain({ ...deps, key }, id, name, { atOnce })
  const records = await recordSettingsOf(read, settings)
  return {
    json: { ...(await shownIn(read, rotated)), ...toPublish(rotated, records, clock.now()) },
    say() {
      say(`New DKIM keys of ${rotated.name} are made.`)
      sayRecords(domainRecords(rotated, records))
      sayOldRecords(oldRecords(rotated, clock.now()))
      sayNext(
        rotated.trusted
          ? `\nWhen they are published: posthorn domain verify ${rotated.name}`
          : '\nOnce they are published, mail is signed with the new keys within minutes.',
      )
    },
  }
}

/** Which keys are to sign, and what for that has to happen. */
const rotationOf = ({ next, name, trusted }: Domain) =>
  `${next.map(({ selector }) => selector).join(', ')}, ${trusted ? `with 'posthorn domain verify ${name}'` : 'once their records are seen'}`

/**
 * A domain cannot go while mail or a campaign waits to be sent from it: those mails could never be
 * signed.
 */
async function remove(deps: CommandDeps, name: string, options: AskOptions) {
  const { read } = deps.store
  const { id: accountId } = await deps.account()
  return await withHints({ ...unknownDomain, conflict: whatWaits }, async () => {
    const domain = await findDomain(read, accountId, name)
    await refuseDomainInUse(read, accountId, domain)
    const uses = await domainUses(read, accountId, domain.name)
    const keys = await listKeys(read, accountId)
    if (!(await confirmed(deps.place, options, deletionOf(domain, uses, keys)))) return
    await deleteDomain(deps, accountId, name)
    return {
      json: deletedDomain(domain.id, uses),
      say() {
        say(`${name} is deleted. Its DNS records can go once no mail from it is on its way.`)
        for (const { id, name: automation } of uses) {
          warn(
            `automation "${automation}" (${id}) sends from it: its runs wait until the domain is added and verified again`,
          )
        }
      },
    }
  })
}

/**
 * Adding the domain again makes new keys, because a deleted private key must not come back; so the
 * DNS has to change too.
 */
function deletionOf(
  { name, keys }: Domain,
  automations: Awaited<ReturnType<typeof domainUses>>,
  apiKeys: readonly ApiKey[],
): Intent {
  const limited = apiKeys.filter(({ domains }) => domains?.every((one) => one === name)).length
  return {
    to: `delete the domain ${name} and its ${counted(keys.length, 'DKIM key')}`,
    facts: [
      'Nothing can be sent from it; to add it again means new keys, and new records in the DNS',
      ...(automations.length > 0
        ? [`Automations that send from it, whose runs then wait: ${automations.length}`]
        : []),
      ...(limited > 0 ? [`API keys that may send from no other domain: ${limited}`] : []),
    ],
    counts: { name, dkimKeys: keys.length, automations, limitedKeys: limited },
    how: { typed: name },
  }
}

/** How to end what prevents a deletion. */
const whatWaits = ({ fields: { broadcastId } }: ApiError) =>
  broadcastId === undefined
    ? "'posthorn queue list' shows what waits"
    : `'posthorn broadcast cancel ${broadcastId}' ends that`

/** `trusted` is told beside the status, as a trusted domain was not verified. */
const statusOf = ({ status, trusted }: Domain) => (trusted ? `${status} (trusted)` : status)

/** Which host tracked links have now. */
const linkHost = ({ trackingHost, trackingHostReady }: Domain) =>
  trackingHostReady ? `${trackingHost}` : `the appliance, until the DNS leads ${trackingHost} here`

/**
 * A key signs only once its record was seen: some receivers count a signature that nobody can check
 * as a broken one.
 */
const signsWith = ({ keys }: Domain) =>
  keys
    .filter(({ verified }) => verified)
    .map(({ algorithm }) => algorithm)
    .join(', ') || 'nothing yet'

/** A domain for scripts: as the API shows it. */
const shownIn = async (read: Read, domain: Domain) =>
  shownDomain(domain, await domainSwitches(read, domain.id))
