import { is } from 'superstruct'
import { line, structOf } from '../../fields/index.js'

/** What an account calls an automation. */
export const automationName = line(1, 200, 'The name of the automation, for yourself')

const Name = structOf(automationName)

export const isAutomationName = (name: string): boolean => is(name, Name)
