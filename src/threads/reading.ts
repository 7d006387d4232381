// Parses one hostile mail after another for the inbound thread. It is not started by `runThread`: it opens no
// database, and it is ended and restarted when a mail takes too long.
import { serveReadings } from '../inbound/reading.js'

serveReadings()
