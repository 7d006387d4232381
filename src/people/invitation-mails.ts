import type { Clock } from '../clock/index.js'

/** Holds back the mails by which people are invited: they leave in the appliance's own name, with an owner's words. */
export interface InvitationMails {
  /** Whether one more may leave; it then counts. */
  take(accountId: string, address: string): boolean
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
// Past ones are looked for once so many are remembered.
const mostKeys = 10_000

/** In memory: a restart forgets, and no owner can restart the appliance. */
export function makeInvitationMails(clock: Clock): InvitationMails {
  const sentAt = new Map<string, number[]>()

  function forgetPast(now: number): void {
    for (const [key, times] of sentAt) {
      if ((times.at(-1) ?? 0) + dayMs <= now) sentAt.delete(key)
    }
  }

  return {
    take(accountId, address) {
      const now = clock.now()
      const to = address.trim().toLowerCase()
      const rules = [
        { key: `account ${accountId}`, most: 20, withinMs: hourMs },
        { key: `both ${accountId} ${to}`, most: 3, withinMs: dayMs },
        // More than one account has, so that no other keeps it from mailing somebody.
        { key: `address ${to}`, most: 10, withinMs: dayMs },
      ].map(({ key, most, withinMs }) => {
        const times = (sentAt.get(key) ?? []).filter((at) => at > now - withinMs)
        return { key, times, isFull: times.length >= most }
      })
      if (rules.some(({ isFull }) => isFull)) return false
      if (sentAt.size > mostKeys) forgetPast(now)
      for (const { key, times } of rules) sentAt.set(key, [...times, now])
      return true
    },
  }
}
