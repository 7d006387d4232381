import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { Resolver } from '../dns/index.js'
import { checkOutboundPort, type Finding, findingsOf, judgeDns } from '../doctor/index.js'
import type { SetupAnswers } from './answers.js'
import { takenPorts } from './system.js'

/** What the look before the start needs. */
interface PreflightDeps {
  config: Config
  clock: Clock
  resolver: Resolver
  random: () => number
}

// Somebody waits for the result, and a blocked port never answers.
const stepMs = 3_000
const totalMs = 15_000

/**
 * Finds what would prevent the start on this machine, before anything is made: DNS, port 25 outward, our own ports.
 */
export async function preflight(deps: PreflightDeps, ports: readonly number[]): Promise<Finding[]> {
  const { config, clock } = deps
  const quick = {
    ...config,
    doctor: { ...config.doctor, timeout: Math.min(stepMs, config.doctor.timeout) },
  }
  const dns = await judgeDns({ ...deps, config: quick })
  const asked = { ...deps, resolver: dns.resolver, config: quick }
  const late = findingsOf('outbound-port', 'port 25 outward').fail(
    'nobody answers',
    'ask the provider of this machine to open outbound TCP port 25, or set up a smart host (outbound.failover)',
  )
  const outward = dns.finding.state === 'ok' ? checkOutboundPort(asked) : Promise.resolve([])
  const port25 = await new Promise<Finding[]>((resolve) => {
    const cancel = clock.after(totalMs, () => resolve([late]))
    void outward.then((findings) => {
      cancel()
      resolve(findings)
    })
  })
  const taken = await takenPorts(ports)
  return [dns.finding, ...port25, ...taken.map(takenPort)]
}

const takenPort = (port: number) =>
  findingsOf('port', String(port)).fail(
    'another program has it',
    `see which ('ss -ltnp sport = :${port}') and stop it, such as 'systemctl disable --now postfix'`,
  )

/** The ports that an appliance with these answers listens on. */
export function portsOf(
  { http, inbound }: Config,
  { certificates }: Pick<SetupAnswers, 'certificates'>,
): number[] {
  const web = certificates === 'acme' ? [80, 443] : [http.public.port]
  return [...new Set([http.private.port, ...web, inbound.port])].filter((port) => port !== 0)
}
