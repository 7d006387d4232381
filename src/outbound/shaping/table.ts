import { flag, list, text, type Values } from '../../config/index.js'
import { readAutomations, type ShapingAutomation } from './automation.js'
import { type Problems, readFields, type Settings, tableOf } from './fields.js'
import { limitSettings, type ShapingLimits } from './limits.js'

/** One table of one file. What it leaves out is up to the tables below it. */
export interface ShapingTable {
  /** `/etc/posthorn/shaping.toml [providers.google]` */
  readonly from: string
  readonly limits: Partial<ShapingLimits>
  readonly mx: readonly string[] | undefined
  readonly like: string | undefined
  readonly perHost: boolean | undefined
  readonly automations: readonly ShapingAutomation[]
}

// The form of a provider's name.
const name = /^[a-z0-9][a-z0-9-]{0,59}$/
/** Whether it may be a provider's name. */
export const isProviderName = (value: string) => name.test(value)
/** A-label, lower case: as the DNS answers it. */
export const isHostName = (value: string) =>
  /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(
    value,
  )

// The keys of a provider's table; the other tables have limits alone.
const providerSettings = {
  ...limitSettings,
  mx: list([], {
    each: isHostName,
    expected: 'a list of host names in lower case, such as ["google.com"]',
  }),
  like: text('', { pattern: name, expected: 'the name of a provider' }),
  perHost: flag(false),
} as const

/** Reads one table; names in `problems` every key that is wrong, missing or unknown. */
export function readTable(
  given: unknown,
  where: { file: string; table: string; provider: boolean },
  problems: Problems,
): ShapingTable {
  const place = `[${where.table}]`
  const from = `${where.file} ${place}`
  const { automation = [], ...fields } = tableOf(given, place, problems)
  const settings: Settings = where.provider ? providerSettings : limitSettings
  const { mx, like, perHost, ...limits } = readFields(settings, fields, place, problems, [
    'automation',
  ]) as Partial<Values<typeof providerSettings>>
  const automations = readAutomations(automation, where.table, from, problems)
  return { from, limits, mx, like, perHost, automations }
}
