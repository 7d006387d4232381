import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import {
  cachingResolver,
  type Resolver,
  type StaticRecords,
  staticResolver,
  systemResolver,
  validatingResolver,
} from '../dns/index.js'

/** The resolver that the configuration describes: static records first, then the cached DNS. */
export function openResolver(config: Config['dns'], clock: Clock): Resolver {
  const { servers, timeout: timeoutMs, validatingResolver: server } = config
  const asked = systemResolver({
    clock,
    timeoutMs,
    ...(servers.length > 0 ? { servers: [...servers] } : {}),
  })
  const validated = server === '' ? undefined : validatingResolver({ clock, server, timeoutMs })
  const live = cachingResolver({ ...asked, ...(validated && { validated }) }, clock)
  return staticResolver(config.static as StaticRecords, live)
}

/** A resolver that is opened when it is needed, by the settings as they are. */
export const resolverOf = (config: Config, clock: Clock) => (): Resolver =>
  openResolver(config.dns, clock)
