import type { Contract } from '../contract/index.js'
import { accountOperations } from './contract-accounts.js'
import { peopleOperations } from './contract-people.js'
import { queueOperations, queueShapes } from './contract-queue.js'
import { siteOperations } from './contract-sites.js'

/** The operator's API; it exists only where `http.private.operator_api` is on. */
export const operatorApi: Contract = {
  tag: {
    name: 'Operator',
    description:
      "For the operator's own programs: accounts, people, plans, pauses, what is held, the queue. Its keys (`pho_…`) are made by `posthorn operator-key create` alone; an account's key opens none of it, and they open nothing of an account's.",
  },
  operations: [...accountOperations, ...peopleOperations, ...queueOperations, ...siteOperations],
  shapes: queueShapes,
}
