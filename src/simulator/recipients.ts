/** Recipients at this domain never leave the appliance; RFC 6761 keeps `.test` out of the DNS. */
export const simulatorDomain = 'simulator.posthorn.test'

/** What happens to mail to a recipient of the simulator. */
export type Behaviour =
  | { kind: 'accept'; afterMs?: number; report?: 'bounce' | 'complaint' }
  /** Answers RCPT with `reply`; with `times`, only so many times, and then accepts. */
  | { kind: 'refuse'; reply: string; times?: number }
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
  const at = address.lastIndexOf('@')
  if (address.slice(at + 1).toLowerCase() !== simulatorDomain) return undefined
  const name = address.slice(0, at).toLowerCase().split('+')[0] ?? ''
  return Object.hasOwn(behaviours, name) ? behaviours[name] : unknown
}

// The refusal names the existing ones, so that a typo in a test is found at once.
const unknown: Behaviour = {
  kind: 'refuse',
  reply: `550 5.1.1 The simulator has ${Object.keys(behaviours).join(', ')}`,
}
