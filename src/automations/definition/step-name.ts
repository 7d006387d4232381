import { line } from '../../fields/index.js'

/** What people call a step; it may change at any time, which its key may not. */
export const stepName = line(1, 100, 'What your team calls the step')
