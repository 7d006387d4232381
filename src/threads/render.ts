import { serveRenders } from '../templates/index.js'

// Renders templates. A template that does not end is stopped together with the thread, and nothing else is lost.
await serveRenders()
