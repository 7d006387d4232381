import type { OperatorPrincipal } from '../accounts/index.js'
import type { Api } from '../http/index.js'
import { accountRoutes } from './account-routes.js'
import type { OperatorApiDeps } from './deps.js'
import { peopleRoutes } from './people-routes.js'
import { queueRoutes } from './queue-routes.js'
import { siteRoutes } from './site-routes.js'

/** `/v1/operator/…`: what the operator's commands and pages do, for programs. */
export function operatorRoutes(api: Api<OperatorPrincipal>, deps: OperatorApiDeps): void {
  accountRoutes(api, deps)
  peopleRoutes(api, deps)
  queueRoutes(api, deps)
  siteRoutes(api, deps)
}
