import { dayMs, hourMs } from '../clock/index.js'

/** Recipients at this domain never leave the appliance; RFC 6761 keeps `.test` out of the DNS. */
export const simulatorDomain = 'simulator.posthorn.test'

// Domains that put all of their mail off for a while: `defers-90m.simulator.posthorn.test`.
const deferring = /^defers-([1-9]\d?)([mhd])\.simulator\.posthorn\.test$/

const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1).toLowerCase()

/** Whether an address, or a domain, is the simulator's. */
export function isSimulated(addressOrDomain: string): boolean {
  const domain = domainOf(addressOrDomain)
  return domain === simulatorDomain || deferring.test(domain)
}

/** What happens to mail to a recipient of the simulator. */
export type Behaviour =
  | { kind: 'accept'; afterMs?: number; report?: 'bounce' | 'complaint' }
  /**
   * Answers RCPT with `reply`. Then accepts: with `times`, each delivery after so many refusals; with `forMs`, all of
   * the domain so long after its first mail.
   */
  | { kind: 'refuse'; reply: string; times?: number; forMs?: number }
  /** Its mail never gets here, as if the address were on every suppression list. */
  | { kind: 'suppressed' }

// Long enough to be seen, and shorter than any deadline of the sender.
const slowMs = 10_000

// What each local part does; the documentation lists the same.
const behaviours: Readonly<Record<string, Behaviour>> = {
  delivered: { kind: 'accept' },
  bounced: { kind: 'refuse', reply: '550 5.1.1 The simulator knows no such mailbox' },
  full: { kind: 'refuse', reply: '552 5.2.2 The simulated mailbox is full' },
  deferred: {
    kind: 'refuse',
    reply: '451 4.7.1 The simulator takes it at the third try',
    times: 2,
  },
  complained: { kind: 'accept', report: 'complaint' },
  'late-bounce': { kind: 'accept', report: 'bounce' },
  suppressed: { kind: 'suppressed' },
  slow: { kind: 'accept', afterMs: slowMs },
}

/**
 * How the simulator treats an address; undefined for addresses elsewhere. A tag after `+` makes addresses differ and
 * changes nothing else.
 */
export function behaviourOf(address: string): Behaviour | undefined {
  const domain = domainOf(address)
  if (domain !== simulatorDomain) return providerAt(domain)
  const name =
    address
      .slice(0, -domain.length - 1)
      .toLowerCase()
      .split('+')[0] ?? ''
  return Object.hasOwn(behaviours, name) ? behaviours[name] : unknown
}

/** A provider by itself, which treats all recipients alike. */
function providerAt(domain: string): Behaviour | undefined {
  const [, count = '', unit = ''] = deferring.exec(domain) ?? []
  const unitMs = { m: 60_000, h: hourMs, d: dayMs }[unit]
  if (unitMs === undefined) return undefined
  const reply = `451 4.3.2 The simulator takes no mail for ${domain} yet`
  return { kind: 'refuse', reply, forMs: Number(count) * unitMs }
}

// The refusal names the existing ones, so that a typo in a test is found at once.
const unknown: Behaviour = {
  kind: 'refuse',
  reply: `550 5.1.1 The simulator has ${Object.keys(behaviours).join(', ')}`,
}
