import { readKeys, type Settings, setting, type Values } from '../../config/index.js'
import { textLike, textsWritten, trueOrFalse } from '../../fields/index.js'
import { type TomlPlace, tableAt } from '../../toml/index.js'
import { readAutomations, type ShapingAutomation } from './automation.js'
import { limitSettings, type ShapingLimits } from './limits.js'

/** One table of one file. The tables below it decide what it leaves out. */
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
/** Whether the text may be a provider's name. */
export const isProviderName = (value: string) => name.test(value)
/** A-labels in lower case, as the DNS answers them. */
export const isHostName = (value: string) =>
  /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(
    value,
  )

// The keys of a provider's table; the other tables have only limits.
const providerSettings = {
  ...limitSettings,
  mx: setting(
    [],
    textsWritten('a list of host names in lower case, such as ["google.com"]', isHostName),
  ),
  like: setting('', textLike(name, 'the name of a provider')),
  perHost: setting(false, trueOrFalse),
} as const

/** Reads one table; names as problems of its file every key that is wrong, missing or unknown. */
export function readTable(
  given: unknown,
  { place, isProvider }: { place: TomlPlace; isProvider: boolean },
): ShapingTable {
  const from = `${place.file.file} ${place.says}`
  const { automation = [], ...fields } = tableAt(place, given)
  const settings: Settings = isProvider ? providerSettings : limitSettings
  const read: Partial<Values<typeof providerSettings>> = readKeys(settings, fields, place, [
    'automation',
  ])
  const { mx, like, perHost, ...limits } = read
  const automations = readAutomations(automation, place, from)
  return { from, limits, mx, like, perHost, automations }
}
