/** Transactional before automation before campaign. */
export const queueClass = { transactional: 0, automation: 1, campaign: 2 } as const
export type QueueClass = (typeof queueClass)[keyof typeof queueClass]
