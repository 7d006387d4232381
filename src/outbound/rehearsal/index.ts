/**
 * A campaign in a clock of its own: the sites, the warm-up and the brakes of the real thing, against receivers that answer as
 * these sites usually do. What must hold: the decisions are made by `shaping/` and `brakes/` and never by a copy of them,
 * nothing is written, and it costs no more for a million recipients than for ten thousand.
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
