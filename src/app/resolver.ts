import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import {
  cachingResolver,
  type Resolver,
  type StaticRecords,
  staticResolver,
  systemResolver,
} from '../dns/index.js'

/** The resolver that the configuration describes: static records first, then the cached DNS. */
export function openResolver(config: Config['dns'], clock: Clock): Resolver {
  const { servers, timeout } = config
  const live = cachingResolver(
    systemResolver({
      clock,
      timeoutMs: timeout,
      ...(servers.length > 0 ? { servers: [...servers] } : {}),
    }),
    clock,
  )
  return staticResolver(config.static as StaticRecords, live)
}
