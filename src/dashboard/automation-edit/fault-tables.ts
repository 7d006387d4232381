import { maxHeaders } from '../../emails/index.js'
import { inQuotes } from '../shell/names.js'

type Called = (key: string) => string
type Words = string | ((parts: string[], called: Called) => string)

const alone = 'a {{ … }} stands alone, with a field in it, such as {{ trigger.name }}.'

/** What is wrong with one of the lines `name = value` of a field. */
const linesWords = (field: string, label: string, such: string): (readonly [RegExp, Words])[] => [
  [
    new RegExp(`^${field}\\.: Expected a name with its value, but got "((?:\\\\[^n]|[^\\\\"])*)`),
    ([got = '']) =>
      `${label}: ${inQuotes(got)} is no name = value. Write a line each, such as: ${such}.`,
  ],
  [
    new RegExp(`^${field}\\.(.*): Expected a name of 1 to 100`, 's'),
    ([name = '']) =>
      `${label}: nothing may be called ${inQuotes(name)}. A name has 1 to 100 characters.`,
  ],
  [
    new RegExp(
      `^${field}\\.(.*): (?:Nothing is filled|Expected a field|Expected one of contact)`,
      's',
    ),
    ([name = '']) => `${label}: in the line ${inQuotes(name)} ${alone}`,
  ],
]

// What the engine says of a field, as the form calls it; what has no row is said as it is.
const ofFields: readonly (readonly [RegExp, Words])[] = [
  [/^name: /, 'Name: 100 characters at most, in one line.'],
  [/^template: |^config\.template/, 'Choose a template.'],
  [/^from: /, 'From: an address such as Shop <news@shop.example>.'],
  [
    /^subject: Expected Liquid, but it cannot be read(?: at column (\d+))?/,
    ([column]) =>
      `Subject: what stands in {{ … }} cannot be read${column === undefined ? '' : `, from letter ${column} on`}. Write it such as {{ firstName | default: "there" }}.`,
  ],
  [/^subject: /, 'Subject: one line of at most 998 letters, fewer where they are not Latin.'],
  [/^replyTo/, 'Answers go to: an address such as help@shop.example.'],
  [
    /^headers: The header "([^"]*)" cannot be set: its name has to/,
    ([name = '']) =>
      `Headers: ${inQuotes(name)} is no name of a header. One has 1 to 76 letters, digits and signs, without a space, such as X-Shop.`,
  ],
  [
    /^headers: (The header .*)$/s,
    ([says = '']) => `Headers: ${says.replace(/ \(RFC [^)]*\)/g, '')}.`,
  ],
  [
    /^headers/,
    `Headers: a line each, such as: X-Shop: spring; at most ${maxHeaders}, each of 4 KiB, and 16 KiB together.`,
  ],
  [
    /^variables\.([^:]+): Every template/,
    ([name]) =>
      `What the mail is filled in with: every template has “${name}” already; choose another name.`,
  ],
  ...linesWords('variables', 'What the mail is filled in with', 'code = SPRING'),
  [
    /^variables/,
    'What the mail is filled in with: a line each, such as: code = SPRING, 16 KiB at most.',
  ],
  [/^duration: /, 'How long: a whole number, 1 or more, and 90 days at most.'],
  [/^timeout: /, 'How long at most: a whole number, 1 or more, and 90 days at most.'],
  [/^reentry/, 'That time: a whole number, and ten years at most.'],
  [/^until\.time/, 'Until: a time of day such as 09:00.'],
  [/^until\.zone/, 'In which time zone: a name such as Africa/Lagos.'],
  [/^date\.field/, 'Which field has the date: its name, such as birthday.'],
  [/^date\.days/, 'Days: a whole number, 365 at most.'],
  [/^date\.time/, 'At what time: a time of day such as 09:00.'],
  [/^date\.zone/, 'Time zone: a name such as Africa/Lagos, or empty.'],
  [/^eventName: /, 'Name of the event: 1 to 100 letters, digits, and _ . : -.'],
  [/^reason: /, 'Why it ends: 200 characters at most, in one line.'],
  [/^firstName: (?:Nothing is filled|Expected a field)/, `First name: ${alone}`],
  [/^lastName: (?:Nothing is filled|Expected a field)/, `Last name: ${alone}`],
  [/^firstName: /, 'First name: 200 characters at most, in one line.'],
  [/^lastName: /, 'Last name: 200 characters at most, in one line.'],
  [/^endpointId: Expected/, 'Choose where it is told.'],
  [/^endpointId: the account has/, 'This webhook is deleted; choose another.'],
  [/^branches: Expected percents/, 'The ways are not 100 % together.'],
  [/^branches/, 'A split has two to twenty ways, each from 0 to 100 %.'],
  ...linesWords('metadata', 'Fields', 'plan = pro'),
  [/^metadata/, 'Fields: a line each, such as: plan = pro, 16 KiB at most.'],
  [/^config: Expected/, 'Say what is changed.'],
]

// What holds for all steps.
const ofSettings: readonly (readonly [RegExp, Words])[] = [
  [
    /^settings\.exitOn(?:\[\d+\])?(?:\.eventName)?: /,
    'Events that end it for somebody: 20 at most, each with 1 to 100 letters, digits, and _ . : -.',
  ],
  [
    /^settings\.goal\.eventName: /,
    'The event that is its goal: 1 to 100 letters, digits, and _ . : -.',
  ],
  [/^settings\.goal\.to: /, 'Where the goal leads: this step is gone; choose another.'],
  [/^settings\.timeZone/, 'Time zone: a name such as Africa/Lagos, or empty.'],
  [/^settings\.sendWindow: from and to/, 'Mail leaves from … until: choose two different times.'],
  [/^settings\.sendWindow/, 'Mail leaves from … until: two times of day, such as 09:00 and 18:00.'],
  [/^settings\.maxPerHour/, 'Mails in any hour at most: a whole number, 1 or more.'],
  [
    /^settings\.onUnsubscribe/,
    'Who unsubscribes stays in it only where every mail is something they must know, and this one is news.',
  ],
]

// What is deleted, or not there yet.
const ofAccount: readonly (readonly [RegExp, Words])[] = [
  [/the account has no list /, 'This list is deleted, so nobody joins it; choose another.'],
  [/the account has no segment /, 'This segment is deleted; choose another.'],
  [/the account has no form /, 'This form is deleted; choose another.'],
  [
    /^The account has no template "([^"]*)"/,
    ([name]) => `There is no template “${name}” any more; choose another.`,
  ],
  [/^The account has no topic/, 'This topic is deleted; choose another, or none.'],
  [
    /^The sending domain (\S+) is not verified/,
    ([name]) =>
      `From: ${name} is none of your verified domains. Write an address on one of those, or verify this one.`,
  ],
  [
    /^Template "([^"]*)" needs "([^"]*)", which this step/,
    ([slug, name]) =>
      `The template “${slug}” needs “${name}”, and this step has nothing for it. Say it under “What the mail is filled in with”.`,
  ],
  [
    /^(The form “.*” asks strangers .*) Begin with "\$list\.joined"/s,
    ([says]) => `${says} Begin when somebody joins a list to meet them too.`,
  ],
  [
    /^A bounce that suppresses its address/,
    'It hears only of bounces that may pass, such as a full mailbox: who bounces for good gets nothing more.',
  ],
]

// How steps hang together.
const ofSteps: readonly (readonly [RegExp, Words])[] = [
  [
    /^field "[^"]*": "[^"]*" is not a send_email step/,
    'It asks about a mail that is gone from this automation; ask something else.',
  ],
  [
    /^field "[^"]*": "[^"]*" is not a wait_for_event step/,
    'It asks about something that is waited for no more; ask something else.',
  ],
  [
    /^field "[^"]*": no connections lead from "([^"]*)"/,
    ([key = ''], called) =>
      `It asks about ${inQuotes(called(key))}, which does not come before this step. Move that up, or ask something else.`,
  ],
  [
    /^No connections lead from the trigger/,
    'Nobody comes here: it stands below an end. Move the end down, or remove this.',
  ],
  [/^The trigger is not connected/, 'Nothing follows yet: add a step.'],
  [/^The automation has no trigger/, 'Nothing begins it.'],
  [
    /^A loop \((.*)\) needs/,
    ([keys = ''], called) =>
      `These steps go round without a pause: ${[...keys.matchAll(/"([^"]*)"/g)].map(([, key = '']) => inQuotes(called(key))).join(', ')}. Put a wait of a minute or more between them.`,
  ],
  [/^The definition may have/, 'It is larger than 256 KiB: remove steps, or make two of it.'],
]

const all = [...ofFields, ...ofSettings, ...ofAccount, ...ofSteps]

/** A fault that is not about a condition, in the words of the form; undefined for any other. */
export function faultInWords(error: string, called: Called): string | undefined {
  for (const [form, words] of all) {
    const found = form.exec(error)
    if (found === null) continue
    return typeof words === 'string' ? words : words(found.slice(1), called)
  }
  return undefined
}
