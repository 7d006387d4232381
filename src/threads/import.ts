import { endFromThread } from '../app/fault.js'
import { serveImports } from '../contacts/index.js'

serveImports(endFromThread('import'))
