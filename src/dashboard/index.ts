/**
 * Pages for people on the private listener; `routes.ts` adds them. A page's EJS stands beside its `.ts`; `static/` has
 * the style sheet, the icon and two small scripts, `browser/` the source of those that the build makes.
 * Must hold: whatever a mail contains is escaped or shut into a frame without scripts, network or
 * origin; every page is bounded in size and works without script.
 */
export type { DashboardDeps } from './deps.js'
export type { EmailPageDeps } from './emails/deps.js'
export type { OperatorPageDeps, RunningAppliance } from './operator/deps.js'
export { type KeptThing, makeNodeMemory, type NodeMemory } from './shell/node-memory.js'
