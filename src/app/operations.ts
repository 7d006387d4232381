import { keys } from '../accounts/contract.js'
import { permissionOf as oldPermissionOf } from '../accounts/index.js'
import { billing } from '../billing/contract.js'
import { broadcasts } from '../broadcasts/contract.js'
import { contacts } from '../contacts/contract.js'
import type { Contract, Permission } from '../contract/index.js'
import { dmarc } from '../dmarc/contract.js'
import { domains } from '../domains/contract.js'
import { emails } from '../emails/contract.js'
import { itself } from '../openapi/contract.js'
import { stats } from '../stats/contract.js'
import { suppressions } from '../suppression/contract.js'
import { templates } from '../templates/contract.js'
import { topics } from '../topics/contract.js'
import { webhooks } from '../webhooks/contract.js'

const contracts: readonly Pick<Contract, 'operations'>[] = [
  emails,
  contacts,
  topics,
  broadcasts,
  keys,
  suppressions,
  templates,
  webhooks,
  domains,
  dmarc,
  stats,
  billing,
  itself,
]

/** The operations of the API, by their routes. */
export const operations = new Map(
  contracts.flatMap((contract) => contract.operations).map((one) => [one.route, one]),
)

/** What a route asks of a key. */
export const permissionOf = (route: string): Permission =>
  operations.get(route)?.may ?? oldPermissionOf(route)
