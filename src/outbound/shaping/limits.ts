import { integer, setting, type Values } from '../../config/index.js'
import { oneOf } from '../../fields/index.js'

/** What may be limited; every table of the files may have some of them. */
export const limitSettings = {
  connections: integer(10, 1, 1_000),
  messagesPerConnection: integer(100, 1, 10_000),
  messagesPerMinute: integer(6_000, 1, 1_000_000),
  tls: setting('opportunistic', oneOf(['opportunistic', 'required'])),
  brake: setting('on', oneOf(['on', 'off'])),
  brakeDeferrals: integer(200, 1, 1_000),
  brakeBlocks: integer(50, 1, 1_000),
  brakeComplaints: integer(3, 1, 1_000),
  brakeTimes: integer(3, 1, 100),
  brakeWaitMinutes: integer(30, 1, 1_440),
  brakeStepMinutes: integer(15, 1, 1_440),
} as const

/** The limits of a site. */
export type ShapingLimits = Values<typeof limitSettings>
/** For servers of our own, which have no opinion of us. */
export const withoutBrake = {
  brake: 'off',
  brakeDeferrals: 1_000,
  brakeBlocks: 1_000,
  brakeComplaints: 1_000,
  brakeTimes: 1,
  brakeWaitMinutes: 1,
  brakeStepMinutes: 1,
} as const satisfies Partial<ShapingLimits>

/** The names of all limits. */
export const limitNames = Object.keys(limitSettings) as readonly (keyof ShapingLimits)[]

/** All limits from one place. */
export const allFrom = (place: string) =>
  Object.fromEntries(limitNames.map((name) => [name, place])) as Record<keyof ShapingLimits, string>
