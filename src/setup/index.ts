/**
 * `posthorn setup`: from a machine with Posthorn installed to one that runs, and what its operator has to do
 * elsewhere. What must hold: nothing that a person wrote or made is replaced, except a trial's domain; each step may
 * be done a second time, after a kill at any point; the records that are printed are those that the doctor looks for.
 */
export {
  type AnswerReading,
  readAnswer,
  type SetupAnswers,
  sandboxAnswers,
  unseen,
} from './answers.js'
export { endTrial, refuseWaitingTrial } from './end-trial.js'
export { type First, makeFirst } from './first-account.js'
export { firstDayInWords } from './first-day.js'
export { guessDomain, guessMachine, type MachineFacts, type MachineGuess } from './machine.js'
export { portsOf, preflight } from './preflight.js'
export {
  answersIn,
  type FoundSettings,
  foundSettings,
  settingsDifferences,
  settingsText,
} from './settings-file.js'
export { type StartedService, startService } from './start-service.js'
export {
  findUser,
  hasUnit,
  installUnit,
  makeUser,
  ownUnitFile,
  readMachine,
  type SystemUser,
  serviceName,
  systemConfigDir,
  systemDataDir,
  systemdRuns,
  userCommand,
} from './system.js'
export { leftToDo, type Task } from './tasks.js'
export { type WantedRecord, wantedRecords } from './wanted-records.js'
