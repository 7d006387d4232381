import type { Failure } from 'superstruct'

/**
 * Names a fault of a rule for pages, which have words of their own; the sentence is the API's. Faults that no page can
 * produce, such as a field that no comparison has, have no code.
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

/** What is wrong with a rule or a part of it: the API's sentence, and the code. */
export interface RuleFault {
  message: string
  code?: RuleFaultCode | undefined
  /** The bound that was exceeded. */
  most?: number | undefined
}

/** The fault that the rules' checker gave with a failure: superstruct copies what validators yield into the failure. */
export function ruleFaultOf(failure: Failure): RuleFault {
  const { message, code, most } = failure as Failure & RuleFault
  return { message, code, most }
}
