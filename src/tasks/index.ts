/**
 * Long work for an account that somebody has started: its progress and its result. What must hold: progress is
 * written in the transaction of the work itself, so that after a kill the work goes on where it was; each slice of
 * the work checks by the state whether it is still wanted.
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
