/**
 * Segments: saved rules about people, in the language of `rules/`. What must hold: a segment's members are the people
 * who match its rule, within seconds of any change and of time; counters change in the transaction of what they count;
 * a rule that names something deleted matches nobody.
 */
export { segmentAnswer } from './answers.js'
export { audienceIn, audiencePathFault, type NamedAudience, readAudience } from './asked.js'
export { lastMark, segmentsBehind, segmentsFilling } from './behind.js'
export { countNameOf, countPeople, erasedIn, type PeopleCount } from './count.js'
export { loadFacts } from './facts.js'
export {
  engagementFields,
  namedIn,
  ruleLimits,
  SegmentRule,
  segmentContactFields,
  segmentFieldKind,
} from './fields.js'
export { mailedUnknown } from './mailed.js'
export { exportSegment, segmentMembers } from './members.js'
export { type BrokenPart, brokenParts, segmentsThere } from './parts.js'
export {
  changeSegment,
  createSegment,
  deleteSegment,
  listSegments,
  requireSegment,
  type Segment,
  type SegmentUse,
  segmentsAskingFor,
  segmentsOfContact,
  shownSegment,
  type UsesOfSegment,
  usesOfSegment,
} from './segment.js'
export { keepSegments, segmentsDueAt, segmentsWait, stayWithSegments } from './upkeep.js'
export type { FollowSegments, SegmentNews } from './write-verdicts.js'
