import type { StepFault } from '../../automations/index.js'

// What the engine says of a field, as the form calls it; what has no row is said as it is.
const words: readonly (readonly [RegExp, string])[] = [
  [/^template: |^config\.template/, 'Choose a template.'],
  [/^from: /, 'From: an address such as Shop <news@shop.example>.'],
  [/^subject: /, 'Subject: 1 to 998 characters in one line.'],
  [/^replyTo/, 'Answers go to: an address such as help@shop.example.'],
  [/^duration: /, 'How long: a whole number, and 90 days at most.'],
  [/^timeout: /, 'How long at most: a whole number, and 90 days at most.'],
  [/^reentry/, 'That time: a whole number, and ten years at most.'],
  [/^until\.time/, 'Until: a time of day such as 09:00.'],
  [/^until\.zone/, 'In which time zone: a name such as Africa/Lagos.'],
  [/^date\.field/, 'Which field has the date: its name, such as birthday.'],
  [/^date\.days/, 'Days: a whole number, 365 at most.'],
  [/^date\.time/, 'At what time: a time of day such as 09:00.'],
  [/^date\.zone/, 'Time zone: a name such as Africa/Lagos, or empty.'],
  [/^eventName: /, 'Name of the event: 1 to 100 letters, digits, and _ . : -.'],
  [/the account has no list /, 'This list is deleted, so nobody joins it; choose another.'],
  [/the account has no segment /, 'This segment is deleted; choose another.'],
  [/the account has no form /, 'This form is deleted; choose another.'],
  [/^endpointId: Expected/, 'Choose where it is told.'],
  [/^endpointId: the account has/, 'This webhook is deleted; choose another.'],
  [/^branches: Expected percents/, 'The ways are not 100 % together.'],
  [/^branches/, 'A split has two to twenty ways, each from 0 to 100 %.'],
  [/^metadata/, 'Fields: a line each, such as: plan = pro, 16 KiB at most.'],
  [/^config: Expected/, 'Say what is changed.'],
  [
    /^No connections lead from the trigger/,
    'Nobody comes here: it stands below an end. Move the end down, or remove this.',
  ],
  [/^The trigger is not connected/, 'Nothing follows yet: add a step.'],
]

// What the checker says of a condition, as the form calls it.
const ofConditions: readonly (readonly [RegExp, string])[] = [
  [/^Expected a text that is not empty/, 'say what it is compared with.'],
  [/^Expected eq with true or false/, 'this holds or does not hold; choose one of these two.'],
  [
    /^Expected no \S+: this field is a time/,
    'this is a time; choose “was in the last”, or “is more than, or after” with a date.',
  ],
  [/^Expected a date such as|^Expected a number or a date/, 'write a date, such as 2026-12-31.'],
  [/^Expected a duration/, 'write how long, such as 30 days or 2 weeks.'],
  [
    /^Expected (a text|no \S+): this field/,
    'this is a text; choose “is”, “contains” or another way to compare texts.',
  ],
  [/^Expected an array of rules/, 'add one: without a condition nothing is asked.'],
]

const conditionWords = (says: string): string =>
  ofConditions.find(([form]) => form.test(says))?.[1] ?? says

/** What is wrong at a step, in the words of its card. */
export function faultWords({ error }: StepFault): string {
  const found = words.find(([form]) => form.test(error))
  if (found !== undefined) return found[1]
  const [, place, says = ''] =
    /^(?:filter\.?)?((?:all|any|\[\d+\]|\.|not)+)[^:]*: (.*)$/s.exec(error) ?? []
  if (place === undefined) return error
  const plain = conditionWords(says)
  const numbers = [...place.matchAll(/\[(\d+)\]/g)].map(([, n]) => Number(n) + 1)
  return numbers.length === 0 ? `Conditions: ${plain}` : `Condition ${numbers.join('.')}: ${plain}`
}
