/**
 * Releases on this machine: their trees, the one in use, and the way from one to another. What must hold: `current` is
 * always a whole tree that can read the database; the old release comes back by itself while the new one
 * has taken and sent nothing; what was broken off anywhere is finished or undone. See README.md.
 */
export { type BrokenUpgrade, findBrokenUpgrade } from './broken-off.js'
export { heldRelease, liftHold, upgradeLock } from './hold.js'
export { type Journal, readJournal, type SwitchStep, steps } from './journal.js'
export { type RunningRelease, speaksAgainst } from './judge.js'
export { commandOf, type Layout, makeLayout, ownName, type Release, readRelease } from './layout.js'
export { isPackaged, makeService, runWell, type Service } from './run.js'
export type { Switched, SwitchProgress } from './switch.js'
export {
  finishBroken,
  type UpgradeDeps,
  type Upgraded,
  type UpgradeOptions,
  type UpgradePlan,
  upgrade,
  whileAlone,
} from './upgrade.js'
export { checkFile, thisMachine } from './verify.js'
