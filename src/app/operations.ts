import type { Permission } from '../contract/index.js'
import { contracts, operatorContracts } from '../openapi/contract.js'

/** The operations of the API, by their routes. */
export const operations = new Map(
  [...contracts, ...operatorContracts]
    .flat()
    .flatMap((contract) => contract.operations.map((one) => [one.route, one])),
)

/** What a route asks of a key: a full key, where the route says nothing. */
export const permissionOf = (route: string): Permission => operations.get(route)?.may ?? 'full'
