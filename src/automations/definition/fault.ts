/** What is wrong with a definition, at the step where an editor shows it. */
export interface StepFault {
  /** The step's key; null for what belongs to no step. */
  key: string | null
  /** As the API says it. */
  error: string
  /** Which fault it is, for pages, which say it otherwise. No answer of the API has it (`toldFaults`). */
  is?: FaultPart
}

/** What pages go by. */
export interface FaultPart {
  /** One of `faultCodes`, or of what the checker of rules calls its own; undefined: its place says enough. */
  code?: string | undefined
  /** Where it is in the step's config, or in the definition: `settings`, `exitOn`, 0, … */
  place: readonly string[]
  /** The sentence without its place. */
  says: string
  /** Names that its words have in them. */
  names?: readonly string[]
  most?: number | undefined
  /** How many conditions before this one name the list, segment or form of the event: forms ask for that elsewhere. */
  placesBefore?: number
}

/** What may be wrong, but for what the place says, and for conditions (`ruleFaultCodes`). */
export const faultCodes = [
  ...(['strayLine', 'badName', 'noField', 'takenName', 'headerName', 'header'] as const),
  ...(['brokenSubject', 'percents', 'sameTimes', 'notTransactional'] as const),
  ...(['noList', 'noSegment', 'noForm', 'noEndpoint', 'noTemplate', 'noTopic'] as const),
  ...(['unverified', 'needsVariable', 'noConfirmation', 'bounceHears'] as const),
  ...(['noMailStep', 'noWaitStep', 'notBefore', 'unreached', 'nothingFollows'] as const),
  ...(['noTrigger', 'loop', 'tooLarge'] as const),
] as const
export type StepFaultCode = (typeof faultCodes)[number]

/** A fault of a code, whose place says no more. */
export const coded = (
  key: string | null,
  code: StepFaultCode,
  error: string,
  ...names: readonly string[]
): StepFault => ({ key, error, is: { code, place: [], says: error, names } })

/** Faults as the API tells them. */
export const toldFaults = (faults: readonly StepFault[]): { key: string | null; error: string }[] =>
  faults.map(({ key, error }) => ({ key, error }))
