/**
 * Long work of an account's that somebody has started: how far it is and what came of it. What must hold: progress is
 * written in the transaction of the work itself, so that after a kill it goes on where it was; who works asks in each
 * slice whether it is still wanted, by the state.
 */

export { makeStepRuns, type Step, type StepRuns } from './step-runs.js'
export {
  type AccountTask,
  changeState,
  createTask,
  findTask,
  listTasks,
  liveTasks,
  removeTask,
  type TaskState,
  tasksBeyond,
  tasksEndedBy,
} from './task.js'
