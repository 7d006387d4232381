// Reads hostile mail of accounts for the inbound thread. It is not started by `runThread`: it opens no database, and
// it is ended and restarted when a mail takes too long.
import { serveReceived } from '../receiving/reading.js'

serveReceived()
