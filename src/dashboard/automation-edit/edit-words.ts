import {
  type Automation,
  isAutomationName,
  isOutlineStep,
  type Outline,
  type StepDefinition,
  type StepFault,
  stepsInOrder,
} from '../../automations/index.js'
import { type Faults, noFaults } from '../shell/faults.js'
import { inQuotes } from '../shell/names.js'
import { itemAt } from './deeds.js'
import { faultWords } from './fault-words.js'

/** Where a goal may lead, by the steps' titles. */
export const targetsOf = (steps: readonly StepDefinition[], called: (key: string) => string) =>
  steps
    .filter(({ type }) => type !== 'trigger')
    .map((step) => ({ value: step.key, label: called(step.key) }))

/** What is wrong with the name. */
export function nameFaults(name: string): Faults {
  if (isAutomationName(name)) return noFaults
  return { ...noFaults, fields: { name: 'A name has 1 to 200 characters, in one line.' } }
}

/** What is wrong, or doubtful, by the keys of steps. */
export function byStep(
  found: readonly StepFault[],
  called: (key: string) => string,
): Map<string, string[]> {
  const faults = new Map<string, string[]>()
  for (const one of found) {
    if (one.key === null) continue
    const words = faultWords(one, called)
    const before = faults.get(one.key) ?? []
    if (!before.includes(words)) faults.set(one.key, [...before, words])
  }
  return faults
}

/** Where a step stands that a button has just moved, for people who do not see it; empty for any other button. */
export function movedWords(
  pressed: string,
  { outline, open, called }: { outline: Outline; open: string; called: (key: string) => string },
): string {
  const item = /^(up|down|move):/.test(pressed) ? itemAt(outline, open) : undefined
  if (!isOutlineStep(item)) return ''
  const keys = stepsInOrder(outline).map(({ key }) => key)
  const { key } = item.step
  return `${inQuotes(called(key))} is now step ${keys.indexOf(key) + 1} of ${keys.length}`
}

/** The state of the automation, and what saving does. */
export function stateWords(
  { status }: Automation,
  isDraft: boolean,
  isValid: boolean,
): { says: string; isDraft: boolean } {
  if (isDraft) {
    const says =
      status === 'enabled'
        ? 'This is a draft. The automation goes on as it was until you put the draft in force.'
        : isValid
          ? 'This is a draft, which is kept. Save it, or throw it away below.'
          : 'This is a draft, which is kept. Something in it is not right yet, so it cannot be turned on.'
    return { says, isDraft }
  }
  return status === 'enabled'
    ? {
        says: 'It is on. What you save is kept as a draft, and people go on as before until you put it in force.',
        isDraft,
      }
    : { says: 'It is off: nobody enters it before you turn it on.', isDraft }
}
