// Not by the door: it is started anew for each hostile mail, and opens no database.
import { serveReadings } from '../inbound/reading.js'

serveReadings()
