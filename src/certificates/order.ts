import { X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { Authorization, Order } from 'acme-client'
import { type Clock, pause } from '../clock/index.js'
import type { Store } from '../store/index.js'
import type { Directory } from './directory.js'
import type { DnsRecords } from './dns-challenge.js'
import { AcmeProblem, problemFields } from './problem.js'
import { keepAnswer } from './shared.js'

export type OrderOutcome =
  | { kind: 'issued'; chain: string }
  /** The directory has not decided; the order is continued later. */
  | { kind: 'pending'; askedToWaitMs: number | undefined }

export interface OrderDeps {
  directory: Directory
  store: Pick<Store, 'write'>
  clock: Clock
  signal: AbortSignal
  /** Stores an order that the directory has accepted, so that it is not lost with the process. */
  keep: (url: string) => Promise<void>
  /** Proves the name by a record in its DNS; undefined: by its port 80. */
  dns: DnsRecords | undefined
}

// A directory that validates at once needs a few seconds.
const patienceMs = 60_000
const lookEveryMs = 3_000

export interface AskedOrder {
  name: string
  /** The certificate's own key, PEM. */
  key: string
  /** The directory's URL of the order, if one was begun. */
  url: string | undefined
  /** RFC 9773 §5: the certificate that the new one replaces. */
  replaces: string | undefined
}

/**
 * Takes the order of a name as far as the directory lets it, and begins one where there is none (RFC 8555 §7.4).
 * Rejects with what the directory or the network refused.
 */
export async function advanceOrder(deps: OrderDeps, asked: AskedOrder): Promise<OrderOutcome> {
  const { directory, clock, signal } = deps
  const { client } = directory
  const { name, key } = asked
  const until = clock.now() + patienceMs
  let order = await beginOrder(deps, asked)
  let isAnswered = false
  // A directory that sends an order round in circles is also left after a minute.
  while (clock.now() <= until) {
    const { status } = order
    if (status === 'valid') {
      const chain = await client.getCertificate(order)
      await removeRecords(deps, name, order)
      refuseWrong({ name, key, chain, now: clock.now() })
      return { kind: 'issued', chain }
    }
    if (status === 'invalid') {
      await removeRecords(deps, name, order)
      throw await refusalOf(directory, order)
    }
    if (status === 'ready') {
      order = await client.finalizeOrder(order, await directory.request(name, key))
    } else if (status === 'pending' && !isAnswered) {
      await answerChallenges(deps, name, order)
      isAnswered = true
      order = await client.getOrder(order)
    }
    if (order.status !== status) continue
    const restMs = Math.max(directory.askedToWaitMs() ?? lookEveryMs, 1_000)
    if (clock.now() + restMs > until) break
    await pause(clock, restMs, signal)
    if (signal.aborted) break
    order = await client.getOrder(order)
  }
  return { kind: 'pending', askedToWaitMs: directory.askedToWaitMs() }
}

async function beginOrder({ directory, keep }: OrderDeps, asked: AskedOrder): Promise<Order> {
  const { client } = directory
  const { name, url, replaces } = asked
  if (url !== undefined) {
    try {
      // The package reads only its URL.
      return await client.getOrder({ url } as Order)
    } catch (error) {
      // Directories forget orders; a new one is begun with the same key.
      if (!(error instanceof AcmeProblem) || ![400, 403, 404].includes(error.status)) throw error
    }
  }
  const data = { identifiers: [{ type: 'dns', value: name }] }
  let order: Order
  try {
    order = await client.createOrder({ ...data, ...(replaces === undefined ? {} : { replaces }) })
  } catch (error) {
    // RFC 9773 §5: a directory may not know the replaced certificate, or may have replaced it already. The order is
    // valid all the same.
    const isAboutReplaced =
      replaces !== undefined && error instanceof AcmeProblem && error.type !== 'rateLimited'
    if (!isAboutReplaced) throw error
    order = await client.createOrder(data)
  }
  await keep(order.url)
  return order
}

/**
 * RFC 8555 §8.3: HTTP-01, which the public listener answers for every name that leads here; §8.4: DNS-01 where records
 * can be published.
 */
async function answerChallenges(
  { directory, store, dns }: OrderDeps,
  name: string,
  order: Order,
): Promise<void> {
  const kind = dns === undefined ? 'http-01' : 'dns-01'
  for (const { status, challenges } of await authorizationsOf(directory, order)) {
    if (status !== 'pending') continue
    const challenge = challenges.find(({ type }) => type === kind)
    if (challenge === undefined) {
      const message = `The directory offers no ${kind.toUpperCase()} challenge`
      throw new AcmeProblem('unsupported', message, 400, undefined)
    }
    const answer = await directory.client.getChallengeKeyAuthorization(challenge)
    if (dns === undefined) await keepAnswer(store, challenge.token, answer)
    else await dns.add(name, answer)
    // A challenge that the directory already checks is not started again; its answer may be from a killed run, and
    // gone.
    if (challenge.status === 'pending') await directory.client.completeChallenge(challenge)
  }
}

/** A record left in the DNS harms nobody, so a failed removal does not fail the order. */
async function removeRecords({ directory, dns }: OrderDeps, name: string, order: Order) {
  if (dns === undefined) return
  for (const { challenges } of await authorizationsOf(directory, order)) {
    const challenge = challenges.find(({ type }) => type === 'dns-01')
    if (challenge === undefined) continue
    const answer = await directory.client.getChallengeKeyAuthorization(challenge)
    await dns.remove(name, answer).catch(() => {})
  }
}

/** An order of one name has one authorization; if a directory lists more, not all are read. */
const authorizationsOf = ({ client }: Directory, order: Order): Promise<Authorization[]> =>
  client.getAuthorizations({ ...order, authorizations: order.authorizations.slice(0, 3) })

/** The directory gives the reason with the failed challenge, or with the order. */
async function refusalOf(directory: Directory, order: Order): Promise<AcmeProblem> {
  const seen = await authorizationsOf(directory, order)
  const ofChallenges = seen.flatMap(({ challenges }) => challenges.map(({ error }) => error))
  const { type, detail } = problemFields(
    [...ofChallenges, order.error].find((error) => error !== undefined && error !== null),
  )
  return new AcmeProblem(type, detail || 'The directory gave the order up', 403, undefined)
}

/** A certificate that the listeners could not use, or that is for other names, must not reach them. */
function refuseWrong(got: { name: string; key: string; chain: string; now: number }): void {
  const { name, key, chain, now } = got
  const refuse = (why: string) =>
    new AcmeProblem('', `The certificate it gave ${why}`, 400, undefined)
  try {
    createSecureContext({ cert: chain, key })
  } catch {
    throw refuse('cannot be used with the key that it was asked for')
  }
  const leaf = new X509Certificate(chain)
  if (leaf.checkHost(name) === undefined) throw refuse('is for another name')
  if (Date.parse(leaf.validTo) <= now) throw refuse('has ended already')
}
