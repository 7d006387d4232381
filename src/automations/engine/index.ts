/*
 * Owns what is due: plans it without writing, writes it all or nothing. What must hold: a step is taken once,
 * whatever is killed; what one account's runs are bounded by is asked inside the write.
 */
export { type EngineDeps, makeEngineMemory, nextDueAt, runAutomations, runSome } from './engine.js'
export { openGate } from './gate.js'
export { noteAllBlocked, wakeBlocked } from './wake-blocked.js'
export { pausedReason } from './write-plans.js'
