import { endFromThread } from '../app/fault.js'
import { makeFollowContacts, makeLiveLimit, makeVersions } from '../automations/index.js'
import { serveImports } from '../contacts/index.js'

serveImports(endFromThread('import'), (clock, { automations }) =>
  makeFollowContacts(makeVersions(), clock, makeLiveLimit(automations.maxLiveRuns)),
)
