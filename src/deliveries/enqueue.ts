import type { Insertable } from 'kysely'
import { behaviourOf, isSimulated } from '../simulator/index.js'
import {
  isTestId,
  preparedInsertAll,
  type QueueClass,
  type QueueRow,
  type Read,
  type Tx,
} from '../store/index.js'
import { erasedAlone, suppressedAmong } from '../suppression/index.js'
import { optedOutAmong } from '../topics/index.js'
import { never } from './hold.js'

export interface NewDelivery {
  id: number
  emailId: string
  accountId: string
  recipient: string
  /** The recipient's domain, A-label, lower case. */
  lane: string
  class: QueueClass
  dueAt: number
  expiresAt: number
  /** Held from the beginning: when, and why. */
  held?: { at: number; reason: string } | undefined
}

/** The lane of all test mail. No domain has a blank in it, so that no address leads there. */
export const testLane = 'test inbox'

/** The lane of a mail's delivery to this domain; mail of a test key has its own, but for the simulator's recipients. */
export const laneOf = (emailId: string, domain: string): string =>
  isTestId(emailId) && !isSimulated(domain) ? testLane : domain

const insertQueued = preparedInsertAll('queue')
// Few ever are, and each column that is bound takes its time.
const insertHeld = preparedInsertAll('queue')

/** Puts deliveries into the queue; the caller writes the email in the same transaction. */
export async function enqueue(tx: Tx, deliveries: readonly NewDelivery[]): Promise<void> {
  const held = deliveries.filter((one) => one.held !== undefined)
  if (held.length === 0) {
    await insertQueued(tx, deliveries.map(toRow))
    return
  }
  await insertQueued(tx, deliveries.filter((one) => one.held === undefined).map(toRow))
  await insertHeld(tx, held.map(toHeldRow))
}

/** What is not named is null: each value that is bound takes its time. */
function toRow(delivery: NewDelivery): Insertable<QueueRow> {
  return {
    id: delivery.id,
    email_id: delivery.emailId,
    account_id: delivery.accountId,
    recipient: delivery.recipient,
    lane: delivery.lane,
    class: delivery.class,
    due_at: delivery.dueAt,
    attempts: 0,
    expires_at: delivery.expiresAt,
  }
}

/** As `hold` leaves a row: due never, and once it is released when it would have been. */
function toHeldRow(delivery: NewDelivery): Insertable<QueueRow> {
  const { held, dueAt } = delivery
  return {
    ...toRow(delivery),
    due_at: never,
    held_at: held?.at ?? dueAt,
    held_reason: held?.reason ?? '',
    held_by: 'surge',
    held_due_at: dueAt,
  }
}

/** Mail of this account, type and topic. */
interface BlockedFrom {
  accountId: string
  type: 'transactional' | 'marketing'
  topicId?: string | null | undefined
  /** It asks for a confirmation, which may go to who was erased and asks for mail again. */
  isConfirmation?: boolean | undefined
}

/**
 * Which of `addresses` must not get a mail of this type and topic, spelled as given. Asked when a
 * mail is accepted and again when a delivery leaves: they may have bounced or left since.
 */
export async function blockedAmong(
  read: Read,
  mail: BlockedFrom,
  addresses: readonly string[],
): Promise<Set<string>> {
  const blocked = await suppressedAmong(read, mail.accountId, addresses, mail.type)
  if (mail.isConfirmation && blocked.size > 0) {
    for (const one of await erasedAlone(read, mail.accountId, [...blocked])) blocked.delete(one)
  }
  for (const address of addresses) {
    if (behaviourOf(address)?.kind === 'suppressed') blocked.add(address)
  }
  if (mail.topicId == null) return blocked
  const left = await optedOutAmong(read, mail.accountId, mail.topicId, addresses)
  return new Set([...blocked, ...left])
}

/** A mail of a kind, and whom it would go to. */
export interface AddressedMail extends BlockedFrom {
  addresses: readonly string[]
}

/**
 * For each of these mails the set that `blockedAmong` gives, with one look for all of an account, type and topic:
 * that set may have addresses of the others, too.
 */
export async function blockedOfEach(
  read: Read,
  mails: readonly AddressedMail[],
): Promise<ReadonlySet<string>[]> {
  const kinds: { first: AddressedMail; addresses: string[]; blocked: ReadonlySet<string> }[] = []
  // Mails that are written together are of few kinds, mostly of one.
  const kindOfEach = mails.map((mail) => {
    const known = kinds.find(({ first }) => isOfKind(mail, first))
    const kind = known ?? { first: mail, addresses: [], blocked: new Set<string>() }
    if (known === undefined) kinds.push(kind)
    kind.addresses.push(...mail.addresses)
    return kind
  })
  for (const each of kinds) each.blocked = await blockedAmong(read, each.first, each.addresses)
  return kindOfEach.map(({ blocked }) => blocked)
}

const isOfKind = (a: BlockedFrom, b: BlockedFrom) =>
  a.accountId === b.accountId &&
  a.type === b.type &&
  (a.topicId ?? '') === (b.topicId ?? '') &&
  (a.isConfirmation ?? false) === (b.isConfirmation ?? false)
