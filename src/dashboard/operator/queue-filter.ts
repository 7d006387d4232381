import { chosenDeliveries } from '../../broadcasts/index.js'
import { dayMs } from '../../clock/index.js'
import { classNames, type QueueFilter } from '../../deliveries/index.js'
import { ApiError, OperatorError } from '../../errors/index.js'
import type { Read } from '../../store/index.js'

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

/** The choice as ids and numbers. */
async function chosenIn(read: Read, choice: QueueChoice, now: number): Promise<QueueFilter> {
  const { held, older } = choice
  const by = {
    email: choice.email || undefined,
    account: choice.account || undefined,
    campaign: choice.campaign || undefined,
    domain: choice.domain || undefined,
    class: classIn(choice),
    olderThanMs: ageMs[older],
  }
  const chosen = await chosenDeliveries(read, by, now)
  return held === '' ? chosen : { ...chosen, held: held === 'yes' }
}

const classIn = (choice: QueueChoice) => classNames.find((one) => one === choice.class)

/** The options of commands that make this choice. */
export const optionsOf = (choice: QueueChoice) => ({
  domain: choice.domain,
  account: choice.account,
  class: classIn(choice),
  campaign: choice.campaign,
  email: choice.email,
  olderThan: choice.older,
})
