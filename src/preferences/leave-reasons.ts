/** Why people leave, as they may say afterwards. */
export const leaveReasons = ['too_many', 'not_wanted', 'never_asked', 'other'] as const
export type WhyLeft = (typeof leaveReasons)[number]

/** The same in words, for whoever reads the answers; `words`: they chose no reason, and wrote something. */
export const leaveWords: Readonly<Record<string, string>> = {
  too_many: 'too many mails',
  not_wanted: 'not wanted any more',
  never_asked: 'never asked for',
  other: 'something else',
  words: 'in their own words',
}
