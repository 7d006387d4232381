import type { MailEvent } from '../events/index.js'
import type { EmailRecord } from './read.js'

/** What happened to a mail, in the order of time. */
export interface Happening {
  /** In ms. */
  at: number
  what: MailEvent['type'] | 'accepted' | 'cancelled'
  recipient: string | null
  deliveryId: number | null
  /** Word for word. */
  reply: string | null
  /** What was concluded from it, and by which rule; of an open or click who asked, and for what. */
  means: string
  /** Of an open or click: a machine made it, so it counts for nothing. */
  byMachine: boolean
}

/** From its acceptance on: events, and beside them what ended without one, for it was never tried. */
export function timelineOf(email: EmailRecord, events: readonly MailEvent[]): Happening[] {
  const told = new Set(events.map(({ type, recipient }) => `${type} ${recipient}`))
  const silent = { deliveryId: null, reply: null, means: '', byMachine: false }
  const untried = email.recipients.flatMap(({ email: recipient, status, updatedAt }) => {
    if (status !== 'suppressed' && status !== 'cancelled') return []
    if (told.has(`${status} ${recipient}`)) return []
    return [{ ...silent, at: Date.parse(updatedAt ?? email.createdAt), what: status, recipient }]
  })
  const rows: Happening[] = [
    { ...silent, at: Date.parse(email.createdAt), what: 'accepted', recipient: null },
    ...untried,
    ...events.map((event) => ({
      at: event.at,
      what: event.type,
      recipient: event.recipient,
      deliveryId: event.deliveryId,
      reply: event.reply,
      means: meaningOf(event),
      byMachine: event.detail?.machine === true,
    })),
  ]
  return rows.sort((a, b) => a.at - b.at)
}

/** Of a complaint: whether it provably comes from a feedback loop. */
function meaningOf({ type, detail }: MailEvent): string {
  if (type === 'opened' || type === 'clicked') {
    const who = detail?.machine ? `[machine: ${detail.sign ?? 'unknown'}]` : detail?.userAgent
    return [detail?.url, who].filter(Boolean).join('  ')
  }
  if (type === 'complained') {
    const { feedbackType, evidence } = detail ?? {}
    const proof = evidence === undefined ? 'unproved' : `proved, ${evidence}`
    return `[${[feedbackType, proof].filter(Boolean).join(', ')}]`
  }
  const { bounceType, bounceClass, rule } = detail ?? {}
  const words = [bounceType, bounceClass, rule === undefined ? undefined : `rule ${rule}`]
  const known = words.filter((word) => word !== undefined)
  return known.length === 0 ? '' : `[${known.join(', ')}]`
}
