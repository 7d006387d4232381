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
  recordSettings,
  refuseDomainInUse,
  shownCheck,
  shownDomain,
  toPublish,
  verifyDomain,
} from '../domains/index.js'
import type { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import { domainSwitches } from '../tracking/index.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { accountOption, chosenAccount, withStore } from './database.js'
import { sayChecks, sayRecords, unknownDomain } from './domain-records.js'
import { forceOption, plansUnlessForced, withForceHint, withHints } from './limits.js'
import { say, sayFields, sayJson, sayNext, sayTable, shownTime, warn } from './output.js'
import { placeOf, settingsOf } from './place.js'
import { domainTrackingRows } from './tracking.js'

/** What any of the sub-commands may be given. */
interface DomainOptions {
  account?: string
  trust?: boolean
  force?: boolean
}

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
    run: runAdd,
  },
  {
    usage: 'list',
    does: operations.listDomains,
    about: 'show the domains of an account',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn domain list --json',
    run: runList,
  },
  {
    usage: 'show <name>',
    does: operations.getDomain,
    about: 'show a domain and its DNS records',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn domain show example.com --json | jq -r .zone',
    run: runShow,
  },
  {
    usage: 'verify <name>',
    does: operations.verifyDomain,
    about: 'look the DNS records up; status 1 while the required one is not there',
    options: [accountOption(), new Option('--trust', trustText)],
    help: 'Example:\n  $ posthorn domain verify example.com',
    run: runVerify,
  },
  {
    usage: 'delete <name>',
    does: operations.deleteDomain,
    about: 'delete a domain and its keys; refused while mail or a campaign from it is waiting',
    options: [...askOptions(), accountOption()],
    help: 'Example:\n  $ posthorn domain delete example.com',
    run: runDelete,
  },
  ...domainTrackingRows,
]

/**
 * The keys are made here and sealed with the appliance key, so adding a domain needs that key and
 * not only the database.
 */
async function runAdd(name: string, options: DomainOptions, command: Command): Promise<void> {
  const place = placeOf(command)
  const settings = settingsOf(place)
  const added = await withStore(place, async (deps) => {
    const account = await chosenAccount(deps.store.read, options.account)
    const key = openApplianceKey(applianceKeyFile(place.dataDir))
    const plans = plansUnlessForced(place, options)
    const given = { trust: options.trust === true, plans }
    return withForceHint(() => addDomain({ ...deps, key }, account.id, name, given))
  })
  const records = domainRecords(added, recordSettings(settings))
  if (place.json)
    return sayJson({ ...shownDomain(added), ...toPublish(added, recordSettings(settings)) })
  say(`${added.name} is added${added.trusted ? ' and trusted' : ''}.`)
  sayRecords(records)
  if (added.status !== 'verified') {
    if (settings.outbound.heloName === 'localhost') {
      warn(
        'outbound.helo_name is still "localhost", and two of these records name it: set it, then see posthorn domain show',
      )
    }
    sayNext(`\nWhen they are published: posthorn domain verify ${added.name}`)
  }
}

/** The account's domains; without --account those of the only account. */
async function runList(options: DomainOptions, command: Command): Promise<void> {
  const place = placeOf(command)
  const { domains, answer } = await withStore(place, async ({ store: { read } }) => {
    const domains = await listDomains(read, (await chosenAccount(read, options.account)).id)
    const shown = await Promise.all(domains.map((domain) => shownIn(read, domain)))
    return { domains, answer: { domains: shown } }
  })
  if (place.json) return sayJson(answer)
  sayTable(
    ['NAME', 'STATUS', 'CREATED', 'CHECKED'],
    domains.map((row) => [
      row.name,
      statusOf(row),
      shownTime(row.createdAt),
      row.checkedAt === null ? 'never' : shownTime(row.checkedAt),
    ]),
    "No domain yet; 'posthorn domain add NAME' adds one",
  )
}

/** A domain as it stood at the last look; `verify` looks anew. */
async function runShow(name: string, options: DomainOptions, command: Command): Promise<void> {
  const place = placeOf(command)
  const settings = recordSettings(settingsOf(place))
  const { found, shown } = await withStore(place, async ({ store: { read } }) => {
    const { id } = await chosenAccount(read, options.account)
    const found = await withHints(unknownDomain, () => findDomain(read, id, name))
    return { found, shown: await shownIn(read, found) }
  })
  const records = domainRecords(found, settings)
  if (place.json) return sayJson({ ...shown, ...toPublish(found, settings) })
  sayFields({
    Name: found.name,
    Status: statusOf(found),
    'Signs with': signsWith(found),
    'Return path': found.returnPath ? 'its own' : "the appliance's",
    ...(found.trackingHost === null ? {} : { 'Links lead through': linkHost(found) }),
    Created: shownTime(found.createdAt),
    Checked: shownTime(found.checkedAt),
  })
  sayRecords(records)
}

/**
 * The look is made now and written down, as the page and the API do it: what the command shows is
 * what sending goes by.
 */
async function runVerify(name: string, options: DomainOptions, command: Command): Promise<void> {
  const place = placeOf(command)
  const config = settingsOf(place)
  const settings = recordSettings(config)
  const { found, records, shown } = await withStore(place, async (deps) => {
    const account = await chosenAccount(deps.store.read, options.account)
    const resolver = openResolver(config.dns, deps.clock)
    const trust = options.trust === true
    const { domain: found, records } = await withHints(unknownDomain, () =>
      verifyDomain({ ...deps, resolver, settings }, account.id, name, { trust }),
    )
    return { found, records, shown: await shownIn(deps.store.read, found) }
  })
  const good = found.trusted || records.every(({ required, state }) => !required || state === 'ok')
  if (!good) process.exitCode = 1
  if (place.json) return sayJson({ ...shown, records: records.map(shownCheck) })
  sayChecks(found, records)
}

/**
 * A domain that mail or a campaign waits to be sent from cannot go: those mails could never be
 * signed.
 */
async function runDelete(
  name: string,
  options: DomainOptions & AskOptions,
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const deleted = await withStore(place, async ({ store, clock }) => {
    const account = await chosenAccount(store.read, options.account)
    return await withHints({ ...unknownDomain, conflict: whatWaits }, async () => {
      const domain = await findDomain(store.read, account.id, name)
      await refuseDomainInUse(store.read, account.id, domain)
      const uses = await domainUses(store.read, account.id, domain.name)
      const keys = await listKeys(store.read, account.id)
      if (!(await confirmed(place, options, deletionOf(domain, uses, keys)))) return
      await deleteDomain({ store, clock }, account.id, name)
      return deletedDomain(domain.id, uses)
    })
  })
  if (deleted === undefined) return
  if (place.json) return sayJson(deleted)
  say(`${name} is deleted. Its DNS records can go once no mail from it is on its way.`)
  for (const { id, name: automation } of deleted.automations) {
    warn(
      `automation "${automation}" (${id}) sends from it: its runs wait until the domain is added and verified again`,
    )
  }
}

/**
 * To add the domain again makes new keys, because a deleted private key must not come back; so the
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

/** How to end what stands in the way of a deletion. */
const whatWaits = ({ fields: { broadcastId } }: ApiError) =>
  broadcastId === undefined
    ? "'posthorn queue list' shows what waits"
    : `'posthorn broadcast cancel ${broadcastId}' ends that`

/** `trusted` is told beside the status, as nothing was verified then. */
const statusOf = ({ status, trusted }: Domain) => (trusted ? `${status} (trusted)` : status)

/** Which host tracked links have now. */
const linkHost = ({ trackingHost, trackingHostReady }: Domain) =>
  trackingHostReady ? `${trackingHost}` : `the appliance, until the DNS leads ${trackingHost} here`

/**
 * A key signs from the moment its record was seen, not before: a signature that nobody can check
 * counts as a broken one with some receivers.
 */
const signsWith = ({ keys }: Domain) =>
  keys
    .filter(({ verified }) => verified)
    .map(({ algorithm }) => algorithm)
    .join(', ') || 'nothing yet'

/** A domain for scripts: as the API shows it. */
const shownIn = async (read: Read, domain: Domain) =>
  shownDomain(domain, await domainSwitches(read, domain.id))
