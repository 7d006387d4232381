import { integer, setting, type Values } from '../../config/index.js'
import { oneOf } from '../../fields/index.js'

/** What may be limited; every table of the files may have some of them. */
export const limitSettings = {
  connections: integer(10, 1, 1_000),
  messagesPerConnection: integer(100, 1, 10_000),
  messagesPerMinute: integer(6_000, 1, 1_000_000),
  tls: setting('opportunistic', oneOf(['opportunistic', 'required'])),
} as const

/** The limits of a site. */
export type ShapingLimits = Values<typeof limitSettings>
/** The names of all limits. */
export const limitNames = Object.keys(limitSettings) as readonly (keyof ShapingLimits)[]
