import { serveRenders } from '../templates/index.js'

await serveRenders()
