/**
 * Pages for people on the private listener; `routes.ts` adds them, `views/` holds their EJS and
 * `static/` the one style sheet and the one script.
 * Must hold: whatever a mail contains is escaped or shut into a frame without scripts, network or
 * origin; every page is bounded in size and works without script.
 */
export type { DashboardDeps } from './deps.js'
export type { EmailPageDeps } from './emails/deps.js'
export type { OperatorPageDeps, RunningAppliance } from './operator/deps.js'
