import { allSourceAddresses, type Config } from '../../config/index.js'
import type { Read } from '../../store/index.js'
import { bulkLimit, policyFor, rampLimit, type ShapingData } from '../shaping/index.js'
import { sourcesInWarmUp } from './explain-site.js'

/** How fast campaigns may leave before any has: as fast as the limits for receivers and the warm-up allow. */
export interface FirstPace {
  /** Mails an hour. */
  perHour: number
  /** Mails of a day from today (0) on; infinite where no address is in its warm-up. */
  onDay(ahead: number): number
}

interface PaceDeps {
  read: Read
  now: number
  data: ShapingData
  config: Pick<Config, 'outbound' | 'node' | 'store'>
}

// What an appliance of two processors sends with room to spare, whatever receivers take (Nov 2026: some 500 a second).
const ownPerMinute = 6_000
// A receiver takes a second or less for a mail, on each of its connections.
const perConnection = 60
// A fifth of connections and rates is kept for transactional mail (`config/shaping.toml`).
const forCampaigns = 0.8

/** `shares`: which part of the mails is for each provider, or domain; together 1. */
export async function firstPace(
  { read, now, data, config }: PaceDeps,
  shares: ReadonlyMap<string, number>,
): Promise<FirstPace> {
  if (config.outbound.route === 'sandbox') {
    return { perHour: ownPerMinute * 60, onDay: () => Number.POSITIVE_INFINITY }
  }
  const sources = Math.max(1, allSourceAddresses(config.outbound).length)
  let perMinute = ownPerMinute
  for (const [name, share] of shares) {
    const key = name.toLowerCase()
    const provider = data.providers.has(key) ? key : undefined
    const domain = data.domains.has(key) ? key : undefined
    const { messagesPerMinute, connections } = policyFor(data, {
      key,
      provider,
      mx: undefined,
      domain,
    })
    const taken = Math.min(messagesPerMinute, connections * perConnection) * sources * forCampaigns
    perMinute = Math.min(perMinute, taken / share)
  }
  const warming = await sourcesInWarmUp(read, now, config)
  return {
    perHour: perMinute * 60,
    onDay(ahead) {
      // One whose warm-up is over takes what the others may not.
      if (warming.length < sources) return Number.POSITIVE_INFINITY
      return warming.reduce((sum, { rampDay, sent }) => {
        const today = bulkLimit(rampLimit(rampDay + ahead))
        return sum + Math.max(0, ahead === 0 ? today - sent : today)
      }, 0)
    },
  }
}
