import { domainToASCII } from 'node:url'
import { findAccount } from '../../accounts/index.js'
import { findAnyBroadcast } from '../../broadcasts/index.js'
import { dayMs } from '../../clock/index.js'
import { classNames, type QueueFilter } from '../../deliveries/index.js'
import { ApiError, OperatorError } from '../../errors/index.js'
import { queueClass, type Read } from '../../store/index.js'

/** The choice from the queue, as in the address of its page: all are texts, empty where nothing is chosen. */
export type QueueChoice = Record<(typeof choices)[number], string>

const choices = ['domain', 'account', 'class', 'campaign', 'email', 'older', 'held'] as const

/** The choice in an address or a form; `get` reads one field. */
export function choiceIn(get: (name: string) => string | null | undefined): QueueChoice {
  const of = (name: string) => get(name)?.trim() ?? ''
  return Object.fromEntries(choices.map((name) => [name, of(name)])) as QueueChoice
}

/** Whether anything is chosen: a change of the whole queue is described in other words. */
export const isChosen = (choice: QueueChoice) => choices.some((name) => choice[name] !== '')

/** Mail that was accepted longer ago than this. */
export const ages = ['10m', '1h', '6h', '1d', '3d'] as const
// In ms, by the names in `ages`.
const ageMs: Record<string, number> = {
  '10m': 6e5,
  '1h': 36e5,
  '6h': 216e5,
  '1d': dayMs,
  '3d': 2592e5,
}

/** Throws a 422 that says which value is not an account, not a domain, and so on. */
export async function filterOf(read: Read, choice: QueueChoice, now: number): Promise<QueueFilter> {
  try {
    return await chosenIn(read, choice, now)
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    throw new ApiError('validation_error', error.message, { status: 422 })
  }
}

/** The choice as ids and numbers. A name that is not found throws an `OperatorError`, as in the command. */
async function chosenIn(read: Read, choice: QueueChoice, now: number): Promise<QueueFilter> {
  const { domain, account, campaign, email, older, held } = choice
  const name = classNames.find((one) => one === choice.class)
  const age = ageMs[older]
  return {
    ...(email !== '' && { emailId: emailIdIn(email) }),
    ...(account !== '' && { accountId: (await findAccount(read, account)).id }),
    ...(campaign !== '' && { broadcastId: (await findAnyBroadcast(read, campaign)).id }),
    ...(domain !== '' && { lane: laneIn(domain) }),
    ...(name !== undefined && { class: queueClass[name] }),
    ...(age !== undefined && { acceptedBefore: now - age }),
    ...(held !== '' && { held: held === 'yes' }),
  }
}

/** The options of commands that make this choice. */
export const optionsOf = ({ domain, account, campaign, email, older, ...more }: QueueChoice) => ({
  domain,
  account,
  class: classNames.find((one) => one === more.class),
  campaign,
  email,
  olderThan: older,
})

function emailIdIn(given: string): string {
  const id = given.toLowerCase()
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) return id
  throw new OperatorError(`"${given}" is not the id of an email`)
}

/** RFC 5890 §2.3.2: a lane has the ASCII form of its domain. */
function laneIn(given: string): string {
  const lane = domainToASCII(given).toLowerCase()
  if (lane === '') throw new OperatorError(`"${given}" is not a domain name`)
  return lane
}
