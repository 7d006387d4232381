import { endFromThread } from '../app/fault.js'
import { makeFollowContacts, makeLiveLimit, makeVersions } from '../automations/index.js'
import { serveImports } from '../contacts/index.js'

// Runs CSV imports of contacts. A new contact may start automations. The function that finds them is made here,
// because `contacts` may not import `automations`.
await serveImports(endFromThread('import'), (clock, { automations }) =>
  makeFollowContacts(makeVersions(), clock, makeLiveLimit(automations.maxLiveRuns)),
)
