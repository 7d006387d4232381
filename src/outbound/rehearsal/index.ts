/**
 * Lets a campaign leave in simulated time: with the real sites, warm-up and brakes, against receivers that answer as
 * these sites usually do. What must hold: `shaping/` and `brakes/` make the decisions, and never a copy of them;
 * nothing is written; a million recipients cost no more than ten thousand.
 */
export type {
  Gate,
  RehearsalPlan,
  Rehearsed,
  RehearsedSite,
  RehearsedSource,
  SiteCourse,
} from './course.js'
export { runRehearsal } from './run.js'
