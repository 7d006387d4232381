/** Why people leave, as they may say afterwards. */
export const leaveReasons = ['too_many', 'not_wanted', 'never_asked', 'other'] as const
export type WhyLeft = (typeof leaveReasons)[number]
