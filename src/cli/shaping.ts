import { domainToASCII } from 'node:url'
import type { Command } from 'commander'
import { shapingFiles } from '../app/files.js'
import { openResolver } from '../app/resolver.js'
import { dayMs, systemClock } from '../clock/index.js'
import { allSourceAddresses, settingName } from '../config/index.js'
import type { MxRoute } from '../dns/index.js'
import { OperatorError } from '../errors/index.js'
import type { ExplainedSite, Policy, ShapingData, ShapingLimits } from '../outbound/index.js'
import { addCommands, type CommandRow } from './command-row.js'
import { withStore } from './database.js'
import { jsonTime, remark, say, sayFields, sayJson, sayTable, shownTime, styled } from './output.js'
import { type CommandPlace, placeOf, settingsOf } from './place.js'

/** The shaping that the appliance has at its next start; loaded late, as it loads all of outbound. */
export async function shapingOf({ dataDir }: CommandPlace): Promise<ShapingData> {
  const { loadShaping } = await import('../outbound/index.js')
  return loadShaping(shapingFiles(dataDir))
}

/** The shaping without the operator's bad files, and what is wrong with these. */
export async function readableShaping({ dataDir }: CommandPlace) {
  const { loadReadableShaping } = await import('../outbound/index.js')
  return loadReadableShaping(shapingFiles(dataDir))
}

/** `posthorn shaping`: what limits mail to a domain, and why. */
export function shapingCommands(program: Command): void {
  const shaping = program.command('shaping').description('how fast mail goes to whom, and why')
  addCommands(shaping, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'show <domain>',
    about: 'what applies to mail for a domain, from where, and what was learned about it',
    help: `Example:
  $ posthorn shaping show example.com

What you want different goes into /etc/posthorn/shaping.toml or into shaping.toml in the data
directory; 'posthorn config check' tells whether it is good.`,
    run: runShow,
  },
]

/**
 * Reads the files as the start does, and shows what would apply without a broken file; a running
 * appliance keeps its shaping.
 */
async function runShow(given: string, _options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const { isHostName } = await import('../outbound/index.js')
  const domain = domainToASCII(given)
  if (!isHostName(domain)) throw new OperatorError(`${JSON.stringify(given)} is not a domain name`)
  const { data, problems } = await readableShaping(place)
  for (const problem of problems) {
    process.exitCode = 1
    remark(`error: ${problem}`)
    remark('Shown is what applies without it; a running appliance keeps what it has read before\n')
  }
  const route = await routeOf(place, domain)
  const found = await withStore(place, async ({ store: { read }, clock }) => {
    const { explainSite } = await import('../outbound/index.js')
    const { outbound } = settingsOf(place)
    return await explainSite({ read, now: clock.now(), data, outbound }, domain, route)
  })
  if (place.json) return sayJson(inJson(domain, route, found))
  await showAll(place, domain, route, found)
}

/** Where mail to a domain goes now, as the outbound threads would find out. */
export async function routeOf(place: CommandPlace, domain: string): Promise<MxRoute> {
  const { dns, outbound } = settingsOf(place)
  const { routeOfDomain } = await import('../outbound/index.js')
  return routeOfDomain(openResolver(dns, systemClock), domain, outbound)
}

/**
 * Each limit is told with its source (default, provider, MX or domain), because operators nearly
 * always ask why the limit is not another one.
 */
async function showAll(
  place: CommandPlace,
  domain: string,
  route: MxRoute,
  found: ExplainedSite | undefined,
): Promise<void> {
  const { inForce, limitNames, noRoute, rampInWords, shownPattern, shownSlow, shownSpan } =
    await import('../outbound/index.js')
  if (route.kind !== 'hosts' || found === undefined) {
    const cause = 'cause' in route ? `: ${route.cause}` : ''
    say(`${domain} has no site: ${noRoute[route.kind]}${cause}`)
    process.exitCode = 1
    return
  }
  const { site, policy, learned, sources } = found
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
    policy.automations.map((automation) => {
      const { code, threshold, action, forMs, from } = automation
      return [
        shownPattern(automation),
        code || '4, 5',
        threshold.times === 1 ? '1' : `${threshold.times} in ${shownSpan(threshold.withinMs)}`,
        action === 'slow down' ? `slow down to ${shownSlow(automation)}` : action,
        action === 'none' ? '-' : shownSpan(forMs),
        from,
      ]
    }),
    'No replies are acted on',
  )
  say()
  sayTable(
    ['SOURCE', 'WARM-UP', 'MAILS TODAY', 'SINCE'],
    sources.map(({ address, rampDay, limit, sent, firstDay }) => [
      address,
      limit === null ? 'over' : rampInWords(rampDay),
      limit === null ? '-' : `${sent} of ${limit}`,
      shownTime(firstDay * dayMs),
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

/** Most limits are numbers; some are words. */
const shownLimit = (name: keyof ShapingLimits, policy: Policy) =>
  typeof policy[name] === 'number' ? policy[name].toLocaleString('en') : policy[name]

/** For scripts, with the status that a domain without a site has. */
function inJson(domain: string, route: MxRoute, found: ExplainedSite | undefined) {
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
      since: jsonTime(firstDay * dayMs),
    })),
    learned: learned.map(({ updatedAt, ...row }) => ({ ...row, asOf: jsonTime(updatedAt) })),
  }
}
