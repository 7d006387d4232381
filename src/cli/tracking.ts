import { type Command, Option } from 'commander'
import { findAccount } from '../accounts/index.js'
import {
  type Domain,
  findDomain,
  flagOf,
  type SwitchChoice,
  setTrackingHost,
  switchChoices,
} from '../domains/index.js'
import {
  accountSwitches,
  domainSwitches,
  type OwnSwitches,
  type Switches,
  setSwitches,
} from '../tracking/index.js'
import type { CommandRow } from './command-row.js'
import { accountOption, chosenAccount, withStore } from './database.js'
import { unknownDomain } from './domain-records.js'
import { withHints } from './limits.js'
import { say, sayFields, sayJson } from './output.js'
import { placeOf, settingsOf } from './place.js'

/** What was given on the command line; undefined changes nothing. */
interface Given {
  opens?: SwitchChoice
  clicks?: SwitchChoice
  /** False for --no-host. */
  host?: string | false
  account?: string
}

/** The option for opens or for clicks. */
const choice = (what: 'opens' | 'clicks', usual: string) =>
  new Option(`--${what} <choice>`, `track ${what}; default: as ${usual}`).choices(switchChoices)

/** Whether an account's mail is tracked. */
export const accountTrackingRows: readonly CommandRow[] = [
  {
    usage: 'tracking <account>',
    about: "switch or show the tracking of opens and clicks in an account's mail",
    options: [choice('opens', 'the settings have it'), choice('clicks', 'the settings have it')],
    help: `A domain may say otherwise: 'posthorn domain tracking'. Links and pixels in mail that has left go on.
Opens of transactional mail are tracked only with --opens on, here or for the domain.

Examples:
  $ posthorn account tracking 'City library'
  $ posthorn account tracking 'City library' --opens off --clicks off`,
    run: runAccountTracking,
  },
]

/** Sets the given switches, and shows what is then in force and why. */
async function runAccountTracking(idOrName: string, given: Given, command: Command): Promise<void> {
  const place = placeOf(command)
  const settings = settingsOf(place).tracking
  const { found, own } = await withStore(place, async ({ store }) => {
    const found = await findAccount(store.read, idOrName)
    await setSwitches({ store }, { accountId: found.id }, switchesIn(given))
    return { found, own: await accountSwitches(store.read, found.id) }
  })
  const does = done(own, settings, own.opens)
  if (place.json) return sayJson({ id: found.id, name: found.name, ...does, own })
  say(`Mail of "${found.name}":`)
  sayFields(inWords(own, does, 'the settings have'))
}

/** Whether a domain's mail is tracked, and through which host. */
export const domainTrackingRows: readonly CommandRow[] = [
  {
    usage: 'tracking <name>',
    about: 'switch or show the tracking of opens and clicks in mail from a domain',
    options: [
      accountOption(),
      choice('opens', 'the account has it'),
      choice('clicks', 'the account has it'),
      new Option('--host <host>', 'a host of the domain that links lead through'),
      new Option('--no-host', "let links lead through the appliance's own host"),
    ],
    help: `A host of its own needs its CNAME record ('posthorn domain show'), and where the public listener is
reached by HTTPS a certificate in the proxy before it. It is used once 'posthorn domain verify' has
seen the record.

Examples:
  $ posthorn domain tracking example.com --clicks off
  $ posthorn domain tracking example.com --host links.example.com`,
    run: runDomainTracking,
  },
]

/** The domain wins over the account, and the account over the settings. */
async function runDomainTracking(name: string, given: Given, command: Command): Promise<void> {
  const place = placeOf(command)
  const settings = settingsOf(place).tracking
  const { found, own, above } = await withStore(place, async ({ store }) => {
    const account = await chosenAccount(store.read, given.account)
    let found = await withHints(unknownDomain, () => findDomain(store.read, account.id, name))
    if (given.host !== undefined) {
      found = await setTrackingHost({ store }, account.id, name, given.host || null)
    }
    await setSwitches({ store }, { domainId: found.id }, switchesIn(given))
    const own = await domainSwitches(store.read, found.id)
    return { found, own, above: await accountSwitches(store.read, account.id) }
  })
  const does = done(own, over(above, settings), own.opens ?? above.opens)
  const { trackingHost: host, trackingHostReady: hostReady } = found
  if (place.json) return sayJson({ name: found.name, ...does, own, host, hostReady })
  say(`Mail from ${found.name}:`)
  sayFields({ ...inWords(own, does, 'the account has'), Host: hostInWords(found) })
}

/** The switches that were given, and no others. */
function switchesIn({ opens, clicks }: Given): Partial<OwnSwitches> {
  return {
    ...(opens === undefined ? {} : { opens: flagOf(opens) }),
    ...(clicks === undefined ? {} : { clicks: flagOf(clicks) }),
  }
}

interface Done extends Switches {
  /** Opens of transactional mail, which the settings do not switch. */
  opensOfTransactional: boolean
}

/** What is tracked; `chosen` is the domain's or account's own choice about opens. */
function done(own: OwnSwitches, above: Switches, chosen: boolean | null): Done {
  const { opens, clicks } = over(own, above)
  return { opens, opensOfTransactional: chosen ?? false, clicks }
}

/** The switch in force: its own, or else that of the level above. */
const over = (own: OwnSwitches, above: Switches): Switches => ({
  opens: own.opens ?? above.opens,
  clicks: own.clicks ?? above.clicks,
})

/** What is tracked, and who decided it. */
function inWords(own: OwnSwitches, does: Done, above: string): Record<string, string> {
  const words = (is: boolean, set: boolean | null) =>
    `${is ? 'tracked' : 'not tracked'}${set === null ? `, as ${above} it` : ''}`
  return {
    Opens: words(does.opens, own.opens),
    'In transactional mail': does.opensOfTransactional ? 'too' : 'not, without --opens on',
    Clicks: words(does.clicks, own.clicks),
  }
}

/** The host of links, or what is still missing for it. */
function hostInWords({ name, trackingHost, trackingHostReady }: Domain): string {
  if (trackingHost === null) return "the appliance's own"
  if (trackingHostReady) return trackingHost
  return `${trackingHost}, once its record is there: posthorn domain show ${name}, posthorn domain verify ${name}`
}
