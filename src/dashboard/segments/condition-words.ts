// What the checker of rules says of a condition, as forms call it.
const table: readonly (readonly [RegExp, string])[] = [
  [/^Expected a text that is not empty/, 'say what it is compared with'],
  [/^Expected eq with true or false/, 'this holds or does not hold; choose one of these two'],
  [
    /^Expected no \S+: this field is a time/,
    'this is a time; choose “was in the last”, or “is before” or “is on or after” with a date',
  ],
  [
    /^Expected no \S+: this field is a date/,
    'this is a date; choose “is”, “is before” or “is on or after”, or how long ago it was',
  ],
  [
    /^Expected no \S+: this field is a number/,
    'this is a number; choose “is”, “is at least” or another way to compare numbers',
  ],
  [/^Expected a whole number/, 'write a whole number, 0 or more'],
  [/^Expected a number, such as/, 'write a number, such as 3 or 2.5'],
  [/^Expected a date such as/, 'write a date, such as 2026-12-31'],
  [/^Expected a number or a date/, 'write a number, or a date such as 2026-12-31'],
  [/^Expected a duration/, 'write how long, such as 30 days or 2 weeks'],
  [
    /^Expected (a text|no \S+): this field/,
    'this is a text; choose “is”, “contains” or another way to compare texts',
  ],
  [/^Expected texts of at most (\d+)/, 'write at most $1 characters'],
  [/^Expected an array of rules/, 'add one: without a condition nothing is asked'],
  [/^Expected rules that are nested/, 'there are too many groups in groups'],
  [/^Expected at most \d+ parts/, 'there are too many conditions and groups'],
  [/^Expected a rule of at most/, 'the values are too long, all of them together'],
  [/^Expected one of eq\b/, 'choose how it is compared'],
  [/^Expected (one of|list|topic|segment|broadcast|event|a field)\b/, 'choose what it is about'],
]

/** What is wrong with a condition, without a full stop; what is not known as the checker says it. */
export function conditionWords(says: string): string {
  for (const [form, words] of table) {
    const found = form.exec(says)
    if (found !== null) return words.replace('$1', found[1] ?? '')
  }
  return says
}
