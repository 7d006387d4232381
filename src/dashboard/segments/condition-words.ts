import type { RuleFault, RuleFaultCode } from '../../rules/index.js'

// What is wrong with a condition, as forms call it.
const words: Readonly<Record<RuleFaultCode, string>> = {
  field: 'choose what it is about',
  operator: 'choose how it is compared',
  noValue: 'say what it is compared with',
  longText: 'the text is too long',
  truth: 'this holds or does not hold; choose one of these two',
  time: 'this is a time; choose “was in the last”, or “is before” or “is on or after” with a date',
  date: 'this is a date; choose “is”, “is before” or “is on or after”, or how long ago it was',
  number: 'this is a number; choose “is”, “is at least” or another way to compare numbers',
  text: 'this is a text; choose “is”, “contains” or another way to compare texts',
  wholeNumber: 'write a whole number, 0 or more',
  aNumber: 'write a number, such as 3 or 2.5',
  aDate: 'write a date, such as 2026-12-31',
  numberOrDate: 'write a number, or a date such as 2026-12-31',
  duration: 'write how long, such as 30 days or 2 weeks',
  noRules: 'add one: without a condition nothing is asked',
  tooDeep: 'there are too many groups in groups',
  tooMany: 'there are too many conditions and groups',
  tooLong: 'the values are too long, all of them together',
}

/** What is wrong with a condition, without a full stop; what no form can write is said as the checker says it. */
export function conditionWords({ code, message, most }: RuleFault): string {
  if (code === undefined) return message
  return code === 'longText' && most !== undefined
    ? `write at most ${most} characters`
    : words[code]
}
