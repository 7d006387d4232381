import { endFromThread } from '../app/fault.js'
import { makeFollowContacts, makeVersions } from '../automations/index.js'
import { serveImports } from '../contacts/index.js'

serveImports(endFromThread('import'), (clock) => makeFollowContacts(makeVersions(), clock))
