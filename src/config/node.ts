import { hostname } from 'node:os'
import { flag, text, type Values } from './settings.js'

/** `[node]`: this appliance as one of those over a PostgreSQL. */
export const nodeSettings = {
  name: text('', {
    pattern: /^$|^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/,
    expected: 'a name of small letters, digits, hyphens and dots, such as "mail1", or nothing',
  }),
  join: flag(false),
  address: text('', {
    pattern: /^$|^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]+\]):\d{1,5}$/,
    expected: 'an IP address of this machine with a port, such as "10.0.0.2:8027", or nothing',
  }),
}

/** The name by which the others know it. */
export const nodeNameOf = ({ name }: Pick<Values<typeof nodeSettings>, 'name'>): string =>
  name === '' ? hostname().toLowerCase() : name
