import { hostname } from 'node:os'
import { flag, text, type Values } from './settings.js'

/** `[node]`: this appliance as one of those over a PostgreSQL. */
export const nodeSettings = {
  name: text('', {
    pattern: /^$|^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/,
    expected: 'a name of small letters, digits, hyphens and dots, such as "mail1", or nothing',
  }),
  join: flag(false),
}

/** The name by which the others know it. */
export const nodeNameOf = ({ name }: Pick<Values<typeof nodeSettings>, 'name'>): string =>
  name === '' ? hostname().toLowerCase() : name
