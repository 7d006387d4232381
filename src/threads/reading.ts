import { serveReadings } from '../inbound/index.js'

serveReadings()
