/*
 * Owns what is due: plans it without writing, writes it all or nothing. What must hold: a step is taken once, whatever
 * is killed; the write itself asks for the bounds of one account's runs.
 */
export { type EngineDeps, makeEngineMemory, nextDueAt, runAutomations, runSome } from './engine.js'
export { openGate } from './gate.js'
export { noteAllBlocked, wakeBlocked } from './wake-blocked.js'
export { pausedReason } from './write-plans.js'
