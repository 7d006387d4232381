import { domainToASCII } from 'node:url'
import { type Command, Option } from 'commander'
import { findAccount, listAccounts } from '../accounts/index.js'
import { type ClassName, classNames } from '../deliveries/index.js'
import { OperatorError } from '../errors/index.js'
import type { SiteOrder } from '../outbound/index.js'
import { queueClass, type SiteBrakeRow } from '../store/index.js'
import { tellRetry } from './ask.js'
import { whoRuns } from './audited.js'
import { addCommands, type CommandRow } from './command-row.js'
import { withStore } from './database.js'
import { limitOption, span } from './option-values.js'
import { jsonTime, remark, say, sayJson, sayTable, shownTime } from './output.js'
import { placeOf, settingsOf } from './place.js'
import { readableShaping } from './shaping.js'

/** What `hold` and `move` are given. */
interface OrderOptions {
  for: number
  why: string
  pool?: string
  account?: string
  class?: ClassName
}

/** `posthorn site`: mail to a site or a domain waits, or leaves from another pool, for a while. */
export function siteCommands(program: Command): void {
  const site = program
    .command('site')
    .description('hold mail to a site or a domain for a while, or let it leave from another pool')
  addCommands(site, rows)
}

const siteHelp = `A site is named as in 'posthorn shaping show', such as google; a recipients' domain is meant for itself
alone.`

// Functions, as Commander keeps values in the options.
const forOption = () =>
  new Option('--for <span>', 'for how long: 30m, 2h, 3d')
    .argParser(span('2h', '1m', '30d'))
    .makeOptionMandatory()
const whyOption = () =>
  new Option('--why <text>', "why; 'posthorn queue show' says so").makeOptionMandatory()

/** What `posthorn site release` can end, each with the kind of its order. */
const kindOf = { hold: 'hold', move: 'pool', brake: undefined } as const

const rows: readonly CommandRow[] = [
  {
    usage: 'hold <site>',
    about: 'let mail to a site or a domain wait, what comes meanwhile too',
    options: [forOption(), whyOption()],
    help: `Examples:
  $ posthorn site hold example.org --for 2h --why 'their postmaster asked for it'
  $ posthorn site hold google --for 30m --why 'deferrals since the new text'

${siteHelp} What is under way still ends. It ends by itself; 'posthorn site release' ends it sooner.`,
    run: (...given: [string, OrderOptions, Command]) => order('hold', ...given),
  },
  {
    usage: 'move <site>',
    about: 'let mail to a site or a domain leave from another pool, what waits too',
    options: [
      new Option('--pool <name>', 'a pool of the settings, or default').makeOptionMandatory(),
      forOption(),
      whyOption(),
      new Option('--account <id>', 'only mail of this account, by id or name'),
      new Option('--class <class>', 'only mail of this class').choices(classNames),
    ],
    help: `Example:
  $ posthorn site move outlook --pool spare --for 1d --why 'our first address is blocked there'

${siteHelp} Attempts that begin from then on leave from that pool.`,
    run: (...given: [string, OrderOptions, Command]) => order('pool', ...given),
  },
  {
    usage: 'release <site>',
    about: 'end what is ordered for a site or a domain, and a brake on campaign mail to it',
    options: [
      new Option('--only <what>', 'end this alone, and leave the rest in force').choices(
        Object.keys(kindOf),
      ),
    ],
    help: `Example:
  $ posthorn site release example.org --only hold

A brake comes back where more than usual is still refused.`,
    run: runRelease,
  },
  {
    usage: 'list',
    isDefault: true,
    about: 'show what is ordered, and where campaign mail is slowed down',
    options: [new Option('--past', 'what is over, instead'), limitOption()],
    help: 'Example:\n  $ posthorn site list --past --limit 10',
    run: runList,
  },
]

/** RFC 5890 §2.3.2: a domain is compared in its ASCII form; a site's name may have blanks. */
const asciiSite = (given: string) => domainToASCII(given.trim()) || given

async function order(
  kind: SiteOrder['kind'],
  site: string,
  { for: forMs, why, pool, account, class: of }: OrderOptions,
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const { pools } = settingsOf(place).outbound
  if (pool !== undefined && pool !== 'default' && !Object.hasOwn(pools, pool)) {
    const names = ['default', ...Object.keys(pools)].join(', ')
    throw new OperatorError(`The settings have no pool "${pool}"; there are: ${names}`)
  }
  const { checkedSite, giveOrder, orderInWords } = await import('../outbound/index.js')
  const { data } = await readableShaping(place)
  const named = checkedSite(data, site)
  const given = await withStore(place, async ({ store, clock }) => {
    const accountId =
      account === undefined ? undefined : (await findAccount(store.read, account)).id
    const now = clock.now()
    const asked = { kind, pool, accountId, why, now, until: now + forMs, by: whoRuns() }
    const meant = { ...asked, site: named, class: of && queueClass[of] }
    const order = await store.write((tx) => giveOrder(tx, meant))
    await tellRetry(place, store, [])
    return order
  })
  if (place.json) return sayJson(orderForMachines(given))
  say(orderInWords(given))
  remark('A running appliance does so within seconds; what is under way still ends')
}

async function runRelease(
  site: string,
  { only }: { only?: keyof typeof kindOf },
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const { endBrakes, endOrders, orderInWords } = await import('../outbound/index.js')
  const { ended, brakes } = await withStore(place, async ({ store, clock }) => {
    const all = await store.write(async (tx) => ({
      ended:
        only === 'brake'
          ? []
          : await endOrders(tx, { site: asciiSite(site), kind: only && kindOf[only] }, clock.now()),
      brakes:
        only === undefined || only === 'brake'
          ? await endBrakes(tx, asciiSite(site).trim().toLowerCase(), clock.now())
          : [],
    }))
    if (all.ended.length + all.brakes.length > 0) await tellRetry(place, store, [])
    return all
  })
  if (ended.length + brakes.length === 0) {
    const what = only === undefined ? 'Nothing is ordered' : `No ${only} is in force`
    throw new OperatorError(`${what} for ${site}; 'posthorn site list' shows what is`)
  }
  if (place.json) {
    return sayJson({ ended: ended.map(orderForMachines), brakes: brakes.map(brakeForMachines) })
  }
  for (const one of ended) say(`Ended: ${orderInWords(one)}`)
  if (only === undefined) say(`Mail to ${site} leaves as the settings say, within seconds`)
}

async function runList(
  { past, limit }: { past?: true; limit: number },
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const { openBrakes, openOrders, pastOrders, brakeInWords } = await import('../outbound/index.js')
  const { orders, brakes, names } = await withStore(place, async ({ store: { read }, clock }) => ({
    names: new Map((await listAccounts(read)).map(({ id, name }) => [id, name])),
    orders: await (past ? pastOrders(read, clock.now(), limit) : openOrders(read, clock.now())),
    brakes: past ? [] : await openBrakes(read),
  }))
  if (place.json) {
    return sayJson({
      orders: orders.slice(0, limit).map(orderForMachines),
      brakes: brakes.map(brakeForMachines),
    })
  }
  if (brakes.length > 0) {
    sayTable(
      ['SITE', 'FROM', 'CAMPAIGN MAIL'],
      brakes.map((one) => [
        one.site,
        one.source === '' ? 'all pools' : `pool ${one.source}`,
        brakeInWords(one),
      ]),
      '',
    )
    say()
  }
  sayTable(
    ['SITE', 'ORDER', 'OF', 'UNTIL', 'BY', 'WHY'],
    orders
      .slice(0, limit)
      .map((one) => [
        one.site,
        one.kind === 'hold' ? 'held' : `from ${one.pool}`,
        [names.get(one.account_id ?? '') ?? '', classOf(one) ?? ''].join(' ').trim() || 'all',
        shownTime(one.ended_at ?? one.until),
        one.given_by,
        one.why,
      ]),
    past ? 'Nothing was ordered yet' : 'Nothing is ordered: all mail leaves as the settings say',
  )
}

const classOf = ({ class: of }: SiteOrder) =>
  of === null ? null : (classNames.find((name) => queueClass[name] === of) ?? null)

const brakeForMachines = (one: SiteBrakeRow) => ({
  site: one.site,
  pool: one.source === '' ? null : one.source,
  percent: one.percent,
  cause: one.cause,
  why: one.why,
  beganAt: jsonTime(one.began_at),
  since: jsonTime(one.since),
  until: jsonTime(one.until),
})

/** An order for scripts. */
export const orderForMachines = (one: SiteOrder) => ({
  id: one.id,
  order: one.kind,
  site: one.site,
  pool: one.pool,
  accountId: one.account_id,
  class: classOf(one),
  why: one.why,
  by: one.given_by,
  givenAt: jsonTime(one.given_at),
  until: jsonTime(one.until),
  endedAt: jsonTime(one.ended_at),
})
