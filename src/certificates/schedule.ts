import { dayMs, hourMs } from '../clock/index.js'

const minuteMs = 60_000

/** How many orders are begun within an hour, over all names; Let's Encrypt allows an account 100 an hour. */
export const ordersPerHour = 40

/**
 * How many orders a customer may cause within a day for hosts without a certificate: as many as the customer may have
 * hosts, and at least this number, as a host may need several. A customer who keeps changing hosts leaves the rest to
 * others.
 */
export const leastFirstPerDay = 10

/** In [0, 1): `Math.random`, or a seeded function in tests. */
type Random = () => number

/**
 * When to renew a certificate about which the directory says nothing: a third of its life before its end, or half of a
 * short life (Let's Encrypt's advice for six-day certificates). It is a little earlier at random, so that names ordered
 * together are not renewed together.
 */
export function renewalTime(
  { beganAt, endsAt }: { beganAt: number; endsAt: number },
  random: Random,
): number {
  const lifeMs = endsAt - beganAt
  const leftMs = lifeMs < 10 * dayMs ? lifeMs / 2 : lifeMs / 3
  return Math.round(endsAt - leftMs - (random() * lifeMs) / 30)
}

/**
 * How long a name rests after so many failures in a row. Let's Encrypt allows five failures an hour for a name. A
 * directory that asks for a longer rest gets it, up to a week.
 */
export function restMs(failures: number, askedMs: number | undefined, random: Random): number {
  const usual = Math.min(15 * minuteMs * 2 ** Math.min(failures - 1, 10), dayMs)
  return jittered(Math.max(usual, Math.min(askedMs ?? 0, 7 * dayMs)), random)
}

/**
 * How long a directory rests that cannot be reached or cannot serve us: an hour at most, or what it asks for, up to
 * twelve.
 */
export function directoryRestMs(failures: number, askedMs: number | undefined, random: Random) {
  const usual = Math.min(5 * minuteMs * 2 ** Math.min(failures - 1, 10), hourMs)
  return jittered(Math.max(usual, Math.min(askedMs ?? 0, 12 * hourMs)), random)
}

/** How long a name rests whose DNS does not lead here: only the DNS is asked. */
export const elsewhereRestMs = (failures: number, random: Random) =>
  jittered(Math.min(5 * minuteMs * 2 ** Math.min(failures - 1, 10), hourMs), random)

/** When to look again at an order that the directory has not decided. */
export const pendingRestMs = (askedMs: number | undefined) =>
  Math.min(Math.max(askedMs ?? 0, 2 * minuteMs), hourMs)

const jittered = (ms: number, random: Random) => Math.round(ms * (1 + 0.15 * random()))
