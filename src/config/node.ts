import { hostname } from 'node:os'
import { flag, integer, text, type Values } from './settings.js'

const namePattern = /^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/
const expectedName = 'a name of small letters, digits, hyphens and dots, such as "mail1"'

/** `[node]`: this appliance as one of those that share a PostgreSQL. */
export const nodeSettings = {
  name: text('', {
    pattern: new RegExp(`^$|${namePattern.source}`),
    expected: `${expectedName}, or nothing`,
  }),
  join: flag(false),
  weight: integer(1, 1, 100),
  address: text('', {
    pattern: /^$|^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]+\]):\d{1,5}$/,
    expected: 'an IP address of this machine with a port, such as "10.0.0.2:8027", or nothing',
  }),
}

/**
 * The name under which mail is counted that leaves from no address of `outbound.source_addresses`. It belongs to one
 * machine, since the address that the system takes differs from machine to machine.
 */
export const usualSourceOf = (config: Parameters<typeof nameBesideOthers>[0]): string => {
  const name = nameBesideOthers(config)
  return name === undefined ? 'default' : `default@${name}`
}

/** The name by which the others know this node; undefined for an appliance that is alone. */
export const nameBesideOthers = ({
  node,
  store,
}: {
  node: Values<typeof nodeSettings>
  store: { url: string }
}): string | undefined => (node.join && store.url !== '' ? nodeNameOf(node) : undefined)

/** The name of this node where it needs one. */
export const nodeNameOf = ({ name }: Pick<Values<typeof nodeSettings>, 'name'>): string =>
  name === '' ? hostname().toLowerCase() : name

/** Why others cannot know a node by this name; undefined for one that they can. A machine may have any host name. */
export const faultOfNodeName = (name: string): string | undefined =>
  namePattern.test(name)
    ? undefined
    : `A node cannot be called ${JSON.stringify(name)}: set node.name to ${expectedName}`
