import { domainToASCII } from 'node:url'
import type { Command } from 'commander'
import { shapingFiles } from '../app/files.js'
import { openResolver } from '../app/resolver.js'
import { systemClock } from '../clock/index.js'
import { allSourceAddresses, settingName } from '../config/index.js'
import { type MxRoute, routeToMx } from '../dns/index.js'
import { OperatorError } from '../errors/index.js'
import type { Limits, Policy, ShapingData, SiteName, StoredLearned } from '../outbound/index.js'
import { withStore } from './database.js'
import { jsonTime, remark, say, sayFields, sayJson, sayTable, shownTime, styled } from './output.js'
import { type Place, placeOf, settingsOf } from './place.js'

/** The shaping that the appliance has at its next start; loaded late, as all of outbound comes along. */
export async function shapingOf({ dataDir }: Place): Promise<ShapingData> {
  const { loadShaping } = await import('../outbound/index.js')
  return loadShaping(shapingFiles(dataDir))
}

/** The same without the operator's files that are bad, and what is wrong with those. */
export async function readableShaping({ dataDir }: Place) {
  const { loadShaping } = await import('../outbound/index.js')
  const [ours = '', ...theirs] = shapingFiles(dataDir)
  const problems: string[] = []
  const good = theirs.filter((file) => {
    try {
      return loadShaping([ours, file])
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error
      problems.push(error.message)
      return false
    }
  })
  return { data: loadShaping([ours, ...good]), problems }
}

export function shapingCommands(program: Command): void {
  const shaping = program.command('shaping').description('how fast mail goes to whom, and why')

  shaping
    .command('show <domain>')
    .description('what applies to mail for a domain, from where, and what was learned about it')
    .addHelpText(
      'after',
      `
Example:
  $ posthorn shaping show example.com

What you want different goes into /etc/posthorn/shaping.toml or into shaping.toml in the data
directory; 'posthorn config check' tells whether it is good.`,
    )
    .action(async (given: string, _options, command: Command) => {
      const place = placeOf(command)
      const { isHostName } = await import('../outbound/index.js')
      const domain = domainToASCII(given)
      if (!isHostName(domain)) throw new OperatorError(`${JSON.stringify(given)} is no domain`)
      const { data, problems } = await readableShaping(place)
      for (const problem of problems) {
        process.exitCode = 1
        remark(`error: ${problem}`)
        remark(
          'Shown is what applies without it; a running appliance keeps what it has read before\n',
        )
      }
      const route = await routeOf(place, domain)
      const found = await explained(place, data, domain, route)
      if (place.json) return sayJson(inJson(domain, route, found))
      await showAll(place, domain, route, found)
    })
}

interface Explained {
  site: SiteName
  policy: Policy
  learned: StoredLearned[]
  sources: Source[]
}

interface Source {
  address: string
  firstDay: number
  rampDay: number
  /** Null: the ramp is over. */
  limit: number | null
  sent: number
}

export async function routeOf(place: Place, domain: string): Promise<MxRoute> {
  const { dns, outbound } = settingsOf(place)
  return routeToMx(openResolver(dns, systemClock), domain, {
    random: Math.random,
    allowPrivate: outbound.allowPrivateAddresses,
    ownAddresses: allSourceAddresses(outbound),
    ipFamily: outbound.ipFamily,
  })
}

async function explained(
  place: Place,
  data: ShapingData,
  domain: string,
  route: MxRoute,
): Promise<Explained | undefined> {
  if (route.kind !== 'hosts') return undefined
  const outbound = await import('../outbound/index.js')
  const site = outbound.siteOf(data, route.mx, domain)
  const policy = outbound.policyFor(data, site)
  const settings = settingsOf(place).outbound
  const names = ['default', ...allSourceAddresses(settings)]
  return withStore(place, async ({ store: { read }, clock }) => {
    const known = settings.warmUp === 'off' ? [] : await outbound.listSources(read)
    const inUse = known.filter(({ address }) => names.includes(address))
    const sources = inUse.map(({ address, ...state }) => {
      const { rampDay, firstDay, sent } = outbound.today(state, clock.now())
      const limit = outbound.rampLimit(rampDay)
      return { address, firstDay, rampDay, limit: Number.isFinite(limit) ? limit : null, sent }
    })
    return { site, policy, learned: await outbound.readLearned(read, site.key), sources }
  })
}

async function showAll(
  place: Place,
  domain: string,
  route: MxRoute,
  found: Explained | undefined,
): Promise<void> {
  if (route.kind !== 'hosts' || found === undefined) {
    const cause = 'cause' in route ? `: ${route.cause}` : ''
    say(`${domain} has no site: ${noRoute[route.kind]}${cause}`)
    process.exitCode = 1
    return
  }
  const { site, policy, learned, sources } = found
  const { limitNames, rampDays } = await import('../outbound/index.js')
  const { outbound } = settingsOf(place)
  if (outbound.route === 'sandbox') {
    remark('note: outbound.route is "sandbox": nothing of this applies, as nothing leaves')
  }
  sayFields({
    Domain: domain,
    Site: site.key,
    Provider: site.provider ?? '-',
    MX: route.hosts.map(({ exchange, preference }) => `${preference} ${exchange}`).join(', '),
  })
  say()
  sayTable(
    ['LIMIT', 'VALUE', 'FROM'],
    limitNames.map((name) => [settingName([name]), shownLimit(name, policy), policy.from[name]]),
    '',
  )
  say(
    styled(
      'dim',
      policy.initialConnections < policy.connections
        ? `It begins with ${policy.initialConnections} connections and earns more by deliveries.`
        : 'A fifth of connections and rate, at least one, is kept for transactional mail.',
    ),
  )
  const count = allSourceAddresses(outbound).length
  const perSource = 'Each source address has these limits for itself'
  const burst = policy.messagesPerMinute > 120 ? "a second's worth" : '2'
  const atOnce = policy.messagesPerMinute > 1 ? `; after a rest ${burst} may go at once` : ''
  say(styled('dim', `${perSource}${count > 1 ? `, and there are ${count}` : ''}${atOnce}.`))
  say()
  sayTable(
    ['REPLY', 'CODE', 'TIMES', 'ACTION', 'FOR', 'FROM'],
    policy.automations.map(({ pattern, code, threshold, action, forMs, from, ...limits }) => [
      pattern.join(' * '),
      code || '4, 5',
      threshold.times === 1 ? '1' : `${threshold.times} in ${shownSpan(threshold.withinMs)}`,
      action === 'slow down' ? `slow down to ${shownSlow(limits)}` : action,
      action === 'none' ? '-' : shownSpan(forMs),
      from,
    ]),
    'No replies are acted on',
  )
  say()
  sayTable(
    ['SOURCE', 'WARM-UP', 'MAILS TODAY', 'SINCE'],
    sources.map(({ address, rampDay, limit, sent, firstDay }) => [
      address,
      limit === null ? 'over' : `day ${rampDay} of ${rampDays}`,
      limit === null ? '-' : `${sent} of ${limit}`,
      shownTime(firstDay * 86_400_000),
    ]),
    outbound.warmUp === 'off' ? 'Warm-up is off' : 'Warm-up: no address has sent anything yet',
  )
  if (sources.some(({ limit }) => limit !== null)) {
    say(styled('dim', 'As they are handed out to the sending threads, some ahead of their mails.'))
  }
  say()
  sayTable(
    ['SOURCE', 'THREAD', 'CONNECTIONS', 'IN FORCE', 'AS OF'],
    learned.map(({ source, thread, learned: state, updatedAt }) => [
      source,
      String(thread),
      String(state.connections),
      inForce(state) || '-',
      shownTime(updatedAt),
    ]),
    'Nothing is written of this site: all is as above, but for the last 30 seconds',
  )
}

const noRoute: Record<MxRoute['kind'], string> = {
  hosts: '',
  'null-mx': 'it takes no mail (null MX)',
  nxdomain: 'it does not exist',
  'no-addresses': 'none of its mail servers has an address',
  failed: 'the DNS failed',
  refused: 'its mail servers must not be connected to',
}

const shownLimit = (name: keyof Limits, policy: Policy) =>
  typeof policy[name] === 'number' ? policy[name].toLocaleString('en') : policy[name]

interface Slowed {
  connections?: number | null | undefined
  messagesPerMinute?: number | null | undefined
}

const shownSlow = ({ connections, messagesPerMinute }: Slowed) =>
  [
    typeof messagesPerMinute === 'number' ? [`${messagesPerMinute} a minute`] : [],
    typeof connections === 'number' ? [`${connections} at once`] : [],
  ]
    .flat()
    .join(', ')

function inForce({ suspension, active }: StoredLearned['learned']): string {
  const suspended =
    suspension === null ? [] : [`suspended until ${shownTime(suspension.until)}: ${suspension.why}`]
  const others = active.map(({ action, name, until, ...limits }) => {
    const slow = action === 'slow down' ? ` to ${shownSlow(limits)}` : ''
    return `${action}${slow} until ${shownTime(until)} (${name})`
  })
  return [...suspended, ...others].join('; ')
}

function shownSpan(ms: number): string {
  for (const [unit, unitMs] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
  ] as const) {
    if (ms % unitMs === 0) return `${ms / unitMs}${unit}`
  }
  return `${ms / 1_000}s`
}

function inJson(domain: string, route: MxRoute, found: Explained | undefined) {
  if (route.kind !== 'hosts' || found === undefined) {
    process.exitCode = 1
    return { domain, site: null, route }
  }
  const { site, policy, learned, sources } = found
  return {
    domain,
    site: site.key,
    provider: site.provider ?? null,
    mx: route.hosts,
    policy,
    sources: sources.map(({ firstDay, ...source }) => ({
      ...source,
      since: jsonTime(firstDay * 86_400_000),
    })),
    learned: learned.map(({ updatedAt, ...row }) => ({ ...row, asOf: jsonTime(updatedAt) })),
  }
}
