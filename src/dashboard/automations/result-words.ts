import { endingWords } from '../../automations/index.js'
import { inQuotes } from '../shell/names.js'

/** The result of a step: as a line of a history, for one person in a trial, and for a number of people. */
interface Words {
  line: string
  one: string
  some: string
}

const words: Readonly<Record<string, Words>> = {
  started: { line: 'Began', one: 'they enter', some: 'enter' },
  sent: { line: 'The mail was made', one: 'the mail is sent', some: 'are sent the mail' },
  waited: { line: 'The wait is over', one: 'the wait is over', some: 'have waited' },
  waiting: { line: 'Waits', one: 'they wait', some: 'wait' },
  running: { line: 'Still in it', one: 'they are still in it', some: 'are still in it' },
  met: { line: 'Yes', one: 'yes', some: 'yes' },
  not_met: { line: 'No', one: 'no', some: 'no' },
  received: { line: 'It came', one: 'it came', some: 'it came' },
  timed_out: {
    line: 'It did not come in time',
    one: 'it did not come in time',
    some: 'it did not come',
  },
  completed: { line: 'Came to the end', one: 'they come to the end', some: 'come to the end' },
  exited: { line: 'Left', one: 'they leave', some: 'leave' },
  stepped: {
    line: 'Ended by a step',
    one: 'a step ends it',
    some: 'are through, as a step ends it',
  },
  cancelled: { line: 'Taken out', one: 'they are taken out', some: 'are taken out' },
  updated: { line: 'The contact was changed', one: 'the contact is changed', some: 'are changed' },
  queued: {
    line: 'Your application is told',
    one: 'your application is told',
    some: 'your application is told',
  },
  skipped: { line: 'Passed over', one: 'it is passed over', some: 'are passed over' },
  failed: { line: 'Failed', one: 'it fails', some: 'fail' },
  goal: { line: 'Reached the goal', one: 'they reach the goal', some: 'reach the goal' },
  exit: { line: 'The end', one: 'they leave here', some: 'leave here' },
  branch: { line: 'Went the way', one: 'they go the way', some: 'go the way' },
  ended: { line: 'Ended', one: 'it ends for them', some: 'are through' },
  blocked: { line: 'Could not go on', one: 'it cannot go on', some: 'cannot go on' },
  moved: { line: 'Moved to another version', one: 'they are moved', some: 'are moved' },
  released: { line: 'Goes on after it was held', one: 'they go on', some: 'go on' },
  cut: { line: 'Lines that were left out', one: 'lines that are left out', some: 'are left out' },
}

// Why a step cannot be taken yet, in the account's words.
const blocks: Readonly<Record<string, string>> = {
  suspended: 'the account is suspended',
  quota: 'the mails of your plan are used up',
  paused: 'sending is paused',
  domain: 'the sender’s domain is not verified',
  plan: 'the account has no plan for it',
  queue_full: 'this server has too much mail to send',
  window: 'its hours for mail have not begun',
  cap: 'it has sent its mails of this hour',
  retry: 'the last attempt failed',
}

/** Why a step cannot be taken yet, or why somebody is held. */
export const blockWords = (reason: string): string => blocks[reason] ?? reason

// Why a step was passed over, or came to nothing.
const passings: Readonly<Record<string, string>> = {
  left_topic: 'they have left its topic',
  overdue: 'its time came while the automation was paused',
  invalid_value: 'what was to be set does not fit the field',
  endpoint: 'there is no such webhook any more',
  no_webhooks: 'the account’s plan has no webhooks',
  unchanged: 'nothing was new',
}

const releases: Readonly<Record<string, string>> = {
  shift: 'later by as long as that was',
  now: 'at once',
  skip: 'at once, without its mail',
}

// Why somebody has left, in the words of pages; a reason that an author wrote into a step stays as it is.
const leavings: Readonly<Record<string, string>> = {
  exit_step: 'a step ends it',
  exit_rule: 'an event came that ends it',
  goal: 'they reached the goal',
  unsubscribed: 'they unsubscribed',
  bounced: 'their address bounced',
  complained: 'they complained',
  suppressed: 'their address is suppressed',
  deleted: 'the contact was deleted',
  expired: 'they had been in it for 400 days',
  timed_out: 'what was waited for did not come',
  limit: 'they took 1,000 steps, or 100 mails were made',
  template_missing: 'there is no such template any more',
  topic_archived: 'its topic is archived or deleted',
  api: 'by the API',
  team: 'by somebody of the team',
  operator: 'by the operator of this server',
  archived: 'the automation was archived',
}

/** Why somebody has left. */
export const leavingWords = (reason: string): string =>
  isOurs(reason) ? (leavings[reason] ?? reason) : unmadeWords(endingWords(reason))

/** Why a mail could not be made: a run tells it as `render: …`, and a trial without that. */
export function unmadeWords(reason: string): string {
  const [, fault = reason] = /^render: (.*)$/s.exec(reason) ?? []
  const isOfRun = fault !== reason
  // An author may end a run with 'stock is missing', which is not about a template.
  const wants = isOfRun
    ? /^(?:the variable )?"?([\w.-]+)"? is missing$/
    : /^the variable "(.*)" is missing$/
  const [, name] = wants.exec(fault) ?? []
  if (name !== undefined) {
    return `the template of its mail needs “${name}”, and the step has nothing for it`
  }
  const [, gone] = /^The account has no template "(.*)"$/.exec(fault) ?? []
  if (gone !== undefined) return `there is no template “${gone}” any more`
  return isOfRun ? `its mail could not be made: ${fault}` : reason
}

// An author's reason may be called like a property of every object, such as `constructor`.
const isOurs = (reason: string) => Object.hasOwn(leavings, reason)

const atExit = 'exit_step'

/**
 * Whether a step of the flow ended the run, by the reason of an end that is `exited`: the author may have written a
 * reason of their own, which is none of this server's.
 */
const isByStep = (reason: string): boolean => reason === atExit || !isOurs(reason)

/** The kind of an end: only some of the `exited` ones are people who have left. */
function kindOfEnd(status: string, reason: string | null | undefined): string {
  if (status !== 'exited' || reason == null) return status
  if (isByStep(reason) || reason === 'timed_out') return 'stepped'
  return reason === 'exit_rule' || reason === 'goal' ? 'ended' : status
}

/** `Left`, `Ended by a step` … and why, as a `line` of a history, for `one` person or for `some`. */
export function endWords(
  status: string,
  reason: string | null | undefined,
  who: keyof Words,
): string {
  const said = words[kindOfEnd(status, reason)]?.[who] ?? status
  return reason == null || reason === atExit ? said : `${said}: ${leavingWords(reason)}`
}

/** An end without why. */
export const endLine = (status: string, reason: string | null | undefined): string =>
  words[kindOfEnd(status, reason)]?.line ?? status

/** A result with its detail (`skipped:left_topic`, `ended:goal`), as a `line` of a history, for `one` person or `some`. */
export function resultWords(result: string, who: keyof Words): string {
  const [kind = '', ...more] = result.split(':')
  const rest = more.join(':')
  const said = words[kind]?.[who] ?? kind.replace(/_/g, ' ')
  if (rest === '') return said
  if (kind === 'ended') return endWords('exited', rest, who)
  const version = kind === 'moved' && /^v(\d+)$/.exec(rest)?.[1]
  if (version)
    return who === 'line' ? `Moved to version ${version}` : `${said} to version ${version}`
  if (kind === 'branch') return `${said} ${inQuotes(rest)}`
  const why = addedWords(kind, rest)
  return who === 'line' ? `${said}: ${why}` : `${said} (${why})`
}

function addedWords(kind: string, rest: string): string {
  if (kind === 'blocked') return blockWords(rest)
  if (kind === 'released') return releases[rest] ?? rest
  return passings[rest] ?? leavingWords(rest)
}
