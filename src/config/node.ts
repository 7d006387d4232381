import { hostname } from 'node:os'
import { flag, integer, text, type Values } from './settings.js'

/** `[node]`: this appliance as one of those over a PostgreSQL. */
export const nodeSettings = {
  name: text('', {
    pattern: /^$|^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/,
    expected: 'a name of small letters, digits, hyphens and dots, such as "mail1", or nothing',
  }),
  join: flag(false),
  weight: integer(1, 1, 100),
  address: text('', {
    pattern: /^$|^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]+\]):\d{1,5}$/,
    expected: 'an IP address of this machine with a port, such as "10.0.0.2:8027", or nothing',
  }),
}

/**
 * What mail counts by that leaves from no address of its own (`outbound.source_addresses`): one machine's, as what the
 * system takes is another address on each.
 */
export const usualSourceOf = (config: Parameters<typeof nameBesideOthers>[0]): string => {
  const name = nameBesideOthers(config)
  return name === undefined ? 'default' : `default@${name}`
}

/** The name by which the others know it; undefined of an appliance that is alone. */
export const nameBesideOthers = ({
  node,
  store,
}: {
  node: Values<typeof nodeSettings>
  store: { url: string }
}): string | undefined => (node.join && store.url !== '' ? nodeNameOf(node) : undefined)

/** The name by which it is known where it has to have one. */
export const nodeNameOf = ({ name }: Pick<Values<typeof nodeSettings>, 'name'>): string =>
  name === '' ? hostname().toLowerCase() : name
