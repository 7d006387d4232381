import type { Failure } from 'superstruct'

/**
 * Which fault of a rule it is, for pages, which have words of their own: the sentence is the API's. What pages do not
 * write, such as a field that is none of a comparison's, has no code.
 */
export const ruleFaultCodes = [
  'field',
  'operator',
  'noValue',
  'longText',
  'truth',
  'time',
  'date',
  'number',
  'text',
  'wholeNumber',
  'aNumber',
  'aDate',
  'numberOrDate',
  'duration',
  'noRules',
  'tooDeep',
  'tooMany',
  'tooLong',
] as const
export type RuleFaultCode = (typeof ruleFaultCodes)[number]

/** What is wrong with a rule or a part of it: as the API says it, and which it is. */
export interface RuleFault {
  message: string
  code?: RuleFaultCode | undefined
  /** The bound that was passed. */
  most?: number | undefined
}

/** What the checker of rules has said of a failure. superstruct takes over what its validators yield. */
export function ruleFaultOf(failure: Failure): RuleFault {
  const { message, code, most } = failure as Failure & RuleFault
  return { message, code, most }
}
