import type { FaultPart, StepFaultCode } from '../../automations/index.js'
import { maxHeaders } from '../../emails/index.js'
import { inQuotes } from '../shell/names.js'

type Called = (key: string) => string
type Words = string | ((part: FaultPart, called: Called) => string)

/** The name that a fault mentions. */
const named = ({ names = [] }: FaultPart) => names[0] ?? ''
/** The name of the line `name = value` where the fault is. */
const lineOf = ({ place }: FaultPart) => place.at(-1) ?? ''

const alone = 'a {{ … }} stands alone, with a field in it, such as {{ trigger.name }}.'

// The form's labels for fields of lines `name = value`, and for the field of a name.
const labels: Readonly<Record<string, { label: string; such: string }>> = {
  variables: { label: 'What the mail is filled in with', such: 'code = SPRING' },
  metadata: { label: 'Fields', such: 'plan = pro' },
  firstName: { label: 'First name', such: '' },
  lastName: { label: 'Last name', such: '' },
}
const labelOf = ({ place }: FaultPart) => labels[place[0] ?? ''] ?? { label: 'Fields', such: '' }

const listGone = 'This list is deleted, so nobody joins it; choose another.'

/** The words for each fault that has a code of its own. */
const ofCodes: Readonly<Record<StepFaultCode, Words>> = {
  strayLine: (part) =>
    `${labelOf(part).label}: ${inQuotes(named(part))} is no name = value. Write a line each, such as: ${labelOf(part).such}.`,
  badName: (part) =>
    `${labelOf(part).label}: nothing may be called ${inQuotes(lineOf(part))}. A name has 1 to 100 characters.`,
  noField: (part) =>
    part.place.length > 1
      ? `${labelOf(part).label}: in the line ${inQuotes(lineOf(part))} ${alone}`
      : `${labelOf(part).label}: ${alone}`,
  takenName: (part) =>
    `What the mail is filled in with: every template has “${lineOf(part)}” already; choose another name.`,
  headerName: (part) =>
    `Headers: ${inQuotes(named(part))} is no name of a header. One has 1 to 76 letters, digits and signs, without a space, such as X-Shop.`,
  // References for programmers stand in brackets, and are left out.
  header: ({ says }) => `Headers: ${says.replace(/ \(RFC [^)]*\)/g, '')}.`,
  brokenSubject: (part) =>
    `Subject: what stands in {{ … }} cannot be read${named(part) === '' ? '' : `, from letter ${named(part)} on`}. Write it such as {{ firstName | default: "there" }}.`,
  percents: 'The ways are not 100 % together.',
  sameTimes: 'Mail leaves from … until: choose two different times.',
  notTransactional:
    'Who unsubscribes stays in it only where every mail is something they must know, and this one is news.',
  noList: listGone,
  noSegment: 'This segment is deleted; choose another.',
  noForm: 'This form is deleted; choose another.',
  noEndpoint: 'This webhook is deleted; choose another.',
  noTemplate: (part) => `There is no template “${named(part)}” any more; choose another.`,
  noTopic: 'This topic is deleted; choose another, or none.',
  unverified: (part) =>
    `From: ${named(part)} is none of your verified domains. Write an address on one of those, or verify this one.`,
  needsVariable: ({ names: [slug = '', name = ''] = [] }) =>
    `The template “${slug}” needs “${name}”, and this step has nothing for it. Say it under “What the mail is filled in with”.`,
  noConfirmation: (part) =>
    `The form “${named(part)}” asks strangers for no confirmation: they confirm nothing, and join its lists at once. Begin when somebody joins a list to meet them too.`,
  bounceHears:
    'It hears only of bounces that may pass, such as a full mailbox: who bounces for good gets nothing more.',
  noMailStep: 'It asks about a mail that is gone from this automation; ask something else.',
  noWaitStep: 'It asks about something that is waited for no more; ask something else.',
  notBefore: (part, called) =>
    `It asks about ${inQuotes(called(named(part)))}, which does not come before this step. Move that up, or ask something else.`,
  unreached: 'Nobody comes here: it stands below an end. Move the end down, or remove this.',
  nothingFollows: 'Nothing follows yet: add a step.',
  noTrigger: 'Nothing begins it.',
  loop: ({ names = [] }, called) =>
    `These steps go round without a pause: ${names.map((key) => inQuotes(called(key))).join(', ')}. Put a wait of a minute or more between them.`,
  tooLarge: 'It is larger than 256 KiB: remove steps, or make two of it.',
}

const duration = 'a whole number, 1 or more, and 90 days at most.'
const exitEvents =
  'Events that end it for somebody: 20 at most, each with 1 to 100 letters, digits, and _ . : -.'
const twoTimes = 'Mail leaves from … until: two times of day, such as 09:00 and 18:00.'

// For faults without a code the place decides the words; the longest place that fits counts.
const ofPlaces: Readonly<Record<string, string>> = {
  name: 'Name: 100 characters at most, in one line.',
  template: 'Choose a template.',
  from: 'From: an address such as Shop <news@shop.example>.',
  subject: 'Subject: one line of at most 998 letters, fewer where they are not Latin.',
  replyTo: 'Answers go to: an address such as help@shop.example.',
  headers: `Headers: a line each, such as: X-Shop: spring; at most ${maxHeaders}, each of 4 KiB, and 16 KiB together.`,
  variables:
    'What the mail is filled in with: a line each, such as: code = SPRING, 16 KiB at most.',
  duration: `How long: ${duration}`,
  timeout: `How long at most: ${duration}`,
  reentry: 'That time: a whole number, and ten years at most.',
  'until.time': 'Until: a time of day such as 09:00.',
  'until.zone': 'In which time zone: a name such as Africa/Lagos.',
  'date.field': 'Which field has the date: its name, such as birthday.',
  'date.days': 'Days: a whole number, 365 at most.',
  'date.time': 'At what time: a time of day such as 09:00.',
  'date.zone': 'Time zone: a name such as Africa/Lagos, or empty.',
  eventName: 'Name of the event: 1 to 100 letters, digits, and _ . : -.',
  reason: 'Why it ends: 200 characters at most, in one line.',
  firstName: 'First name: 200 characters at most, in one line.',
  lastName: 'Last name: 200 characters at most, in one line.',
  endpointId: 'Choose where it is told.',
  branches: 'A split has two to twenty ways, each from 0 to 100 %.',
  metadata: 'Fields: a line each, such as: plan = pro, 16 KiB at most.',
  '': 'Say what is changed.',
  'settings.exitOn': exitEvents,
  'settings.exitOn.eventName': exitEvents,
  'settings.goal.eventName': 'The event that is its goal: 1 to 100 letters, digits, and _ . : -.',
  'settings.goal.to': 'Where the goal leads: this step is gone; choose another.',
  'settings.timeZone': 'Time zone: a name such as Africa/Lagos, or empty.',
  'settings.sendWindow': twoTimes,
  'settings.maxPerHour': 'Mails in any hour at most: a whole number, 1 or more.',
}

const hasOwn = <K extends string>(table: Readonly<Record<K, unknown>>, key: string): key is K =>
  Object.hasOwn(table, key)

/** A fault that is not about a condition, in the words of the form; undefined for any other. */
export function faultInWords(part: FaultPart, called: Called): string | undefined {
  const { code, place } = part
  if (code !== undefined && hasOwn(ofCodes, code)) {
    const words = ofCodes[code]
    return typeof words === 'string' ? words : words(part, called)
  }
  if (code !== undefined) return undefined
  // The number of an item does not matter here.
  const names = place.filter((name) => !/^\d+$/.test(name))
  if (names.length === 0) return ofPlaces['']
  for (let end = names.length; end > 0; end--) {
    const words = ofPlaces[names.slice(0, end).join('.')]
    if (words !== undefined) return words
  }
  return undefined
}
