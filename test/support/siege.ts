import type { Test } from 'tap'
import type { StaticRecords } from '../../src/dns/index.js'
import { FakeClock } from './clock.js'
import { type FakeMx, fakeMx, type MxScript } from './fake-mx.js'
import { leased, type OutboundRig, outboundRig, shapedTo } from './outbound.js'

// `max_connections`.
const total = 40
/** Domains whose servers answer at once. */
export const good = Array.from({ length: 15 }, (_, i) => `good${i}.test`)

const mxAt = (name: string, address: string): [string, StaticRecords[string]][] => [
  [name, { mx: [{ preference: 10, exchange: `mail.of-${name}` }] }],
  [`mail.of-${name}`, { a: [address] }],
]

export interface Siege {
  rig: OutboundRig
  clock: FakeClock
  traps: readonly FakeMx[]
  /** The attacker's domains. */
  names: readonly string[]
  /** How many connections the attacker's servers hold. */
  held(): number
}

/** Domains with an MX name each, at few addresses, whose servers behave by `script`. */
export async function besiege(
  t: Test,
  options: { names: number; addresses?: number; script: MxScript; total?: number },
): Promise<Siege> {
  const addresses = Array.from({ length: options.addresses ?? 1 }, (_, i) => `127.0.0.${i + 2}`)
  const names = Array.from({ length: options.names }, (_, i) => `trap${i}x.test`)
  const clock = new FakeClock()
  const rig = await outboundRig(t, {
    clock,
    dns: Object.fromEntries([
      ...names.flatMap((name, i) => mxAt(name, addresses[i % addresses.length] ?? '')),
      ...good.flatMap((name) => mxAt(name, '127.0.0.1')),
    ]),
    config: { maxConnections: options.total ?? total },
    shaping: shapedTo(),
  })
  const traps = await Promise.all(
    addresses.map((host) => fakeMx(t, { ...options.script, host, port: rig.mx.port })),
  )
  const held = () =>
    traps.reduce((sum, { sessions }) => sum + sessions.filter(({ closed }) => !closed).length, 0)
  return { rig, clock, traps, names, held }
}

/** Mails to each of the domains, of these accounts in turn. */
export async function sendTo(
  { rig }: Siege,
  names: readonly string[],
  accounts: readonly string[],
  times = 1,
) {
  const recipients = names.flatMap((name) =>
    Array.from({ length: times }, (_, i) => `m${i}@${name}`),
  )
  for (let at = 0, turn = 0; at < recipients.length; at += 20, turn++) {
    const account = accounts[turn % accounts.length]
    await rig.send({ to: recipients.slice(at, at + 20) }, account)
  }
}

/** Answers each domain's first two mails, and no later one. */
export function takesTwo(): MxScript {
  const nameOf = new WeakMap<object, string>()
  const answered = new Map<string, number>()
  return {
    rcpt(address, session) {
      nameOf.set(session, address.split('@')[1] ?? '')
      return '250 ok'
    },
    dot(_, session) {
      const name = nameOf.get(session) ?? ''
      const before = answered.get(name) ?? 0
      answered.set(name, before + 1)
      return before < 2 ? '250 ok' : 'hang'
    },
  }
}

/** How many mails the attacker's servers accepted, or got without answering. */
export const taken = ({ traps }: Siege) =>
  traps.reduce((sum, { messages }) => sum + messages.length, 0)
export const inDoubt = ({ traps }: Siege) =>
  traps.reduce((sum, { unaccepted }) => sum + unaccepted.length, 0)

/**
 * Resolves with how many attempts are under way, once there were `count` and no more begin. A lower number is not
 * final: after attempts end together, others follow a moment later.
 */
export async function settlesAt(rig: OutboundRig, count: number) {
  await rig.eventually(async () => (await leased(rig)) === count)
  let now = count
  await rig.eventually(async () => {
    await settled(rig)
    now = await leased(rig)
    return now >= count
  })
  return now
}

/** Due mail is claimed in a turn or two, if it is claimed at all. */
export async function settled({ store }: OutboundRig) {
  for (let turn = 0; turn < 10; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 2))
    await store.write(async () => {})
  }
}
