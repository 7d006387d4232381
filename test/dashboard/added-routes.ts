import { systemClock } from '../../src/clock/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import type { DashboardDeps } from '../../src/dashboard/index.js'
import { dashboardRoutes } from '../../src/dashboard/routes.js'
import { makePeople } from '../../src/people/index.js'

// What places hand on to parts of theirs, by `...deps`.
const handedOn = [
  'attachments',
  'store',
  'clock',
  'config',
  'plans',
  'renderer',
  'running',
  'mail',
  'operator',
  'contacts',
]

/** Stands for whatever the handlers would use: none is called here. */
const anything: unknown = new Proxy(() => anything, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => '' : anything),
  apply: () => anything,
  ownKeys: () => handedOn,
  getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: anything }),
})

/** All routes of session pages, by adding them to nothing. */
export function addedRoutes() {
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  const known: Partial<DashboardDeps> = {
    clock: systemClock,
    key,
    sandbox: true,
    webhookTargets: [],
    people: makePeople({
      key,
      clock: systemClock,
      asksFactorOfOperators: false,
      store: anything as DashboardDeps['store'],
    }),
  }
  const deps = new Proxy(known, {
    get: (target, name) => target[name as keyof DashboardDeps] ?? anything,
    ownKeys: (target) => [...new Set([...Reflect.ownKeys(target), ...handedOn])],
    getOwnPropertyDescriptor: (target, name) => ({
      enumerable: true,
      configurable: true,
      writable: true,
      value: target[name as keyof DashboardDeps] ?? anything,
    }),
  })
  return dashboardRoutes({ get() {}, post() {}, file() {} }, deps as DashboardDeps)
}
