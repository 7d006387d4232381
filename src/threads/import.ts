import { endFromThread } from '../app/fault.js'
import { makeFollowContacts, makeLiveLimit, makeVersions } from '../automations/index.js'
import { serveImports } from '../contacts/index.js'

// Runs CSV imports of contacts. A contact that is added may start automations: the function that
// finds out which is made here, because `contacts` may not import `automations`.
await serveImports(endFromThread('import'), (clock, { automations }) =>
  makeFollowContacts(makeVersions(), clock, makeLiveLimit(automations.maxLiveRuns)),
)
