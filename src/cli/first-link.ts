import { isAnybodyThere, makeSetupLink } from '../people/index.js'
import { withStore } from './database.js'
import { say, styled } from './output.js'
import { type CommandPlace, settingsOf } from './place.js'
import { urlsOf } from './sandbox-set-up.js'

/**
 * The link that makes the first operator, a new link each time; undefined if somebody can log in already, or during an
 * upgrade.
 */
export async function firstLink(place: CommandPlace): Promise<string | undefined> {
  // 'posthorn upgrade' migrates by `init`, and may still restore the previous database.
  const { heldRelease } = await import('../release/index.js')
  if (heldRelease(place.dataDir) !== undefined) return undefined
  const path = await withStore(place, ({ store, clock }) =>
    store.write(async (tx) =>
      // In the same transaction: if a person was made meanwhile, no link for a second operator is
      // made.
      (await isAnybodyThere(tx)) ? undefined : await makeSetupLink(tx, clock.now()),
    ),
  )
  return path === undefined ? undefined : linkAt(place, path)
}

/** Where the private listener is reached on this machine. */
export const linkAt = (place: CommandPlace, path: string): string =>
  `${urlsOf(settingsOf(place).http).privateUrl}${path}`

/**
 * The first person opens the link once the appliance runs; `host` is this machine's name for others.
 */
export function sayFirstLink(url: string | undefined, host: string): void {
  if (url === undefined) return
  say('\nOnce it runs, open this to become its first operator (good once, for a day):')
  say(`  ${styled('bold', url)}`)
  const tunnel = tunnelTo(url, host)
  if (tunnel !== undefined) say(`From another machine, after this command there:\n  ${tunnel}`)
}

/**
 * The command for reaching a link from another machine when only this one listens; undefined for other links.
 */
export function tunnelTo(url: string, host: string): string | undefined {
  const { hostname, port } = new URL(url)
  if (!/^(127\.|localhost$|\[::1\]$)/.test(hostname)) return undefined
  return `ssh -L ${port || 80}:${hostname}:${port || 80} ${host.includes('.') ? host : 'THIS-MACHINE'}`
}
