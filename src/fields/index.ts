/**
 * A field says in one value what is expected and how it is described. It checks bodies and queries of the API, and
 * the OpenAPI document is made from it. superstruct checks underneath.
 */

export {
  aLine,
  anAddress,
  type Expectation,
  type Misfit,
  someLines,
  suchAs,
} from './expectation.js'
export {
  atLeastOne,
  type Field,
  type Fields,
  type FieldValues,
  field,
  maybe,
  noOthers,
  saying,
  schemasOf,
  structOf,
  structsOf,
  type TypeOf,
  table,
} from './field.js'
export { check, convert, type Issue, type PartedIssue, ShapeError } from './issues.js'
export {
  bodyId,
  colour,
  described,
  flag,
  line,
  list,
  listOf,
  oneOf,
  orWord,
  pathId,
  queryFlag,
  queryWhole,
  textThat,
  timeOr,
  turnsDirection,
  uuidForm,
  uuidGiven,
  whole,
  words,
} from './kinds.js'
export { knownBy, optional, rule } from './rule.js'
export {
  alternative,
  closed,
  count,
  openObject,
  orNull,
  ownData,
  type Schema,
  shaped,
  text,
  time,
  uuid,
} from './schema.js'
export { isSound } from './sound.js'
export { type VariantOf, variants } from './variants.js'
export { hoursOfDays, timeOfDay, weekdays, windowEnd, zoneName } from './wall-time.js'
export {
  expectedOf,
  parsed,
  type Reading,
  reading,
  share,
  span,
  spanOrForever,
  spans,
  textLike,
  textsWritten,
  trueOrFalse,
  writtenSpan,
} from './written.js'
