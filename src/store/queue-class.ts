/** Transactional mail goes before automations' mail, and that before campaigns'. */
export const queueClass = { transactional: 0, automation: 1, campaign: 2 } as const
export type QueueClass = (typeof queueClass)[keyof typeof queueClass]
