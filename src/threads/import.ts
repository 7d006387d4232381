import { serveImports } from '../contacts/index.js'

serveImports()
