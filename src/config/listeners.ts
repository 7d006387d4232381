import { OperatorError } from '../errors/index.js'

/** A listener that the settings turn on. */
export interface Listener {
  /** Its name in the settings. */
  name: string
  host: string
  port: number
}

/** Throws an `OperatorError` for two that want the same port of an address: the second could not start. */
export function checkPorts(listeners: readonly Listener[]): void {
  for (const [index, one] of listeners.entries()) {
    const other = listeners.slice(index + 1).find((two) => clash(one, two))
    if (other === undefined) continue
    const where =
      one.host === other.host
        ? `are both ${one.host} port ${one.port}`
        : `(${one.host} and ${other.host}) want the same port ${one.port}, and one address includes the other`
    throw new OperatorError(`${one.name} and ${other.name} ${where}: one needs another port`)
  }
}

// Port 0 means a free port, which never clashes.
const clash = (one: Listener, two: Listener) =>
  one.port !== 0 && one.port === two.port && overlap(addressOf(one), addressOf(two))

const overlap = (one: string, two: string) => one === two || isAny(one, two) || isAny(two, one)

/** `::` takes IPv4 as well, which is Linux's default. */
const isAny = (one: string, two: string) =>
  one === '::' || (one === '0.0.0.0' && !two.includes(':'))

const addressOf = ({ host }: Listener) => (host === 'localhost' ? '127.0.0.1' : host)
